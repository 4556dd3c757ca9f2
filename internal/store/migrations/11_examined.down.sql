DROP TABLE examined;
