"""One turn of a session, step by step."""
