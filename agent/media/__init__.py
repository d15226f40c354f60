"""What comes with a message: told apart by its bytes, kept on disk, read."""
