"""Search by meaning: offered, fetched, built and checked."""
