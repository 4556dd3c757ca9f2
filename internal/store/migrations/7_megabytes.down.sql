DROP TABLE measures;
CREATE TABLE measures (
	result TEXT NOT NULL,
	name   TEXT NOT NULL,
	value  REAL NOT NULL,
	PRIMARY KEY (result, name)
) WITHOUT ROWID;
DELETE FROM partials;
DELETE FROM fleets;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
