"""The assistant that works without an account or a network."""
