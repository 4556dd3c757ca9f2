DROP TABLE fleets;
