"""What Daybook costs and what it survives, measured against the strict fakes."""
