-- What a result's own files have, without its data; and what an experiment's folder has.
CREATE TABLE sizes (
	result TEXT PRIMARY KEY,
	bytes  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE folders (
	experiment TEXT PRIMARY KEY,
	bytes      INTEGER NOT NULL
) WITHOUT ROWID;

-- The requests that results refer to.
CREATE TABLE data (
	result TEXT PRIMARY KEY,
	sha256 TEXT NOT NULL,
	bytes  INTEGER NOT NULL
) WITHOUT ROWID;

-- What a fingerprint of results is of: JSON.
CREATE TABLE asked (
	plan    TEXT PRIMARY KEY,
	content TEXT NOT NULL
) WITHOUT ROWID;
-- What was read before is read again, to find those.
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM experiments;
DELETE FROM files WHERE path LIKE 'results/%.json' OR path LIKE 'experiments/%';
