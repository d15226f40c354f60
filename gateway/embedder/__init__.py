"""Search by meaning: whether to offer it, how it is fetched, built and checked."""
