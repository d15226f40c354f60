"""Sessions on disk: the journal of a talk, what of it a model sees again, and where it is kept."""
