"""What can be wrong with a Daybook (`daybook doctor`): `examine` looks at everything, the others each at one thing."""
