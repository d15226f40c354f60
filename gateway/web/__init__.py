"""The gateway's part of the web page: its token, what its server may ask, and what stands in its chats."""
