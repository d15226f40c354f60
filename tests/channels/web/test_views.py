"""The page's views: the shell at every address, what fills it, and sentences in the browser's language."""

from __future__ import annotations

import ast
import asyncio
import io
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from PIL import Image
from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Page, Route, expect

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.sentences import Sentence, sentences_of
from agent.search.vectors.protocol import CHANGED_SIZE
from channels.message import Origin
from channels.web import texts
from channels.web.channel import WebChannel
from channels.web.shell import size
from channels.web.views.registry import VIEWS
from channels.web.views.view import ActionFailed
from gateway import spoken_time
from gateway.cli import COMMANDS, command_of, daybook
from gateway.embedder.build import OLD_MODEL
from gateway.embedder.offer import GAIN
from gateway.store.run_rows import RunStatus
from gateway.terminal.words import in_words_of
from tests.channels.web.browser import Browser
from tests.channels.web.conftest import MAIN, STATUS, TOKEN, House, answer
from tests.chromium import PATIENCE

WEB = Path(texts.__file__).parent
XSS = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">'\"{{7*7}}"

FAR = {"agent": "main", "name": "far", "running": False, "tools": None, "login": "needed", "login_host": ""}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name or "chat")
async def test_every_address_has_the_shell_with_its_view_marked(owner: Browser, view: object) -> None:
    path = getattr(view, "path", "")
    async with owner.get(path) as answered:
        html = await answered.text()
        assert answered.status == 200 and answered.headers["Cache-Control"] == "no-store"
    (marked,) = re.findall(r'<a href="([^"]*)"[^>]* aria-current="page"', html)
    assert marked == path


async def test_a_view_is_filled_with_what_the_gateway_says_and_escapes_it(owner: Browser, house: House) -> None:
    house.operations["status"] = {**STATUS, "channels": {XSS: {"state": XSS, "last_error": XSS}}}
    house.operations["mcp.servers"] = [{**FAR, "agent": XSS, "name": XSS, "login": "done", "login_host": XSS}]
    async with owner.get("/view/status") as answered:
        html = await answered.text()
        assert answered.status == 200
    assert "<script" not in html and "<img" not in html and "49" not in html and "&lt;script&gt;" in html


async def test_a_connection_is_shown_once_with_the_gateway_that_has_it(owner: Browser) -> None:
    async with owner.get("/view/status") as answered:
        html = await answered.text()
    of_gateways = html.partition("attic")[2]
    for number, told in enumerate(("ok", "it broke &amp; mends")):
        name = f"discord:shard:{number}/2"
        assert html.count(name) == of_gateways.count(name) == 1
        assert told in of_gateways.partition(name)[2]


async def test_what_fails_is_a_sentence(owner: Browser, house: House) -> None:
    house.operations["status"] = ActionFailed("The disk is full.")
    async with owner.get("/view/status") as answered:
        assert (answered.status, await answered.text()) == (409, "The disk is full.\n")
    house.operations["status"] = ActionFailed(Sentence("There is no file {path}.", path="tea.md"))
    async with owner.get("/view/status", headers={"Accept-Language": "de"}) as answered:
        assert await answered.text() == "Es gibt keine Datei tea.md.\n"
    for path in ("/view/nothing", "/static/nothing.js"):
        async with owner.get(path) as answered:
            assert answered.status == 404


async def test_the_page_calls_only_what_the_gateway_offers_to_it(owner: Browser, house: House) -> None:
    for operation in ("status", "sessions.prune", "nothing"):
        async with owner.post(f"/call/{operation}", json={}) as answered:
            assert answered.status == 404
    assert not house.calls


