DROP TABLE tags;
DROP TABLE notes;
DELETE FROM files WHERE path LIKE '%.note';
