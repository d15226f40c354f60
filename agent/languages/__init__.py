"""Natural language: search terms, names of days, and requests to remember."""