async def test_static_files_are_asked_for_again_and_sent_only_when_they_changed(owner: Browser) -> None:
    async with owner.get("/static/app.js") as answered:
        assert answered.status == 200 and answered.content_type == "text/javascript"
        assert answered.headers["Cache-Control"] == "no-cache"
        tag = answered.headers["ETag"]
    async with owner.get("/static/app.js", headers={"If-None-Match": tag}) as again:
        assert (again.status, await again.read()) == (304, b"")


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR, fr;q=0.4, en;q=0.3", "fr"),
        ("en;q=0.5,zh-CN;q=0.9", "zh"),
        ("it-IT,it;q=0.9,en-US;q=0.8", "it"),
        ("", "en"),
        ("xx", "en"),
        ("de;q=0", "en"),
        ("ja;q=oh", "en"),
        ("*", "en"),
        (",".join(["x"] * 5_000) + ",de", "en"),
    ],
)
def test_the_browsers_language_is_chosen(accepted: str, language: str) -> None:
    assert texts.chosen(accepted) == language


def _sentences() -> set[str]:
    """All English sentences of templates, scripts and views."""
    found = {view.title for view in VIEWS}
    for file in WEB.joinpath("templates").glob("*.html"):
        found |= {one[1] for one in re.findall(r"_\((['\"])(.*?)\1[,)]", file.read_text("utf-8"))}
    for file in WEB.joinpath("static").glob("*.js"):
        found |= {one[1] for one in re.findall(r"\bt\((['\"])(.*?)\1[,)]", file.read_text("utf-8"))}
    states = {"ok", "off", "degraded", "down", "strong", "likely", "weak"}
    return found | states | _doctors_sentences() | _said_sentences() | _helps()


def _helps() -> set[str]:
    """What `--help` of every command says."""
    found = {command.help for command in COMMANDS.values()}

    def met(text: str) -> str:
        found.add(text)
        return text

    for command in (daybook, *map(command_of, COMMANDS)):
        in_words_of(command, met)
    return found


def _said_sentences() -> set[str]:
    """The texts that are given to `said`, `Sentence` and `BadEnvironment`, and what menus say of commands."""
    found: set[str] = set()
    top = Path(spoken_time.__file__).parent.parent
    for file in [file for package in ("agent", "channels", "gateway") for file in top.joinpath(package).rglob("*.py")]:
        source = file.read_text("utf-8")
        if not re.search(r"said\(|Sentence\(|BadEnvironment\(|Command\(", source):
            continue
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if (
                isinstance(call.func, ast.Name)
                and name == "Command"
                and all(one.arg != "is_listed" for one in call.keywords)
            ):
                usage, description = (str(ast.literal_eval(one)) for one in call.args[1:3])
                found |= {description, *([usage] if re.search("[A-Z]{4}", usage) else ())}
            if name in ("said", "Sentence", "BadEnvironment"):
                texts_given = (part for given in call.args[:2] for part in ast.walk(given))
                found |= {
                    text.value
                    for text in texts_given
                    if isinstance(text, ast.Constant) and isinstance(text.value, str)
                    if " " in text.value or re.search(r"[^\W\d]|“", re.sub(r"\{\w+\}", "", text.value))
                }
    return found


NO_SENTENCES = {
    "-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----",
    "DiscordBot (https://github.com/Rapptz/discord.py, 2)",
    "PRAGMA quick_check(1)",
    "Say hello in one short sentence.",
    "Who comes to dinner?",
}
CHECKED = (
    *("gateway/doctor/*.py", "gateway/setup/probe.py", "gateway/setup/model.py", "gateway/spoken_time.py"),
    *("channels/checks.py", "channels/*/checks.py", "gateway/features/*/checks.py"),
)
"""What makes the doctor's findings."""


