"""Text, YAML, JSON and SQLite from other programs; no input breaks them."""
