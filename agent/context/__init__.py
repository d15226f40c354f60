"""What a model sees: the fixed part, message headers, what changed on disk, and how much fits."""
