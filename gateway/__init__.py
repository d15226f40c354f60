"""The gateway: the only package that knows both the channels and the agent."""
