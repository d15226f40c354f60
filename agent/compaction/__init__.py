"""Flush and compaction: what lasts is written down, then the older part becomes a summary."""
