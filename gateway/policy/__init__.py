"""Who may speak, in which session, who listens, and what needs the owner's yes."""
