"""All views, in the order in which the page lists them."""

from __future__ import annotations

from channels.web.views import conversations, jobs, memory, people, settings, setup, status, usage
from channels.web.views.view import View

CHAT = View("", "Chat")
VIEWS: tuple[View, ...] = (
    CHAT,
    conversations.VIEW,
    memory.VIEW,
    jobs.VIEW,
    people.VIEW,
    usage.VIEW,
    status.VIEW,
    settings.VIEW,
)
BY_NAME = {view.name: view for view in (*VIEWS, setup.VIEW)}
"""With the set-up, which other views show and no menu lists."""
