"""Flush and compaction: what lasts is written down, then the older part of a conversation becomes a summary."""
