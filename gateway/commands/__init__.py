"""Commands in chats: a name, a sentence, a small async function each."""
