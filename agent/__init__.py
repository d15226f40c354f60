"""The agent: runs turns of sessions. It imports neither the gateway nor the channels."""
