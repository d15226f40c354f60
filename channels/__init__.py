"""Chat platforms. A channel translates between one platform and our messages."""
