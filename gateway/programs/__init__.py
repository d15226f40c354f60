"""Programs that people approve: where they run, what they may use, and how their end is told."""
