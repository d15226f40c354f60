"""One turn of a session, step by step: what goes to the model, what its tool calls do, and how it ends."""
