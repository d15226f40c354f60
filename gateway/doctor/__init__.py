"""The checks of `daybook doctor`: `examine` runs them all, the other modules check one thing each."""
