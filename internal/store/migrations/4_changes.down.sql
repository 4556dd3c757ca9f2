DROP TABLE changes;
DELETE FROM files WHERE path LIKE 'changes/%';
