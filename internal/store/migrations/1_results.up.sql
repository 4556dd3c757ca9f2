-- path is relative to the store's folder; modified is in ns, 0 if the file was still so new
-- that it could change within the clock's resolution.
CREATE TABLE files (
	path     TEXT PRIMARY KEY,
	modified INTEGER NOT NULL,
	size     INTEGER NOT NULL,
	problem  TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE results (
	id          TEXT PRIMARY KEY,
	started     INTEGER NOT NULL, -- ns since 1970
	url         TEXT NOT NULL,
	model       TEXT NOT NULL,
	connections INTEGER NOT NULL,
	offered     REAL,             -- requests a second, of an open loop
	verdict     TEXT NOT NULL,
	plan        TEXT NOT NULL,    -- fingerprints
	machine     TEXT NOT NULL,
	host        TEXT NOT NULL,    -- JSON
	dyno        TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX results_started ON results (started);
CREATE INDEX results_series ON results (plan, machine, started);

CREATE TABLE measures (
	result TEXT NOT NULL,
	name   TEXT NOT NULL,
	value  REAL NOT NULL,
	PRIMARY KEY (result, name)
) WITHOUT ROWID;
