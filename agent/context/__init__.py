"""What a model sees: the fixed part, the header of a message, what changed on disk, and how much fits."""
