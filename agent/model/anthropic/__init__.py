"""The Anthropic Messages API, at Anthropic or at any server that speaks it."""
