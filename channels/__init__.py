"""Chat platforms. A channel turns a platform into messages and messages into a platform; it imports nothing of ours."""
