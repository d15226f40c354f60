"""The agent: one turn of one session. It imports nothing of ours."""
