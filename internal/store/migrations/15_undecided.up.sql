-- A run with an undecided objective is "undecided", means and numbers in flight may be lower bounds: what was
-- read before is read again.
DELETE FROM data;
DELETE FROM sizes;
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
