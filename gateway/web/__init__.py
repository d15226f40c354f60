"""The gateway's part of the web page: its token, what its server may ask, and the messages of its chats."""
