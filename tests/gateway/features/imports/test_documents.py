"""Documents that were written in a conversation: Canvas of ChatGPT, Artifacts and files of Claude."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.features.imports import chatgpt, claude
from gateway.features.imports.documents import LOOSE, MOST_OF_DOCUMENT
from gateway.features.imports.values import Findings, ImportedChat
from tests.gateway.conftest import Daybook, Running
from tests.gateway.features.imports.conftest import bring
from tests.gateway.features.imports.made import (
    KEY,
    canvas,
    canvas_answer,
    chatgpt_chat,
    chatgpt_message,
    claude_chat,
    claude_message,
    claude_use,
    claude_zip,
)

AT = 1741083731.0
PLAN = "# Plan\n\n- beans\n- peas (few)"


def created(name: str = "Plan", content: str = PLAN) -> dict[str, Any]:
    return canvas("create_textdoc", {"name": name, "type": "document", "content": content}, AT)


def updated(*changes: tuple[str, str], multiple: bool = False) -> dict[str, Any]:
    made = [{"pattern": old, "multiple": multiple, "replacement": new} for old, new in changes]
    return canvas("update_textdoc", {"updates": made}, AT + 60)


def of_chatgpt(*messages: Any) -> tuple[ImportedChat, Findings]:
    findings = Findings()
    chat = chatgpt.chat(chatgpt_chat(chatgpt_message("user", "Write a plan", AT), *messages), findings)
    assert chat is not None
    return chat, findings


def of_claude(*messages: list[dict[str, Any]]) -> tuple[ImportedChat, Findings]:
    findings = Findings()
    said = [
        claude_message("assistant", "", f"2025-03-04T10:2{n}:00Z", content=blocks) for n, blocks in enumerate(messages)
    ]
    chat = claude.chat(claude_chat(claude_message("human", "Write it", "2025-03-04T10:00:00Z"), *said), findings)
    assert chat is not None
    return chat, findings


def documents(chat: ImportedChat) -> dict[str, str]:
    found = [one for message in chat.messages for one in message.documents]
    assert len({one.name for one in found}) == len(found)
    return {one.name: one.text for one in found}


def told(findings: Findings) -> str:
    return "; ".join(f"{one.what} {one.why}" for one in findings.skipped)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ([], PLAN),
        ([updated((".*", "all new"))], "all new"),
        ([updated((r"(?s)^.*$", r"a\d\\b \1"))], r"a\d\\b \1"),
        ([updated((r"[\s\S]*", "all new"))], "all new"),
        *(
            ([updated((whole, "all new"))], "all new")
            for whole in (r"\A(?:.|\n)+\Z", r"(.|\n)*", r"(?ms)^.+$", "(?s).*?", r"^[\w\W]*$", r"[\S\s]+?")
        ),
        ([updated(("beans", "kale"))], "# Plan\n\n- kale\n- peas (few)"),
        ([updated((r"\- peas \(few\)", "- peas"))], "# Plan\n\n- beans\n- peas"),
        ([updated(("peas (few)", "peas"))], "# Plan\n\n- beans\n- peas"),
        ([updated((r"- beans\n", ""))], "# Plan\n\n- peas (few)"),
        ([updated(("- ", "* "), multiple=True)], "# Plan\n\n* beans\n* peas (few)"),
        ([updated(("- ", "* "))], "# Plan\n\n* beans\n- peas (few)"),
        ([updated(("beans", "kale"), ("kale", "leek"))], "# Plan\n\n- leek\n- peas (few)"),
        ([updated((".*", "")), updated((".*", "back"))], "back"),
    ],
)
def test_a_canvas_comes_in_its_last_version(changes: list[Any], text: str) -> None:
    chat, findings = of_chatgpt(created(), *changes, chatgpt_message("assistant", "Done.", AT + 90))
    assert documents(chat) == {"Plan": text}
    assert chat.messages[-1].text == "Done." and findings.skipped == []


def test_the_document_comes_with_its_last_change_and_remarks_are_said() -> None:
    remark = canvas("comment_textdoc", {"comments": [{"pattern": "beans", "comment": "Too early"}]}, AT + 40)
    chat, findings = of_chatgpt(
        created(), chatgpt_message("assistant", "Done.", AT + 30), remark, updated((".*", "all new"))
    )
    assert [(one.speaker, one.text, len(one.documents)) for one in chat.messages] == [
        ("User", "Write a plan", 0),
        ("ChatGPT", "Done.", 0),
        ("ChatGPT", "Too early", 0),
        ("ChatGPT", "", 1),
    ]
    assert findings.skipped == []


@pytest.mark.parametrize("pattern", ["b.ans|peas", "nowhere", "", r"(a+)+$", r"\bbeans", "- .*", r"- beans[\s\S]*"])
def test_words_of_a_change_that_cannot_be_followed_stand_below_the_text(pattern: str) -> None:
    chat, findings = of_chatgpt(created(), updated((pattern, "sprouts"), ("# Plan", "# Mine")))
    assert documents(chat) == {"Plan": f"# Mine\n\n- beans\n- peas (few)\n\n{LOOSE}\nsprouts"}
    assert told(findings) == "“Plan” in “Trip” is not as it was last: 1 change could not be followed"
    chat, findings = of_chatgpt(created(), updated((pattern, "sprouts")), updated((".*", "whole again")))
    assert documents(chat) == {"Plan": "whole again"} and findings.skipped == []


def test_what_is_no_canvas_is_counted() -> None:
    broken: list[Any] = ["{", "[]", '{"name": "x"}', '{"content": 1}', "[" * 100_000]
    lost = [canvas("create_textdoc", text, AT) for text in broken]
    chat, findings = of_chatgpt(*lost, updated(("a", "b")), canvas("later_invented", {}, AT))
    assert documents(chat) == {} and told(findings) == "“Trip” holds 7 documents of Canvas that cannot be read"
    chat, findings = of_chatgpt(created(), canvas("update_textdoc", "{", AT), canvas("update_textdoc", {}, AT))
    assert documents(chat) == {"Plan": PLAN}
    assert told(findings) == "“Plan” in “Trip” is not as it was last: 2 changes could not be followed"


def test_a_canvas_is_read_where_exports_of_other_times_keep_it() -> None:
    in_parts = chatgpt_message("assistant", json.dumps({"name": "Plan", "content": PLAN}), AT)
    cut = json.dumps({"updates": [{"pattern": ".*", "replacement": "all new"}]}).removesuffix("]}")
    chat, findings = of_chatgpt(in_parts | {"recipient": "canmore.create_textdoc"}, canvas("update_textdoc", cut, AT))
    assert documents(chat) == {"Plan": "all new"} and findings.skipped == []


def test_of_two_canvases_the_meant_one_is_changed_and_has_the_name_that_is_shown() -> None:
    chat, _ = of_chatgpt(
        *(created("a_plan", "one"), canvas_answer("a", "A plan"), created("b", "two"), canvas_answer("b")),
        *(updated((".*", "first")), canvas_answer("a", "My plan")),
        updated((".*", "last without an answer")),
    )
    assert documents(chat) == {"My plan": "last without an answer", "b": "two"}
    chat, _ = of_chatgpt(created("A", "one"), created("B", "two"), updated((".*", "second")), canvas_answer("b", "B"))
    assert documents(chat) == {"A": "one", "B": "second"}, "whose ids nobody told"
    chat, _ = of_chatgpt(updated((".*", "begun in another branch")), canvas_answer("c", "C"))
    assert documents(chat) == {"C": "begun in another branch"}


def test_a_branch_that_is_not_in_view_brings_no_document() -> None:
    chat = chatgpt_chat(chatgpt_message("user", "Write", AT), created(), updated(("beans", "kale")))
    chat["mapping"]["other"] = {"id": "other", "parent": "n1", "message": updated((".*", "of the other branch"))}
    found = chatgpt.chat(chat, Findings())
    assert found is not None and "kale" in documents(found)["Plan"]


def test_artifacts_come_in_their_last_version() -> None:
    make = {"id": "trip", "type": "text/markdown", "title": "Trip", "command": "create", "content": "Day one: sea"}
    chat, findings = of_claude(
        [claude_use("artifacts", make), {"type": "text", "text": "There."}],
        [claude_use("artifacts", {**make, "id": "other", "title": "Other"})],
        [claude_use("artifacts", {"id": "trip", "command": "update", "old_str": "sea", "new_str": "hills"})],
        [claude_use("artifacts", {"id": "other", "command": "rewrite", "content": "Anew", "title": "Other one"})],
    )
    assert documents(chat) == {"Trip": "Day one: hills", "Other one": "Anew"} and findings.skipped == []
    assert [len(one.documents) for one in chat.messages] == [0, 0, 1, 1]


def test_artifacts_without_ids_are_all_kept() -> None:
    chat, findings = of_claude(
        [claude_use("artifacts", {"title": one, "command": "create", "content": f"Of {one}"}) for one in "AB"],
        [claude_use("artifacts", {"command": "update", "old_str": "Of", "new_str": "By"})],
        [claude_use("artifacts", {"command": "rewrite", "content": "B anew"})],
    )
    assert documents(chat) == {"A": "Of A", "B": "B anew"} and findings.skipped == []


def test_files_come_in_their_last_version_without_what_failed_there_too() -> None:
    path = "/mnt/user-data/outputs/trip.md"
    failed = {"path": path, "old_str": "gone", "new_str": "x"}
    chat, findings = of_claude(
        [claude_use("create_file", {"path": path, "file_text": "Day one: sea (far)"})],
        [
            claude_use("str_replace", {"path": path, "old_str": "sea", "new_str": "hills"}, "t1"),
            claude_use("str_replace", failed, "t2"),
            {"type": "tool_result", "tool_use_id": "t1", "is_error": False, "content": []},
            {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": []},
            claude_use("str_replace", failed),
            {"type": "tool_result", "tool_use_id": None, "is_error": True, "content": []},
            claude_use("str_replace", {"path": path, "old_str": " (far)"}),
        ],
    )
    assert documents(chat) == {"trip.md": "Day one: hills"} and findings.skipped == []


def test_artifacts_that_cannot_be_read_are_counted_and_named() -> None:
    chat, findings = of_claude(
        [
            claude_use("artifacts", {"id": "a", "command": "create"}),
            claude_use("artifacts", None),
            claude_use("str_replace", {"path": "/x/made_by_a_program.py", "old_str": "a", "new_str": "b"}),
            claude_use("str_replace", {"path": "/x/made_by_a_program.py", "old_str": "b", "new_str": "c"}),
            claude_use("str_replace", {"path": "c.md", "old_str": "b", "new_str": "c"}),
            claude_use("create_file", {"path": "c.md", "file_text": "Written later"}),
            claude_use("web_search", {"query": "sea"}),
        ],
        [
            claude_use("create_file", {"path": "b.md", "file_text": "Sea"}),
            claude_use("str_replace", {"path": "b.md", "old_str": "no", "new_str": "boat"}),
            claude_use("str_replace", {"path": "b.md"}),
        ],
    )
    assert documents(chat) == {"b.md": f"Sea\n\n{LOOSE}\nboat", "c.md": "Written later"}
    assert told(findings) == (
        "“Trip to Lisbon” holds 3 documents of Claude's that cannot be read; "
        "“b.md” in “Trip to Lisbon” is not as it was last: 2 changes could not be followed"
    )


def test_the_words_that_stand_for_an_artifact_are_not_said() -> None:
    instead = "Viewing artifacts created via the Analysis Tool web feature preview isn't yet supported on mobile."
    made = claude_use("artifacts", {"id": "a", "command": "create", "title": "A", "content": "sea"})
    said = claude_message("assistant", instead, content=[made])
    chat = claude.chat(claude_chat(said), Findings())
    assert chat is not None and [one.text for one in chat.messages] == [""] and documents(chat) == {"A": "sea"}


def test_a_document_of_the_assistant_stands_beside_what_was_given() -> None:
    made = claude_use("create_file", {"path": "/b.md", "file_text": "made"})
    given_ = [{"file_name": "a.md", "extracted_content": "given"}]
    chat = claude.chat(claude_chat(claude_message("assistant", "", content=[made], attachments=given_)), Findings())
    assert chat is not None and documents(chat) == {"a.md": "given", "b.md": "made"}


def test_a_document_cannot_grow_without_end_and_many_changes_take_little_time() -> None:
    doubled = [updated(("a", "a" * 1000), multiple=True) for _ in range(5)]
    chat, findings = of_chatgpt(created(content="a" * 1000), *doubled)
    assert len(documents(chat)["Plan"]) <= MOST_OF_DOCUMENT and "could not be followed" in told(findings)

    long = [updated((f"<{n}>", f"<{n + 1}>")) for n in range(2_000)]
    begun = time.process_time()
    chat, findings = of_chatgpt(created(content="word " * 40_000 + "<0>"), *long, updated(("(a*)*b" * 10_000, "x")))
    assert documents(chat)["Plan"].endswith(f"<2000>\n\n{LOOSE}\nx") and time.process_time() - begun < 10


# through the gateway


async def test_both_come_with_title_and_mark_once_and_without_keys(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    chat = chatgpt_chat(
        chatgpt_message("user", "Write it", AT),
        created("Garden plan", f"Beans behind the shed. {KEY}"),
        canvas_answer("a", "Garden plan"),
        updated(("Beans", "Kale")),
        chatgpt_message("assistant", "There it is.", AT + 90),
    )
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chat]))
    report = await bring(gateway, "chatgpt", path)
    text = (daybook.workspace / "memory/imported/chatgpt/2025-03-04.md").read_text()
    assert (
        "- 11:23 ChatGPT, document Garden plan:\n"
        "  Kale behind the shed. [an Anthropic key was left out] (from: Garden plan, ChatGPT import)\n"
        "- 11:23 ChatGPT: There it is. (from: ChatGPT import)\n"
    ) in text
    assert "Beans" not in text and KEY not in text and report["skipped"] == []
    assert (await bring(gateway, "chatgpt", path))["already"] == 1

    chat["mapping"]["more"] = {"id": "more", "parent": chat["current_node"], "message": updated((".*", "Only leeks"))}
    chat["mapping"]["more"]["message"]["create_time"] = AT + 86_400
    chat["current_node"] = "more"
    path.write_text(json.dumps([chat]))
    assert (await bring(gateway, "chatgpt", path))["messages"] == 1, "what was written later is new"
    assert "Only leeks" in (daybook.workspace / "memory/imported/chatgpt/2025-03-05.md").read_text()


async def test_a_conversation_of_documents_alone_comes_and_a_huge_one_is_cut(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    blocks = [
        claude_use("create_file", {"path": f"/home/claude/{name}.md", "file_text": text})
        for name, text in (("small", "The ferry leaves at nine."), ("huge", "word " * 600_000))
    ]
    chat = claude_chat(claude_message("assistant", "", content=blocks))
    report = await bring(gateway, "claude", claude_zip(tmp_path / "a.zip", [chat]))
    assert (report["conversations"], len(report["skipped"])) == (1, 1)
    assert "huge.md" in report["skipped"][0]["what"] and "was cut" in report["skipped"][0]["why"]
    found = await gateway.ask("memory.search", query="when does the ferry leave", scope="owner")
    assert "The ferry leaves at nine" in json.dumps(found)
    assert (await bring(gateway, "claude", tmp_path / "a.zip"))["files"] == []


PIECES = st.one_of(st.none(), st.integers(), st.text(max_size=6), st.sampled_from([".*", "Plan", "\\", "\\("]))
INPUTS = st.dictionaries(
    st.sampled_from(
        ["name", "content", "updates", "id", "path", "command", "old_str", "new_str", "file_text", "title", "comments"]
    ),
    st.one_of(
        PIECES,
        st.sampled_from(["create", "update", "rewrite"]),
        st.lists(
            st.dictionaries(st.sampled_from(["pattern", "replacement", "multiple", "comment"]), PIECES), max_size=3
        ),
    ),
)
CALLS = st.sampled_from(["create_textdoc", "update_textdoc", "comment_textdoc", "?"])


@given(
    st.lists(st.tuples(CALLS, INPUTS, st.one_of(st.none(), st.sampled_from("ab")))),
    st.lists(st.tuples(st.sampled_from(["artifacts", "create_file", "str_replace", "?"]), INPUTS)),
)
def test_no_call_is_too_odd(calls: list[tuple[str, Any, str | None]], uses: list[tuple[str, Any]]) -> None:
    pairs = [(canvas(call, value, AT), canvas_answer(id) if id else None) for call, value, id in calls]
    chat, findings = of_chatgpt(*(one for pair in pairs for one in pair if one))
    other, others = of_claude([claude_use(name, value) for name, value in uses])
    for each, found in ((chat, findings), (other, others)):
        assert all(one.text.strip() and one.name for m in each.messages for one in m.documents)
        assert all(m.text.strip() or m.documents for m in each.messages)
        assert all(one.what and one.why for one in found.skipped)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xyz ", min_size=1, max_size=5)), min_size=1))
def test_of_documents_written_anew_each_is_there_once_as_it_was_last(written: list[tuple[str, str]]) -> None:
    last = {name: text.strip() for name, text in written if text.strip() or name}
    expected = {name: text for name, text in last.items() if text}
    uses = [claude_use("create_file", {"path": f"/{name}", "file_text": text}) for name, text in written]
    assert documents(of_claude(uses)[0]) == expected
    assert documents(of_claude(*([one] for one in uses[:9]))[0]).keys() <= {name for name, _ in written}
    calls = [
        one
        for name, text in written
        for one in (canvas("create_textdoc", {"name": name, "content": text}, AT), canvas_answer(name))
    ]
    assert documents(of_chatgpt(*calls)[0]) == expected
