"""From messages to a reply: which make a turn, what came with them, and what a person sees meanwhile."""
