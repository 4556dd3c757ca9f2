DROP TABLE partials;
