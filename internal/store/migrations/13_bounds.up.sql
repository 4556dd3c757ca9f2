-- Which values are only known to be higher: what was read before is read again.
DELETE FROM data;
DELETE FROM sizes;
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
ALTER TABLE measures ADD COLUMN higher INTEGER NOT NULL DEFAULT 0; -- 1: only known to be higher
DROP INDEX measures_name;
CREATE INDEX measures_name ON measures (name, result, value, higher);
