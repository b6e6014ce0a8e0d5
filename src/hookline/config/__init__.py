"""Files to hooks: find, read, parse, put in order. Loading never raises on a bad file."""
