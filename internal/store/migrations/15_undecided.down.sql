-- Likewise.
DELETE FROM data;
DELETE FROM sizes;
DELETE FROM measures;
DELETE FROM fleets;
DELETE FROM partials;
DELETE FROM results;
DELETE FROM files WHERE path LIKE 'results/%.json';
