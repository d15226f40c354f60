"""What people bring from other assistants and folders, as files of their memory."""
