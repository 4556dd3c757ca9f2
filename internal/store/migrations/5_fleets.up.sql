CREATE TABLE fleets (
	result TEXT PRIMARY KEY,
	agents TEXT NOT NULL -- names, with commas between
) WITHOUT ROWID;
-- What was read before is read again, to find those of fleets.
DELETE FROM measures;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
