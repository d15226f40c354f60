"""Tools that act on the gateway, made for each conversation (SPEC 6). The agent's own are `agent/tools`."""
