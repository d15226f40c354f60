"""What Daybook does by itself: the journal, summaries, the heartbeat, memory checks, housekeeping."""
