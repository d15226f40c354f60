"""What a neighbouring process may ask of the gateway, by name: JSON in, JSON out. The CLI asks the running gateway over
its socket, or builds one and asks it directly; these are the same functions. `table` has them all."""
