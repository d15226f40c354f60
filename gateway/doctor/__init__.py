"""The checks of `daybook doctor`: `examine` runs them all."""
