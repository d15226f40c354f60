"""Tools that act on the gateway, made for each conversation; the agent's are in `agent/tools`."""
