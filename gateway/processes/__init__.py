"""Programs as children: their ends, and those of all that they start."""
