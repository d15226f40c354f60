"""Backups of a home: one archive, checked by reading it back, and what restores it."""
