"""Trees of ChatGPT's exports, whatever they look like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.features.imports import chatgpt, claude
from gateway.features.imports.conversations import in_order
from gateway.features.imports.json_stream import elements
from gateway.features.imports.secrets import without_secrets
from gateway.features.imports.values import Findings, FoundSecret, ImportedMessage
from gateway.features.imports.workspaces import new_lines
from tests.gateway.features.imports.made import KEY, chatgpt_message

NAMES = st.sampled_from("abcdefgh")
NODES = st.dictionaries(
    NAMES,
    st.fixed_dictionaries(
        {"parent": st.one_of(st.none(), NAMES, st.just("missing"), st.integers())},
        optional={
            "message": st.one_of(
                st.none(), st.builds(chatgpt_message, st.just("user"), st.text(min_size=1), st.floats())
            )
        },
    ),
)
ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)
FIELDS = (
    *("mapping", "current_node", "title", "create_time", "message", "author", "role", "content", "content_type"),
    *("parts", "text", "metadata", "recipient", "uuid", "name", "chat_messages", "sender", "created_at"),
    *("attachments", "extracted_content", "type", "user", "human", "assistant"),
)
LIKELY = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(FIELDS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)),
    max_leaves=20,
)


@given(NODES, st.one_of(NAMES, st.none(), st.integers()))
def test_a_branch_ends_goes_from_parent_to_child_and_names_each_node_once(
    nodes: Mapping[str, Mapping[str, Any]], current: Any
) -> None:
    found = chatgpt.branch(nodes, current)
    assert bool(found) == bool(nodes)
    assert len({id(node) for node in found}) == len(found) <= len(nodes)
    for parent, child in pairwise(found):
        assert nodes[child["parent"]] is parent
    if current in nodes:
        assert found[-1] is nodes[current]


@pytest.mark.parametrize("current", ["c", None, "gone"])
def test_a_cycle_is_walked_once(current: str | None) -> None:
    nodes = {
        "a": {"parent": "c", "message": chatgpt_message("user", "1", 1.7e9)},
        "b": {"parent": "a", "message": chatgpt_message("assistant", "2", 1.7e9 + 1)},
        "c": {"parent": "b", "message": chatgpt_message("user", "3", 1.7e9 + 2)},
    }
    value = {"title": "x", "mapping": nodes, "current_node": current, "create_time": 1.7e9}
    chat = chatgpt.chat(value, Findings())
    assert chat is not None and [one.text for one in chat.messages] == ["1", "2", "3"]


@given(st.lists(st.one_of(LIKELY, ANYTHING), max_size=4))
def test_no_value_is_too_odd_for_an_export(values: list[Any]) -> None:
    for own in (chatgpt, claude):
        findings = Findings()
        for chat in own.chats(iter(values), findings):
            assert chat.messages and all(one.at.tzinfo and 1980 <= one.at.year < 2200 for one in chat.messages)
    list(claude.memories(iter(values), Findings()))
    list(claude.projects(iter(values), Findings()))


@given(st.lists(st.one_of(st.dictionaries(st.text(), ANYTHING), st.lists(ANYTHING))), st.sampled_from([None, 1, "\t"]))
def test_a_list_read_in_pieces_is_the_list(values: list[Any], indent: Any) -> None:
    text = json.dumps(values, indent=indent)
    assert list(elements(BytesIO(text.encode()), "x.json", 10_000_000)) == values


@given(st.lists(st.integers(0, 5)))
def test_moments_only_grow(seconds: list[int]) -> None:
    begin = datetime(2025, 3, 4, tzinfo=UTC)
    given_ = [ImportedMessage(begin + timedelta(seconds=one), "User", str(n)) for n, one in enumerate(seconds)]
    found = list(in_order(given_))
    assert [one.text for one in found] == [one.text for one in given_]
    assert all(one.at < other.at for one, other in pairwise(found))


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_key_is_found_whatever_is_around_it(before: str, after: str) -> None:
    found: list[FoundSecret] = []
    text = without_secrets(f"{before} {KEY} {after}", "here", found)
    assert KEY not in text and found


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("123456789:" + "AAF0123456789abcdefghijklmnopqrstuv", "a Telegram token"),
        (f"{'Ab1' * 8}.Gabc12.{'xY3' * 10}", "a Discord token"),
        ("ghp_" + "a1B2" * 9, "a GitHub token"),
        ("AKIA" + "ABCDEFGH12345678", "an AWS key"),
        ("xoxb-" + "1234567890-abc", "a Slack token"),
        ("AIza" + "Ab1-" * 8, "a Google key"),
        ("glpat-" + "Ab1x" * 5, "a GitLab token"),
        ("hf_" + "Ab1x" * 8, "a Hugging Face token"),
        ("sk_live_" + "Ab1x" * 6, "a Stripe key"),
        (f"eyJ{'a1' * 9}.eyJ{'b2' * 9}.{'c3' * 9}", "a login token"),
    ],
)
def test_every_kind_of_key_is_named(key: str, kind: str) -> None:
    found: list[FoundSecret] = []
    assert without_secrets(f"it is {key}, keep it", "here", found) == f"it is [{kind} was left out], keep it"
    assert found == [FoundSecret(kind, "here")]


def test_a_text_without_a_key_stays() -> None:
    text = "The password is on the fridge: see https://example.org/a@b and task-force-one-two-three-four."
    assert without_secrets(text, "here", []) == text


@given(st.lists(st.sampled_from(["# T", "## A", "### B", "- x", "- y", "", "plain"])), st.sampled_from(["", "- x\n"]))
def test_lines_are_merged_once(lines: list[str], present: str) -> None:
    text = "\n".join(lines)
    added = new_lines(text, present)
    said = {line for line in lines if line.strip() and not line.startswith("#")}
    assert {line for line in added.splitlines() if line.strip() and not line.startswith("#")} == said - set(
        present.split("\n")
    )
    assert new_lines(text, present + added) == ""
