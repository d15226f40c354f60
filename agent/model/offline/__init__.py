"""The embedded assistant that works without an account or a network."""
