"""Text, YAML, JSON and SQLite as other programs leave them, read and written so that no input breaks them."""
