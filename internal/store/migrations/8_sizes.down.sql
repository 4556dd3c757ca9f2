DROP TABLE sizes;
DROP TABLE folders;
DROP TABLE data;
DROP TABLE asked;
