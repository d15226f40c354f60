"""Sessions on disk: transcripts, their entries, and where they are."""
