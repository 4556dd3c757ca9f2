DROP INDEX measures_name;
