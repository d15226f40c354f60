"""Commands in chats: each a name, a sentence and a small async function."""
