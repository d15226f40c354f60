"""The one SQLite file for operations; all SQL is here. `database` runs it, the other modules are functions on a
connection, so that several steps can share a transaction."""
