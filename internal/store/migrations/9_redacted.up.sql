DROP TABLE asked;
CREATE TABLE asked (
	plan    TEXT PRIMARY KEY,
	content TEXT NOT NULL -- without secrets, which earlier versions had there
) WITHOUT ROWID;
-- What was read before is read again, without them.
DELETE FROM data;
DELETE FROM sizes;
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
