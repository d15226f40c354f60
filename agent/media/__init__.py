"""Attachments of messages: recognised by their bytes, kept on disk, read."""
