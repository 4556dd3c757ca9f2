-- The index. Its version is the checksum of this file: if what is read from results, notes, experiments
-- or changes becomes another, say so here, and the index is made anew.
--
-- Last: an undecided objective makes a run "undecided"; means and numbers in flight may be lower bounds.

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
	run_verdict TEXT NOT NULL,
	generator   TEXT NOT NULL,    -- what its self-check found
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
	higher INTEGER NOT NULL DEFAULT 0, -- 1: only known to be higher
	PRIMARY KEY (result, name)
) WITHOUT ROWID;
-- Lists want few of the measures that each result has.
CREATE INDEX measures_name ON measures (name, result, value, higher);

CREATE TABLE notes (
	result TEXT PRIMARY KEY,
	text   TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tags (
	tag    TEXT NOT NULL,
	result TEXT NOT NULL,
	PRIMARY KEY (tag, result)
) WITHOUT ROWID;

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

CREATE TABLE changes (
	id     TEXT PRIMARY KEY,
	metric TEXT NOT NULL,
	record TEXT NOT NULL -- JSON, as it was published
) WITHOUT ROWID;

CREATE TABLE fleets (
	result TEXT PRIMARY KEY,
	agents TEXT NOT NULL -- names, with commas between
) WITHOUT ROWID;

CREATE TABLE partials (
	result TEXT PRIMARY KEY,
	why    TEXT NOT NULL -- why it is of less than what was planned
) WITHOUT ROWID;

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

-- What a fingerprint of results is of: JSON, without secrets.
CREATE TABLE asked (
	plan    TEXT PRIMARY KEY,
	content TEXT NOT NULL
) WITHOUT ROWID;

-- In which state a series was examined for changes, and had none but the published ones.
CREATE TABLE examined (
	plan    TEXT NOT NULL,
	machine TEXT NOT NULL,
	metric  TEXT NOT NULL,
	state   TEXT NOT NULL, -- a digest
	PRIMARY KEY (plan, machine, metric)
) WITHOUT ROWID;
