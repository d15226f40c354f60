"""What Daybook remembers: plain Markdown in the workspace, reached through a scope."""