def _doctors_sentences() -> set[str]:
    """Every text with a space in it that is no docstring, the names of checks, the results of jobs."""
    found = {GAIN, OLD_MODEL, CHANGED_SIZE, "valid", "inbox", "outbox", *map(str, RunStatus)}
    top = Path(spoken_time.__file__).parent.parent
    for file in [one for pattern in CHECKED for one in top.glob(pattern)]:
        source = file.read_text("utf-8")
        found |= set(re.findall(r'(?:Finding\(\s*|^(?:_CHECK|CHANNEL) = )"([a-z ]+)"', source, re.MULTILINE))
        tree = ast.parse(source)
        loose = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        for text in (one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr)):
            parts = [part for part in text.values if isinstance(part, ast.Constant)]
            loose |= set(map(id, parts))
            words = "".join(str(part.value) for part in parts)
            assert " " not in words.strip(" ;") or "and" not in words, f"{file}: {words!r} can't be translated"
        found |= {
            one.value
            for one in ast.walk(tree)
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
            if " " in one.value.strip() and id(one) not in loose
        }
    return {one for one in found - NO_SENTENCES if not one.startswith("SELECT ")}


@pytest.mark.parametrize("language", ALL_LANGUAGES[1:])
def test_every_sentence_is_there_in_every_language(language: Language) -> None:
    known, needed = sentences_of(language), _sentences()
    assert sorted(needed - known.keys()) == []
    assert sorted(known.keys() - needed) == [], "no longer used"
    for english, text in known.items():
        assert text.strip()
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english)), english


def test_the_first_page_is_small() -> None:
    files = (
        "base.css",
        "shell.css",
        "chat.css",
        "theme.js",
        "app.js",
        "chat.js",
        "dom.js",
        "net.js",
        "texts.js",
        "markup.js",
        "markup.css",
        "versions.js",
        "zone.js",
    )
    sizes = [(WEB / "static" / name).stat().st_size for name in files]
    assert sum(sizes) + len((WEB / "templates" / "shell.html").read_bytes()) < 300_000


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (12_345, "12 kB"),
        (1_234_567, "1.2 MB"),
        (5e9, "5,000 MB"),
    ],
)
def test_sizes_are_said_as_people_say_them(count: float, text: str) -> None:
    assert size(count) == text


# in a browser --------------------------------------------------------------------------------------------------------


async def logged_in(chromium: Chromium, house: House, **options: object) -> Page:
    person: BrowserContext = await chromium.new_context(**options)  # type: ignore[arg-type]
    person.set_default_timeout(PATIENCE)
    page = await person.new_page()
    await page.goto(house.address)
    await page.locator("#token").fill(TOKEN)
    await page.locator("#login button").click()
    await expect(page.locator("#text")).to_be_visible()
    return page


@pytest.mark.full
async def test_people_go_from_view_to_view_and_back(chromium: Chromium, house: House, channel: WebChannel) -> None:
    page = await logged_in(chromium, house)
    await page.locator("#text").fill("half a thought")
    await page.get_by_role("link", name="Status").click()
    await expect(page.get_by_role("heading", name="Channels")).to_be_visible()
    assert page.url == f"{house.address}/status"
    await expect(page.locator("#text")).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("heading", name="Channels")).to_be_visible()
    await page.go_back()
    await expect(page.locator("#text")).to_have_value("half a thought")


@pytest.mark.full
async def test_a_phone_has_the_menu_behind_a_button(chromium: Chromium, house: House, channel: WebChannel) -> None:
    page = await logged_in(chromium, house, viewport={"width": 390, "height": 844})
    link = page.get_by_role("link", name="Status")
    await expect(link).to_be_hidden()
    await page.get_by_role("button", name="Menu").click()
    await link.click()
    await expect(page.get_by_role("heading", name="Channels")).to_be_visible()
    await expect(link).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
async def test_times_are_on_the_users_clock_wherever_the_browser_is(chromium: Chromium, house: House) -> None:
    house.timezone = "Asia/Tokyo"
    async with house.running(house.channel()):
        page = await logged_in(chromium, house, timezone_id="America/New_York", locale="en-GB")
        await page.clock.set_fixed_time("2026-05-08T20:30:00Z")
        await page.locator("#text").fill("hello")
        await page.keyboard.press("Enter")
        time = page.locator("#messages .person time")
        at = datetime.fromisoformat(await time.get_attribute("datetime") or "").astimezone(ZoneInfo("Asia/Tokyo"))
        await expect(time).to_have_attribute("title", at.strftime("%d/%m/%Y, %H:%M:%S"))


