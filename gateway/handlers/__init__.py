"""What other processes can ask by name (`gateway.rpc`). The CLI asks the running gateway, or calls the same
functions on one that it builds."""
