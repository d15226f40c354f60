"""Checks the search of the web."""

from __future__ import annotations

import asyncio

from agent.languages.sentences import Sentence
from channels.checks import Finding
from gateway.config import Config
from gateway.features.web_tools.config import SearXngConfig, ServerSearchConfig, WithWeb
from gateway.features.web_tools.page import SearchUnavailable, WebSearch
from gateway.features.web_tools.search import Brave, SearXng
from gateway.home import Home


def web_search(home: Home, config: Config) -> list[Finding]:
    """Searches once where that costs nothing; blocks for some seconds at most."""
    tools = WithWeb.of(config.agents[config.default_agent].tools)
    wanted = tools.web_search
    if not tools.web:
        return [Finding("web search", True, "off (tools.web)")]
    if wanted is None:
        hint = "pages can be read; tools.web_search adds a search by searxng, brave or anthropic (docs/tools.md)"
        return [Finding("web search", True, hint)]
    if isinstance(wanted, ServerSearchConfig):
        if config.model.provider == "anthropic":
            return [Finding("web search", True, "Anthropic's server searches, at a price of its own")]
        what = "tools.web_search is anthropic, but the model's server is another"
        return [Finding("web search", False, what, "choose searxng or brave (docs/tools.md)")]
    if isinstance(wanted, SearXngConfig):
        engine: WebSearch = SearXng(wanted.base_url)
    else:
        engine = Brave(wanted.api_key.get_secret_value(), wanted.base_url)
    try:
        found = asyncio.run(engine.results("weather", ""))
    except SearchUnavailable as problem:
        fix = "correct tools.web_search in config.yaml (docs/tools.md)"
        return [Finding("web search", False, Sentence("it fails: {problem}", problem=problem), fix)]
    return [Finding("web search", True, Sentence("it works; results of a trial: {count}", count=len(found)))]
