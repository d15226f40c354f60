"""The one SQLite file for operations. SQL is in this package and nowhere else.

`database` runs it; the other modules are functions on a connection, so that steps of different parts can share a
transaction: a message is finished in the commit that writes its reply.
"""
