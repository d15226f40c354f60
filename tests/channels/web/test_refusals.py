"""What a browser is answered instead of what it asked for: sentences in its language."""

from __future__ import annotations

import pytest

from agent.languages.codes import Language
from agent.languages.sentences import Sentence
from channels.web.views.view import ActionFailed
from tests.channels.web.browser import Browser
from tests.channels.web.conftest import House
from tests.english import english_in

OTHERS = pytest.mark.parametrize("language", [Language("de"), Language("fr"), Language("ja"), Language.CHINESE])


@OTHERS
async def test_who_is_not_let_in_is_told_so_in_their_language(guest: Browser, house: House, language: Language) -> None:
    accepted = {"Accept-Language": language, "Origin": guest.address}
    said: list[str] = []
    for _ in range(11):
        async with guest.post("/login", json={"token": "wrong"}, headers=accepted) as refused:
            assert refused.status in (401, 429)
            said.append(await refused.text())
    async with guest.post("/login", json={"once": "wrong"}, headers=accepted) as refused:
        said.append(await refused.text())
    for headers in ({"Host": "evil.org"}, {"Origin": "http://evil.org"}, {}):
        async with guest.get("/session", headers={**accepted, **headers}) as refused:
            assert refused.status in (401, 403)
            said.append(await refused.text())
    assert len(set(said)) == 5
    assert [found for one in said if (found := english_in(one, language))] == []


@OTHERS
async def test_what_fails_on_the_page_is_said_in_its_language(owner: Browser, house: House, language: Language) -> None:
    accepted = {"Accept-Language": language, "Origin": owner.address}
    house.operations["status"] = ActionFailed(Sentence("The text of this change was forgotten."))
    paths = ("/view/nothing", "/static/nothing.js", "/view/status", "/files/abcdefgh/0")
    said: list[str] = []
    for path in paths:
        async with owner.get(path, headers=accepted) as refused:
            assert refused.status in (404, 409)
            said.append(await refused.text())
    async with owner.post("/files", data=b"x" * 3_000_000, headers=accepted) as refused:
        assert refused.status == 413
        said.append(await refused.text())
    assert [found for one in said if (found := english_in(one, language))] == []
