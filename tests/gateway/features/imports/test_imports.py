"""Imports through a running gateway: what is written, what is not, and taking it back."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import zipfile
from pathlib import Path

import pytest

from agent.memory.history import History
from gateway.features.imports import json_stream, values
from gateway.rpc.protocol import OperationError
from gateway.terminal.rpc import rows
from tests.gateway.conftest import Daybook, Running, full_disk
from tests.gateway.features.imports.conftest import bring, refused, tree, until_there
from tests.gateway.features.imports.made import (
    KEY,
    chatgpt_chat,
    chatgpt_message,
    claude_chat,
    claude_message,
    claude_zip,
    lisbon,
    openclaw,
    zipped,
)

DAY = "memory/imported/claude/2025-03-04.md"


# conversations


async def test_a_claude_export_becomes_a_file_a_day_and_notes(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    memories = [{"conversations_memory": "Anna likes fish.", "account_uuid": "a-1"}]
    projects = [
        {"uuid": "p", "name": "Garden", "description": "beds", "docs": [{"filename": "a.md", "content": "Beans"}]}
    ]
    path = claude_zip(tmp_path / "export.zip", [lisbon()], memories=memories, projects=projects)
    report = await bring(gateway, "claude", path)
    assert (report["conversations"], report["messages"], report["skipped"]) == (1, 2, [])
    assert (daybook.workspace / DAY).read_text() == (
        "# 2025-03-04\n\n## Trip to Lisbon (from: Claude import)\n"
        "<!-- imported claude 0195-lisbon 2025-03-04T10:23:41.500000Z -->\n"
        "- 11:22 User: Where do we eat in Lisbon? Mia is allergic to clams. (from: Claude import)\n"
        "- 11:23 Claude: Try **Ramiro**. (from: Claude import)\n\n"
        "  - fish (from: Claude import)\n  - no clams (from: Claude import)\n"
    )
    assert (daybook.workspace / DAY).stat().st_mode & 0o777 == 0o600
    written = tree(daybook)
    assert b"Anna likes fish. (from: Claude import)" in written["memory/notes/claude-memory.md"]
    assert b"beds (from: Claude import)" in written["memory/notes/claude-project-garden.md"]
    assert b"Beans (from: a.md, Claude import)" in written["memory/imported/claude/claude-project-garden/a.md"]
    assert not [name for name in written if name.startswith("memory/20")], "no log of a day is touched"
    for scope, found in (("owner", True), ("person:bob", False), ("group:telegram:-100123", False)):
        assert bool(await gateway.ask("memory.search", query="Ramiro Lisbon", scope=scope)) is found


async def test_a_second_import_brings_what_is_new_only(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    await bring(gateway, "claude", claude_zip(tmp_path / "a.zip", [lisbon()]))
    before = tree(daybook)
    again = await bring(gateway, "claude", claude_zip(tmp_path / "b.zip", [lisbon()]))
    assert (again["id"], again["already"], again["files"]) == ("", 1, []) and tree(daybook) == before

    later = lisbon()
    later["chat_messages"].append(claude_message("human", "And breakfast?", "2025-03-04T10:24:00Z"))
    other = lisbon(id="other", name="Porto")
    report = await bring(gateway, "claude", claude_zip(tmp_path / "c.zip", [later, other]))
    assert (report["conversations"], report["messages"]) == (2, 3)
    new = tree(daybook)["memory/imported/claude/2025-03-04-claude.md"].decode()
    assert "And breakfast?" in new and new.count("Ramiro") == 1, "of the other conversation"
    assert tree(daybook)[DAY] == before[DAY]


async def test_a_dry_run_says_the_same_and_writes_nothing(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    path, before = claude_zip(tmp_path / "a.zip", [lisbon()]), tree(daybook)
    plan = await bring(gateway, "claude", path, dry_run=True)
    assert tree(daybook) == before and await gateway.ask("import.list") == []
    done = await bring(gateway, "claude", path)
    assert plan["files"] == done["files"] and plan["dry_run"] and not plan["id"] and done["id"]


async def test_of_a_chatgpt_tree_the_branch_in_view_is_taken(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    chat = chatgpt_chat(
        chatgpt_message("system", "You are ChatGPT", None),
        chatgpt_message("user", "Which seeds?", 1741083731.1),
        chatgpt_message("assistant", "search(seeds)", 1741083740.0, content_type="code"),
        chatgpt_message("tool", "a web page", 1741083741.0),
        chatgpt_message("assistant", "Beans.", 1741083750.25),
    )
    chat["mapping"]["old"] = {
        "id": "old",
        "parent": "n1",
        "message": chatgpt_message("assistant", "Peas.", 1741083735.0),
    }
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    voice = {"content_type": "audio_transcription", "text": "and a picture", "direction": "in"}
    odd = chatgpt_chat(
        chatgpt_message("user", "", 1741083800.0, content_type="multimodal_text", parts=[picture, voice]),
        chatgpt_message("assistant", "", 1741083801.0, content_type="hologram", parts=None),
        id="odd",
        title="Odd",
    )
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chat, odd, {"what": "ever"}]))
    report = await bring(gateway, "chatgpt", path)
    (name,) = [one["path"] for one in report["files"]]
    text = (daybook.workspace / name).read_text()
    assert "User: Which seeds?" in text and "ChatGPT: Beans." in text and "[a picture]" in text
    assert not any(word in text for word in ("Peas", "web page", "search(", "You are"))
    assert [one["what"] for one in report["skipped"]] == ["“Odd”", "conversation 3"]
    assert "hologram" in report["skipped"][0]["why"]


async def test_keys_are_named_and_left_out(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    said = f"my key is {KEY}, and password: hunter2go, and https://anna:geheim1@example.org/"
    private = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----\nafter it"
    given = [{"file_name": "id_rsa.txt", "extracted_content": private}]
    path = claude_zip(tmp_path / "a.zip", [claude_chat(claude_message("human", said, attachments=given))])
    report = await bring(gateway, "claude", path)
    text = (daybook.workspace / DAY).read_text()
    assert not any(secret in text for secret in (KEY, "hunter2go", "geheim1", "MIIEow")) and "after it" in text
    assert {one["kind"] for one in report["secrets"]} == {
        "an Anthropic key",
        "a password or key",
        "a password in an address",
        "a private key",
    }
    assert all("Trip to Lisbon" in one["where"] for one in report["secrets"])


async def test_days_are_the_persons_and_long_ones_have_parts(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    long = " ".join(map(str, range(130_000)))
    chats = [
        claude_chat(claude_message("human", "late", "2025-03-04T23:30:00Z"), id="late"),
        *(claude_chat(claude_message("human", f"{n} " + long, "2025-03-08T10:00:00Z"), id=f"c{n}") for n in range(6)),
    ]
    report = await bring(gateway, "claude", claude_zip(tmp_path / "a.zip", chats))
    names = [one["path"] for one in report["files"]]
    assert names[0] == "memory/imported/claude/2025-03-05.md", "half past midnight in Berlin"
    assert len(names) == 3 and all(one["bytes"] <= values.MOST_OF_FILE for one in report["files"])
    again = await bring(gateway, "claude", claude_zip(tmp_path / "b.zip", chats))
    assert again["files"] == [] and again["already"] == 7


async def test_what_is_said_cannot_pass_for_our_marks(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    evil = "x\n<!-- imported claude 0195-lisbon 2099-01-01T00:00:00Z -->\n# 2025-01-01\n## Heading\n\0\x1b[31m"
    await bring(
        gateway, "claude", claude_zip(tmp_path / "a.zip", [claude_chat(claude_message("human", evil), id="a b\n-->")])
    )
    report = await bring(gateway, "claude", claude_zip(tmp_path / "b.zip", [lisbon()]))
    assert report["conversations"] == 1, "the mark inside of a message says nothing"
    assert "\x1b" not in (daybook.workspace / DAY).read_text()


# workspaces and folders


async def test_a_skill_that_is_brought_counts_everywhere_only_with_a_yes(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    source = openclaw(tmp_path / "oc")
    page = source / "skills" / "evil" / "SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nname: evil\ndescription: d\nalways: true\nshared: true\n---\n\nEVILSKILL\n")
    report = await bring(gateway, "openclaw", source)
    assert any("skills/evil asks to be read in every chat" in one for one in report["remarks"])
    (skill,) = [one for one in rows(await gateway.ask("skills.list")) if one["name"] == "evil"]
    assert (skill["always"], skill["shared"], skill["waits"]) == (False, False, True)


async def test_a_workspace_goes_where_daybook_has_the_same(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    memory = daybook.workspace / "MEMORY.md"
    memory.write_text("# Memory\n\n- Bo is the dog\n")
    (daybook.workspace / "USER.md").write_text("- Name: somebody\n")
    source = openclaw(tmp_path / "oc")
    (source / "memory" / "2026-11-21.md").write_text("# 2026-11-21\n\n- of today\n")
    (source / "memory" / "out.md").symlink_to("/etc/passwd")
    report = await bring(gateway, "openclaw", source)
    assert memory.read_text() == (
        "# Memory\n\n- Bo is the dog\n\n## From OpenClaw\n\n### People\n\n- Mia is my daughter\n\n"
        "### Work\n\n- I work at the mill\n"
    )
    placed = {one["path"]: one["what"] for one in report["files"]}
    assert placed["SOUL-openclaw.md"] == "new" and "SOUL.md" not in placed, "every chat would read it"
    assert any("SOUL.md would be read in every chat" in one for one in report["remarks"])
    assert placed["USER-openclaw.md"] == "new" == placed["AGENTS-openclaw.md"]
    assert "memory/2026-11-21-openclaw.md" in placed, "what is in the prompt stays Daybook's own"
    assert {
        "memory/2026-01-30.md",
        "memory/2026-02-01-bike-talk.md",
        "skills/pdf/SKILL.md",
        "skills/pdf/run.py",
    } <= set(placed)
    assert "met Ann at the harbour (from: OpenClaw import)" in (daybook.workspace / "memory/2026-01-30.md").read_text()
    assert [one["what"] for one in report["skipped"]] == ["memory/out.md"]
    assert (daybook.workspace / "USER.md").read_text() == "- Name: somebody\n"

    before = tree(daybook)
    with (source / "memory" / "2026-01-30.md").open("a") as log:
        log.write("- and Tom\n")
    (source / "skills" / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: other\n---\n\nOther.\n")
    again = await bring(gateway, "openclaw", source)
    assert [one["path"] for one in again["files"]] == [
        "memory/2026-01-30-openclaw.md",
        "skills/pdf-openclaw/SKILL.md",
        "skills/pdf-openclaw/run.py",
    ]
    grown = (daybook.workspace / "memory/2026-01-30-openclaw.md").read_text()
    assert "and Tom" in grown and "Ann" not in grown
    assert {name: tree(daybook)[name] for name in before} == before


async def test_nanobot_keeps_its_memory_one_folder_lower(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    source = tmp_path / "nanobot" / "workspace"
    (source / "memory").mkdir(parents=True)
    (source / "memory" / "MEMORY.md").write_text("# Long-term Memory\n\n- Tea at four\n")
    (source / "memory" / "HISTORY.md").write_text("[2026-01-02 10:00] Spoke of tea.\n")
    (source.parent / "cron").mkdir()
    (source.parent / "cron" / "jobs.json").write_text("{}")
    report = await bring(gateway, "nanobot", source.parent)
    assert "## From nanobot\n\n- Tea at four\n" in (daybook.workspace / "MEMORY.md").read_text()
    assert "Spoke of tea. (from: nanobot import)" in (daybook.workspace / "memory/HISTORY.md").read_text()
    assert any("Reminders" in one for one in report["remarks"])
    assert "`daybook import nanobot" in await refused(gateway, "openclaw", source)


async def test_a_vault_keeps_its_names_links_and_front_matter(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    vault = tmp_path / "My Vault"
    for name, data in {
        "Garden/Beds.md": b"---\ntags: [x]\n---\n\nSee [[Compost|the heap]] and ![[plan.png]].\n",
        "journals/2025_03_04.md": b"- planted beans\n",
        "Meeting.md": b"---\ndate: 2025-05-06\n---\n\nWith Ann.\n",
        "caf\xe9.md".encode("latin-1").decode("latin-1"): "Crème brûlée".encode("cp1252"),
        "wide.md": "Привет".encode("utf-16"),
        "plan.png": b"\x89PNG",
        "empty.md": b"",
        ".obsidian/app.md": b"settings",
    }.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_bytes(data)
    report = await bring(gateway, "text", vault)
    written = tree(daybook)
    garden = written["memory/notes/my-vault/Garden/Beds.md"].decode()
    assert garden.startswith("---\ntags: [x]\n---\n") and "[[Compost|the heap]] and ![[plan.png]]" in garden
    assert b"planted beans" in written["memory/imported/my-vault/journals/2025-03-04 2025_03_04.md"]
    assert b"With Ann" in written["memory/imported/my-vault/2025-05-06 Meeting.md"]
    assert "Crème brûlée" in written["memory/notes/my-vault/café.md"].decode()
    assert "Привет" in written["memory/notes/my-vault/wide.md"].decode()
    assert [one["what"] for one in report["skipped"]] == [".png (1)"] and len(report["remarks"]) == 1
    assert (await bring(gateway, "text", vault))["files"] == []


@pytest.mark.parametrize("is_zip", [False, True])
@pytest.mark.parametrize("within", ["", "work/graphs/"])
async def test_old_versions_that_logseq_keeps_are_no_memories(
    gateway: Running, daybook: Daybook, tmp_path: Path, is_zip: bool, within: str
) -> None:
    graph = tmp_path / "graph"
    graph.mkdir()
    (graph / "index.md").write_text("All that I wrote\n")
    for name, text in {
        "pages/Lock.md": "The lock is green\n",
        "journals/2025_03_04.md": "- the lock became green\n",
        "logseq/config.edn": "{}",
        "logseq/bak/pages/Lock/2025-03-03T10_00_00.000Z.Desktop.md": "The lock is blue\n",
        "logseq/bak/journals/2025_03_04/2025-03-04T10_00_00.000Z.Desktop.md": "- the lock is blue\n",
        "logseq/version-files/local/pages/Lock/2025-03-02.md": "The lock is blue\n",
        "logseq/.recycle/pages_Old.md": "The lock is blue\n",
        "logseq/logseq/about.md": "The lock is blue\n",
        ".trash/Lock.md": "The lock is blue\n",
        "without settings/logseq/bak/pages/Lock/2025-03-01.md": "The lock is blue\n",
        "notes/logseq/how to.md": "Logseq is a program for notes\n",
        "notes/bak/green.md": "The lock of the shed is green as well\n",
    }.items():
        file = graph / within / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    report = await bring(gateway, "text", zipped(graph, tmp_path / "graph.zip", "graph/") if is_zip else graph)
    assert sorted(one["path"] for one in report["files"]) == [
        f"memory/imported/graph/{within}journals/2025-03-04 2025_03_04.md",
        *sorted(
            f"memory/notes/graph/{one}"
            for one in (
                "index.md",
                f"{within}notes/bak/green.md",
                f"{within}notes/logseq/how to.md",
                f"{within}pages/Lock.md",
            )
        ),
    ]
    left_out = {one["what"]: one["why"] for one in report["skipped"]}
    assert sorted(left_out) == [f"{within}logseq/", f"{within}without settings/logseq/bak/"]
    assert all("Logseq" in why and "old versions" in why for why in left_out.values())
    found = json.dumps(await gateway.ask("memory.search", query="which colour is the lock, blue or green"))
    assert "green" in found and "is blue" not in found


# taking back


async def test_undo_takes_all_back_but_what_was_changed_since(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    before = tree(daybook)
    report = await bring(gateway, "openclaw", openclaw(tmp_path / "oc"))
    (listed,) = await gateway.ask("import.list")
    assert (listed["id"], listed["kind"], listed["source"], listed["files"]) == (report["id"], "openclaw", "oc", 8)
    assert listed["finished"] and not listed["undone"]
    (change,) = await gateway.ask("memory.log")
    assert (change["id"], change["by"]) == (report["id"], "import openclaw")

    talk = daybook.workspace / "memory/2026-02-01-bike-talk.md"
    talk.write_text(talk.read_text().replace("red", "blue"))
    undone = await gateway.ask("import.undo", id=report["id"][-6:])
    assert undone["kept"] == ["memory/2026-02-01-bike-talk.md"] and "changed since" in undone["message"]
    now = tree(daybook)
    assert now.pop("memory/2026-02-01-bike-talk.md") and now == before
    assert not (daybook.workspace / "skills" / "pdf").exists(), "an empty folder would be a broken skill"
    with pytest.raises(OperationError, match="undone already"):
        await gateway.ask("import.undo", id=report["id"])
    with pytest.raises(OperationError, match="daybook import list"):
        await gateway.ask("import.undo", id="20200101-000000-abcdef")
    assert (await bring(gateway, "openclaw", tmp_path / "oc"))["id"], "and it can come again"


async def test_memory_restore_undoes_an_import_as_well(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    before = tree(daybook)
    report = await bring(gateway, "openclaw", openclaw(tmp_path / "oc"))
    await gateway.ask("memory.restore", id=report["id"])
    assert tree(daybook) == before, "a log of the past, too, is gone and not struck out"


async def test_a_disk_that_fills_up_leaves_nothing(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    chats = [
        claude_chat(claude_message("human", "word " * 20_000, f"2025-03-{day:02}T10:00:00Z"), id=f"c{day}")
        for day in range(1, 25)
    ]
    path, before = claude_zip(tmp_path / "a.zip", chats), tree(daybook)
    with full_disk(1_000_000):
        text = await refused(gateway, "claude", path)
    assert text.startswith("Nothing was imported: ") and tree(daybook) == before
    assert (await bring(gateway, "claude", path))["conversations"] == 24


async def test_a_file_that_was_forgotten_in_is_kept_by_undo(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    other = claude_chat(claude_message("human", "Luna is a cat", "2025-04-01T10:00:00Z"), id="luna")
    report = await bring(gateway, "claude", claude_zip(tmp_path / "a.zip", [lisbon(), other]))
    history = History(daybook.home.state / "history" / "main.db", daybook.moment.clock)
    history.forget("owner", lambda path, text: "Luna" in text)
    undone = await gateway.ask("import.undo", id=report["id"])
    assert undone["kept"] == ["memory/imported/claude/2025-04-01.md"] and undone["paths"] == [DAY]


# what is refused, in a sentence, with nothing written


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"[]", "holds nothing to import"),
        (b"hello", "is not JSON"),
        (b"[1, 2]", "not a list of conversations|not one of conversations"),
        (b'[{"uuid": "x", "chat_messages": [', "ends in the middle"),
        (b'[{"uuid": "x"} {"a": 1}', "ends in the middle"),
        (b'[{"uuid": "x"}', "ends in the middle"),
        (b'["a", "b"]', "not a list of conversations"),
        (b'[{"uuid": }]', "is not one of Claude's"),
        (b"[" + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"]", "is not one of Claude's"),
        (b'[{"uuid": "x", "name": "Old", "chat_messages": [{"sender": "human", "text": "hi"}]}]', "“Old” has no date"),
    ],
)
async def test_wrong_json_is_refused(gateway: Running, daybook: Daybook, tmp_path: Path, data: bytes, why: str) -> None:
    path, before = tmp_path / "conversations.json", tree(daybook)
    path.write_bytes(data)
    with pytest.raises(OperationError, match=why):
        await bring(gateway, "claude", path)
    assert tree(daybook) == before


async def test_another_kind_is_told_by_name(gateway: Running, tmp_path: Path) -> None:
    claude = claude_zip(tmp_path / "claude.zip", [lisbon()])
    chatgpt = claude_zip(tmp_path / "gpt.zip", [chatgpt_chat(chatgpt_message("user", "hi", 1741083731.1))])
    source = openclaw(tmp_path / "oc")
    assert "`daybook import claude" in await refused(gateway, "chatgpt", claude)
    assert "`daybook import chatgpt" in await refused(gateway, "claude", chatgpt)
    assert "`daybook import openclaw" in await refused(gateway, "claude", source)
    assert "`daybook import openclaw" in await refused(gateway, "nanobot", source)
    assert "`daybook import claude" in await refused(gateway, "text", claude)
    assert "not a folder" in await refused(gateway, "text", source / "USER.md")
    assert "There is no folder" in await refused(gateway, "text", tmp_path / "nowhere")
    assert "no such file" in await refused(gateway, "claude", tmp_path / "nowhere.zip")
    assert "not an absolute path" in await refused(gateway, "claude", Path("x.zip"))


@pytest.mark.parametrize("name", ["../conversations.json", "/conversations.json", "a/../../x", "..\\x", "C:\\x"])
async def test_a_zip_with_names_that_lead_out_is_refused(gateway: Running, tmp_path: Path, name: str) -> None:
    path = claude_zip(tmp_path / "a.zip", [lisbon()])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), "[]")
    assert "leads out of it" in await refused(gateway, "claude", path)


async def test_zips_that_are_bombs_cut_locked_or_links_are_refused(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    before = tree(daybook)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 60_000_000 + b"]")
    assert "unpacks to far more" in await refused(gateway, "claude", bomb)

    whole = claude_zip(tmp_path / "whole.zip", [lisbon()]).read_bytes()
    cut = tmp_path / "cut.zip"
    for end in (0, 10, len(whole) // 2, len(whole) - 5):
        cut.write_bytes(whole[:end])
        text = await refused(gateway, "claude", cut)
        assert "damaged" in text or "is empty" in text
    broken = bytearray(whole)
    broken[60:90] = bytes(30)
    cut.write_bytes(broken)
    assert "damaged" in await refused(gateway, "claude", cut)

    locked = bytearray(whole)
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    cut.write_bytes(locked)
    assert "password" in await refused(gateway, "claude", cut)

    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(cut, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "holds a link" in await refused(gateway, "claude", cut)
    assert tree(daybook) == before


@pytest.mark.skipif(os.name != "posix", reason="sparse files")
async def test_files_of_gigabytes_are_refused_by_their_size(gateway: Running, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)
    assert "2,000 MB" in await refused(gateway, "claude", path)
    folder = tmp_path / "linked"
    folder.mkdir()
    (folder / "conversations.json").symlink_to(path)
    assert "no conversations.json" in await refused(gateway, "claude", folder)


async def test_elements_come_one_by_one_from_any_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = [{"a": '{["\\' * 50}, {"b": "Grüße 🙂"}, [], {}]
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = tmp_path / encoding
        path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding=encoding)
        with path.open("rb") as file:
            assert list(json_stream.elements(file, "x.json", 10_000)) == value
        with path.open("rb") as file, pytest.raises(values.ImportRefused, match="larger than"):
            list(json_stream.elements(file, "x.json", 100))
    assert values.MOST_BYTES >= 1_000_000_000


@pytest.mark.skipif(os.name != "posix", reason="locks of folders")
async def test_an_import_is_finished_though_whoever_asked_has_left(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    notes = daybook.workspace / "memory" / "notes"
    notes.mkdir(parents=True)
    path = claude_zip(tmp_path / "a.zip", [lisbon()], memories=[{"conversations_memory": "Anna likes fish."}])
    held = os.open(notes, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    asking = asyncio.create_task(bring(gateway, "claude", path))
    await asyncio.to_thread(until_there, daybook.workspace / DAY)
    asking.cancel()
    await asyncio.wait({asking})
    next_one = asyncio.create_task(bring(gateway, "claude", path))
    os.close(held)
    assert (await next_one)["files"] == [], "it waits for the first, and finds all of it"
    (listed,) = await gateway.ask("import.list")
    assert listed["finished"] and listed["files"] == 2
