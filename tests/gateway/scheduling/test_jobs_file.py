"""schedule.yaml: read with the line of every mistake, edited so that all the rest stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.scheduling import job as job_
from gateway.scheduling.builtins import RESERVED, summary_of
from gateway.scheduling.job import InvalidJob, Job, new_id
from gateway.scheduling.jobs_file import (
    InvalidJobsFile,
    NotEditable,
    read,
    switched,
    with_job,
    without_job,
    without_jobs,
)

BY_HAND = """\
# My jobs.
jobs:
  # Keeps me alive.
  - id: water          # every two hours
    kind: message
    text: Drink a glass of water
    when: {every: 2h}
    to: owner

  - id: weather
    kind: prompt
    text: >
      Tell me the weather
      in a line.
    when:
      cron: "0 8 * * 1-5"   # not on weekends
    to: telegram:-100123
    timezone: Asia/Tokyo
# The end.
"""

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\x85"), min_size=1, max_size=60)
jobs = st.builds(
    lambda id, text, when, kind, to, enabled: job_.read(
        {"id": id, "text": f"x{text}", "when": when, "kind": kind, "to": to, "enabled": enabled}
    ),
    st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True).filter(lambda id: id not in RESERVED),
    texts,
    st.sampled_from([{"every": "2h"}, {"at": "2026-11-22T15:00"}, {"cron": "0 8 * * 1-5"}]),
    st.sampled_from(["message", "prompt"]),
    st.sampled_from(["owner", "telegram:-100123:7", "discord:99"]),
    st.sampled_from(["true", "false"]),
)


def job(id: str = "milk", text: str = "Buy milk") -> Job:
    return job_.read({"id": id, "text": text, "when": {"at": "2026-11-22T15:00"}})


def test_what_stands_there() -> None:
    water, weather = read(BY_HAND).jobs
    assert (water.id, water.to, water.enabled, water.catch_up) == ("water", "owner", True, True)
    assert weather.text == "Tell me the weather in a line."
    assert weather.timezone == "Asia/Tokyo"


def test_our_edits_change_the_lines_of_one_job_only() -> None:
    added = with_job(BY_HAND, job())
    assert set(BY_HAND.splitlines()) < set(added.splitlines())
    assert "# The end." in added and "# Keeps me alive." in added
    paused = switched(added, "water", enabled=False)
    assert set(paused.splitlines()) - set(added.splitlines()) == {"    enabled: false"}
    resumed = switched(paused, "water", enabled=True)
    assert read(resumed).jobs == read(added).jobs
    removed = without_job(resumed, "milk")
    assert removed.replace("    enabled: true\n", "") == BY_HAND
    assert read(without_job(without_job(removed, "water"), "weather")).jobs == ()


@given(st.lists(jobs, max_size=6, unique_by=lambda job: job.id), st.data())
def test_any_jobs_can_be_added_switched_and_removed(some: list[Job], data: st.DataObject) -> None:
    text = "# mine\njobs: []\n"
    for one in some:
        text = with_job(text, one)
    assert read(text).jobs == tuple(some)
    for one in data.draw(st.permutations(some)):
        text = switched(text, one.id, enabled=not one.enabled)
        assert next(job for job in read(text).jobs if job.id == one.id).enabled is not one.enabled
        text = without_job(text, one.id)
    assert read(text).jobs == () and text.startswith("# mine\n")


@pytest.mark.parametrize(
    "odd", ["\ufffe", "\uffff", "\ufeff", "\x7f", "\x80", "\x85", "\u2028", "\u2029", "\b", "\x1c", "\U0001fffe"]
)
def test_a_character_that_yaml_does_not_take_as_it_is_can_be_said(odd: str) -> None:
    text = with_job(with_job(BY_HAND, job(text=f"a{odd}b")), job("after"))
    assert read(text).jobs[-2].text == f"a{odd}b"
    assert read(without_job(switched(text, "milk", enabled=False), "after")).jobs[-1].text == f"a{odd}b"


@given(st.lists(jobs, max_size=6, unique_by=lambda job: job.id), st.data())
def test_any_of_them_go_at_once(some: list[Job], data: st.DataObject) -> None:
    text = "# mine\njobs:\n"
    for one in some:
        text = with_job(text, one)
    ids = {job.id for job in data.draw(st.lists(st.sampled_from(some), unique_by=lambda job: job.id))} if some else ()
    left = without_jobs(text, ids)
    assert read(left).jobs == tuple(one for one in some if one.id not in ids) and left.startswith("# mine\n")


@pytest.mark.parametrize("text", ["jobs:\n", "# mine\njobs: []\n", BY_HAND])
def test_a_file_from_windows_is_edited_like_any_other(text: str) -> None:
    theirs = text.replace("\n", "\r\n")
    before = read(theirs).jobs
    added = with_job(theirs, job())
    assert read(added).jobs == (*before, job())
    assert read(switched(added, "milk", enabled=False)).jobs[-1].enabled is False
    assert read(without_job(added, "milk")).jobs == before
    assert read(without_jobs(added, {one.id for one in read(added).jobs})).jobs == ()


@pytest.mark.parametrize("empty", ["", "jobs:\n", "jobs: []", "jobs: [ ]  # none\n", "# only words\n", "jobs: ~\n"])
def test_an_empty_file_takes_a_first_job(empty: str) -> None:
    text = with_job(empty, job())
    assert read(text).jobs == (job(),)
    assert ("#" in text) == ("#" in empty)


def test_what_cannot_be_edited_without_rewriting_it_is_left_alone() -> None:
    one_line = "jobs: [{id: a, text: x, when: {every: 2h}}, {id: b, text: y, when: {every: 2h}}]\n"
    assert len(read(one_line).jobs) == 2
    assert [one.enabled for one in read(switched(one_line, "b", enabled=False)).jobs] == [True, False]
    with pytest.raises(NotEditable):
        without_job(one_line, "a")
    with pytest.raises(NotEditable):
        with_job(one_line, job())
    with pytest.raises(KeyError):
        without_job(BY_HAND, "nothing")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("jobs: [", "line 2"),
        ("- a\n", "must begin with `jobs:`"),
        ("jobs: {a: b}\n", "must be a list"),
        ("tasks: []\n", "no key 'tasks'"),
        ("jobs:\n\t- a", "line 2"),
        ("just words", "must begin with"),
    ],
)
def test_a_broken_file_is_told_with_its_line(text: str, why: str) -> None:
    with pytest.raises(InvalidJobsFile, match=why):
        read(text)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("id: Water", "allowed: a name of a-z"),
        ("kind: message", "`id` is missing"),
        ("id: journal", "of Daybook's own"),
        ("id: a, text: ''", "`text` is empty"),
        ("id: a, kind: shout", "allowed: message, prompt"),
        ("id: a, txt: x", "no key 'txt'"),
        ("id: a, when: tomorrow", "`when` is 'tomorrow'; allowed: `when: {at:"),
        ("id: a, when: ~", "`when` is missing; allowed"),
        ("id: a, every: 2h", "`every` belongs below `when`; allowed"),
        ("id: a, timezone: Europe/Berln", "Europe/Berlin"),
        ("id: a, to: nowhere", "not a chat address"),
        ("id: a, enabled: perhaps", "allowed: true, false"),
        ("id: a, id: b", "is there twice"),
        ("id: a, text: [x]", "must be a text"),
    ],
)
def test_a_bad_job_is_told_with_its_line_and_the_others_stay(fields: str, why: str) -> None:
    rest = "".join(
        f", {name}: {value}"
        for name, value in (("text", "x"), ("when", "{every: 2h}"))
        if f"{name}:" not in fields.replace("txt", "")
    )
    found = read(f"jobs:\n  - {{id: good, text: x, when: {{every: 2h}}}}\n  - {{{fields}{rest}}}\n")
    assert [one.id for one in found.jobs] == ["good"]
    assert str(found.problems[0]).startswith("line 3: ") and why in found.problems[0].why


def test_words_without_quotes_mean_what_they_say() -> None:
    (one,) = read("jobs:\n  - {id: '007', text: no, when: {at: 2026-11-22T15:00:00}, to: telegram:11111}\n").jobs
    assert (one.id, one.text, one.to) == ("007", "no", "telegram:11111")


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        read(text)
    except InvalidJobsFile as error:
        assert str(error)


def test_ids_tell_what_a_job_is_about() -> None:
    assert new_id("Call Ann about the invoice of May!", []) == "call-ann-about-the"
    assert new_id("Buy milk", ["buy-milk", "buy-milk-2"]) == "buy-milk-3"
    assert new_id("買牛奶", []) == "job"
    assert new_id("Müll und Gemüse für Zoë", []) == "mull-und-gemuse-fur"
    assert new_id("Journal", []) == "journal-2"


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidJob, match="20,000 are allowed"):
        job(text="x" * 20_001)


OWN = [*sorted(RESERVED), summary_of("telegram:1"), summary_of("telegram:-1001"), summary_of("web:main")]


@pytest.mark.parametrize("id", OWN)
def test_no_job_takes_the_name_of_one_of_daybooks_own(id: str) -> None:
    """It would stand in the other's place, which would not run any more."""
    fields = {"id": id, "text": "x", "when": {"every": "2h"}}
    with pytest.raises(InvalidJob, match=f"'{id}', which is a name of Daybook's own jobs; take another"):
        job_.read(fields)
    (problem,) = read(f"jobs:\n  - {{id: {id}, text: x, when: {{every: 2h}}}}\n").problems
    assert "Daybook's own" in str(problem)
    assert job_.checked_id(new_id(id.replace("-", " "), ())) not in OWN


@pytest.mark.parametrize("id", ["daily-summary-of-sales", "daily-summary-telegram", "journal-2", "summary"])
def test_names_that_only_sound_alike_are_free(id: str) -> None:
    assert job_.checked_id(id) == id
