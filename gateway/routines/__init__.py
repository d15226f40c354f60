"""What Daybook does on its own: the journal, daily summaries, the heartbeat, memory checks, housekeeping."""