async def test_the_page_speaks_the_browsers_language(chromium: Chromium, house: House, channel: WebChannel) -> None:
    page = await logged_in(chromium, house, locale="de-DE")
    german = sentences_of(Language("de"))
    await expect(page.locator("#text")).to_have_attribute("placeholder", german["Type a message"])
    await page.get_by_role("link", name=german["Status"]).click()
    await expect(page.get_by_role("heading", name=german["Channels"])).to_be_visible()


async def test_nothing_that_is_shown_runs(chromium: Chromium, house: House, channel: WebChannel) -> None:
    house.operations["status"] = {**STATUS, "channels": {XSS: {"state": XSS, "last_error": XSS}}}
    page = await logged_in(chromium, house)
    await page.get_by_role("link", name="Status").click()
    await expect(page.get_by_role("heading", name="Channels")).to_be_visible()
    assert await page.title() == "Daybook"
    assert await page.locator("#view script, #view img").count() == 0


@pytest.mark.full
async def test_the_owner_logs_in_at_a_server_of_tools(chromium: Chromium, house: House, channel: WebChannel) -> None:
    def taken(parameters: Mapping[str, object]) -> object:
        if parameters["address"] != "http://127.0.0.1:1/login/mcp?state=1&code=2":
            raise ActionFailed("That is not the address of a login's answer.")
        house.operations["mcp.servers"] = [{**FAR, "tools": 3, "login": "done", "login_host": "login.example.org"}]
        return {"name": "far"}

    asked = "https://login.example.org/authorize?state=1"
    house.operations |= {"mcp.servers": [FAR], "mcp.link": {"link": asked, "host": "login.example.org"}}
    house.operations |= {"mcp.answer": taken, "mcp.logout": {"done": True}}
    page = await logged_in(chromium, house)
    await page.get_by_role("link", name="Status").click()
    await page.get_by_role("button", name="Log in to far").click()
    link = page.get_by_role("link", name="Log in at login.example.org")
    await expect(link).to_have_attribute("href", asked)
    await page.locator(".login input").fill("hello")
    await page.get_by_role("button", name="Take it").click()
    await expect(page.locator("#servers")).to_contain_text("That is not the address")
    await page.locator(".login input").fill("http://127.0.0.1:1/login/mcp?state=1&code=2")
    await page.get_by_role("button", name="Take it").click()
    await expect(page.locator("#servers")).to_contain_text("logged in at login.example.org")
    await page.get_by_role("button", name="Log out of far").click()
    await asyncio.wait_for(until_called(house, "mcp.logout"), PATIENCE)
    assert ("mcp.logout", {"name": "far", "agent": "main"}) in house.calls


async def until_called(house: House, operation: str) -> None:
    while all(name != operation for name, _ in house.calls):  # noqa: ASYNC110 (the browser rings no bell here)
        await asyncio.sleep(0.01)


def test_what_the_page_needs_to_open_is_kept_for_when_daybook_is_down() -> None:
    kept = set(re.findall(r"/static/([\w.-]+)", (WEB / "static" / "sw.js").read_text("utf-8").partition("];")[0]))
    needed, ahead = set[str](), ["app.js"]
    while ahead:
        name = ahead.pop()
        needed.add(name)
        imports = re.findall(r"^import .* from '/static/([\w.-]+)'", (WEB / "static" / name).read_text("utf-8"), re.M)
        ahead += [other for other in imports if other not in needed]
    assert needed <= kept


@pytest.mark.full
async def test_while_daybook_is_down_the_page_still_opens(chromium: Chromium, house: House) -> None:
    async with house.running(house.channel()):
        page = await logged_in(chromium, house)
        await page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
    await page.reload()
    await expect(page.locator("#state")).to_contain_text("Offline")
    await expect(page.locator("#text")).to_be_visible()


