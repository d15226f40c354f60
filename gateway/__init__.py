"""The gateway: the only package that imports both the channels and the agent."""
