CREATE TABLE changes (
	id     TEXT PRIMARY KEY,
	metric TEXT NOT NULL,
	record TEXT NOT NULL -- JSON, as it was published
) WITHOUT ROWID;
