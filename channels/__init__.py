"""Chat platforms. A channel translates between a platform and our messages."""
