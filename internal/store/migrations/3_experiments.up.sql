CREATE TABLE experiments (
	id        TEXT PRIMARY KEY, -- name of its folder
	name      TEXT NOT NULL,
	started   INTEGER NOT NULL,
	state     TEXT NOT NULL,
	quick     INTEGER NOT NULL,
	trials    INTEGER NOT NULL,
	different INTEGER NOT NULL, -- comparisons with that verdict
	compared  INTEGER NOT NULL,
	gate      TEXT NOT NULL,    -- "" without one
	machine   TEXT NOT NULL,
	dyno      TEXT NOT NULL
) WITHOUT ROWID;
