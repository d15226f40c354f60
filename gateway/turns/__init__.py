"""From messages to a reply: which make a turn, what came with them, and what people see meanwhile."""
