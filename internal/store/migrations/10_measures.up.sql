-- Lists want few of the measures that each result has.
CREATE INDEX measures_name ON measures (name, result, value);
