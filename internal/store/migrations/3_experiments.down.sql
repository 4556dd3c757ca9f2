DROP TABLE experiments;
DELETE FROM files WHERE path LIKE 'experiments/%';
