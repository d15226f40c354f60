"""The local socket, by which other processes call operations of a running gateway."""
