"""Tools that act on the gateway, made for each conversation (SPEC 6). Those of the agent are in `agent/tools`."""
