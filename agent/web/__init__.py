"""The web: pages of public addresses, and search."""
