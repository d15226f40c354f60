"""The page's views beside the chat. Each has a module here, a template, and where it needs one a script."""
