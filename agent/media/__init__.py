"""What comes with a message besides its text: told apart by its bytes, kept on disk, read into text or a picture."""
