"""What can be asked by name. The CLI asks the running gateway, or calls the same functions on one that it builds."""
