"""Text, YAML, JSON and SQLite from other programs, read and written so that no input breaks them."""
