DROP TABLE asked;
CREATE TABLE asked (
	plan    TEXT PRIMARY KEY,
	content TEXT NOT NULL
) WITHOUT ROWID;
DELETE FROM files WHERE path LIKE 'results/%.json';
