"""The one SQLite file for operations. SQL lives in this package and nowhere else.

`database` runs it; the other modules are functions on a connection, so that steps of different rooms can stand in one
transaction: a message is finished in the very commit that writes its reply down.
"""
