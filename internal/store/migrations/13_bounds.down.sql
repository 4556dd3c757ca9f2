DROP INDEX measures_name;
ALTER TABLE measures DROP COLUMN higher;
CREATE INDEX measures_name ON measures (name, result, value);