async def test_a_conversation_is_found_read_and_continued(
    chromium: Chromium, house: House, channel: WebChannel
) -> None:
    row = {"id": "20261121-083000-123-9f3a", "key": "main/owner", "last": "2026-11-21T08:30:00Z", "messages": 4}
    row |= {"title": "Where shall we go in May?", "started": row["last"], "archived": False, "aside": False}
    task = {**row, "id": "task", "key": "main/owner/tasks/1f", "title": "Compare trains", "aside": True}
    house.operations["sessions.list"] = [row, {**row, "id": "other", "title": "Bread", "messages": 2}, task]
    house.operations["sessions.show"] = {**row, "text": "# Talk\n\nSession `x`.\n\n**Alice** · 08:30\n\nTo **Rome**?"}
    house.operations["memory.search"] = {"hits": [], "gaps": []}
    page = await logged_in(chromium, house)
    await page.get_by_role("link", name="Conversations").click()
    await expect(page.locator(".rows li")).to_have_count(2)
    await page.get_by_role("link", name="In the background (1)").click()
    await expect(page.get_by_role("heading", name="In the background")).to_be_visible()
    await expect(page.locator(".rows li")).to_have_count(1)
    await expect(page.get_by_role("link", name="Compare trains")).to_be_visible()
    await page.get_by_role("link", name="All conversations").click()
    await expect(page.locator(".rows li")).to_have_count(2)
    await page.get_by_role("searchbox").fill("may")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator(".rows li")).to_have_count(1)
    await page.get_by_role("link", name="Where shall we go in May?").click()
    await expect(page.locator(".transcript strong").last).to_have_text("Rome")
    await page.get_by_role("button", name="Continue this conversation").click()
    await expect(page.locator("#text")).to_be_visible()
    await expect(page.locator(".person")).to_contain_text(f"/switch {row['id']}")
    await page.get_by_role("link", name="Conversations").click()
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.locator("#messages .person")).to_have_count(2)
    assert await house.texts(2) == [f"/switch {row['id']}", "/new"]


async def test_stop_is_no_message(chromium: Chromium, house: House, channel: WebChannel) -> None:
    page = await logged_in(chromium, house)
    async with channel.typing(MAIN):
        await page.get_by_role("button", name="Stop").click()
    await page.locator("#text").fill("and now?")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .person")).to_have_count(1)
    await house.texts(2)
    assert [(one.text, one.origin) for one in house.received] == [("/stop", Origin.COMMAND), ("and now?", Origin.CHAT)]


@pytest.mark.full
async def test_text_that_is_marked_in_a_growing_answer_stays_marked(
    chromium: Chromium, house: House, channel: WebChannel
) -> None:
    page = await logged_in(chromium, house)
    await page.locator("#text").fill("a story")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .person")).to_have_count(1)  # it is connected: drafts are for who is there
    await channel.draft(1, answer("Once upon a time"))
    await expect(page.locator("#drafts .body")).to_have_text("Once upon a time")
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#drafts .body'))")
    await channel.draft(1, answer("Once upon a time there was"))
    await channel.draft(1, answer("Once upon a time there was a"))
    assert await page.evaluate("getSelection().toString()") == "Once upon a time"
    await page.evaluate("getSelection().removeAllRanges()")
    await expect(page.locator("#drafts .body")).to_have_text("Once upon a time there was a")


async def test_a_picture_is_seen_before_it_is_sent(chromium: Chromium, house: House, channel: WebChannel) -> None:
    page = await logged_in(chromium, house)
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(picture, "PNG")
    file = {"name": "boat.png", "mimeType": "image/png", "buffer": picture.getvalue()}
    await page.locator("#files").set_input_files(file)  # type: ignore[arg-type]
    await expect(page.locator("#chosen img")).to_have_js_property("naturalWidth", 8)
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#chosen img")).to_have_count(0)


