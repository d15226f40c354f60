"""The agent: one turn of one session, from what a person wrote to what is answered. It imports nothing of ours."""
