-- In which state a series was examined for changes, and had none but the published ones.
CREATE TABLE examined (
	plan    TEXT NOT NULL,
	machine TEXT NOT NULL,
	metric  TEXT NOT NULL,
	state   TEXT NOT NULL, -- a digest
	PRIMARY KEY (plan, machine, metric)
) WITHOUT ROWID;