async def test_a_message_that_is_sent_before_its_file_is_uploaded_waits_for_it(
    chromium: Chromium, house: House, channel: WebChannel
) -> None:
    page = await logged_in(chromium, house, service_workers="block")  # past one that has begun no route is asked
    uploaded = asyncio.Event()

    async def slow(route: Route) -> None:
        await uploaded.wait()
        await route.continue_()

    await page.route("**/files", slow)
    file = {"name": "list.txt", "mimeType": "text/plain", "buffer": b"tea"}
    await page.locator("#files").set_input_files(file)  # type: ignore[arg-type]
    await page.locator("#text").fill("my list")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#state")).to_have_text("It is sent as soon as the file is uploaded.")
    assert house.received == []
    uploaded.set()
    await expect(page.locator("#messages .person")).to_have_count(1)
    await house.texts(1)
    assert [(one.text, [part.name for part in one.attachments]) for one in house.received] == [
        ("my list", ["list.txt"])
    ]


FILE = {"path": "MEMORY.md", "text": "# Me\n\n- **Luna** is my boat\n", "hash": "h1", "size": 30}


async def test_memory_is_read_edited_and_a_change_meanwhile_is_shown(
    chromium: Chromium, house: House, channel: WebChannel
) -> None:
    entry = {"name": "MEMORY.md", "path": "MEMORY.md", "kind": "file", "size": 30, "changed": "2026-11-21T08:30:00Z"}
    house.operations |= {
        "memory.folder": {"path": "", "entries": [entry], "more": 0},
        "memory.log": [],
        "memory.open": [{"text": "send the invoice", "who": "Alice", "due": "2026-11-24"}],
        "memory.read": FILE,
        "memory.write": {"saved": False, "text": "- somebody else", "hash": "h2"},
    }
    page = await logged_in(chromium, house)
    await page.get_by_role("link", name="Memory", exact=True).click()
    await expect(page.get_by_text("send the invoice")).to_be_visible()
    await page.get_by_role("link", name="MEMORY.md").click()
    await expect(page.locator(".prose strong")).to_have_text("Luna")
    await page.get_by_role("link", name="Edit").click()
    editor = page.get_by_label("Content")
    await expect(editor).to_have_value(FILE["text"])
    await editor.fill("- mine")
    await page.keyboard.press("Control+s")
    await expect(page.locator(".conflict pre")).to_have_text("- somebody else")
    await expect(editor).to_have_value("- mine")
    house.operations["memory.write"] = {"saved": True, "hash": "h3"}
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".prose")).to_be_visible()
    writes = [given for name, given in house.calls if name == "memory.write"]
    assert [(one["hash"], one["text"]) for one in writes] == [("h1", "- mine"), ("h2", "- mine")]


async def test_a_change_of_memory_is_shown_and_undone(chromium: Chromium, house: House, channel: WebChannel) -> None:
    change = {"id": "c1", "ts": "2026-11-21T08:30:00Z", "path": XSS, "by": "page", "summary": XSS, "scope": "owner"}
    house.operations |= {
        "memory.diff": {**change, "undone_by": "", "diff": f"- {XSS}\n+ new"},
        "memory.restore": ActionFailed("The disk is full."),
    }
    page = await logged_in(chromium, house)
    await page.goto(f"{house.address}/memory?change=c1")
    await expect(page.locator(".diff .added")).to_have_text("+ new")
    await page.get_by_role("button", name="Undo this change").click()
    await expect(page.get_by_role("alert").last).to_have_text("The disk is full.")
    house.operations["memory.restore"] = {"message": "Undone"}
    house.operations["memory.diff"] = {**change, "undone_by": "c2", "diff": ""}
    await page.get_by_role("button", name="Undo this change").click()
    await expect(page.locator(".tag")).to_have_text("undone")
    assert await page.title() == "Daybook"
