"""Memory search: one index per scope, made from its files, and the rankings that read it."""
