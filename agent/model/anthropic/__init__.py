"""The Anthropic Messages API, at any server that speaks it."""
