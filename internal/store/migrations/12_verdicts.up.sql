-- The verdict of a result is that of the run, no longer the generator's on itself: what was read
-- before is read again.
DELETE FROM data;
DELETE FROM sizes;
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
ALTER TABLE results RENAME COLUMN verdict TO run_verdict;
