DROP TABLE measures;
DROP TABLE results;
DROP TABLE files;
