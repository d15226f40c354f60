"""Memory: plain Markdown in the workspace, accessed through a scope."""
