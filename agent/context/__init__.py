"""What a model is shown: the fixed part, the header of a message, what changed on disk, how much fits."""
