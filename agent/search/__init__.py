"""Search in memory: an index for each scope, made of its files, and the rankings that read it."""
