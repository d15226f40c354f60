"""What each key of config.yaml is for."""

from __future__ import annotations

from gateway.config.reference import keys, sentences


def test_every_key_has_its_sentence_and_no_other() -> None:
    assert {key.name for key in keys()} == sentences().keys()
    assert all(key.text.endswith((".", "…")) for key in keys())


def test_keys_show_their_defaults_and_what_is_allowed() -> None:
    by_name = {key.name: key for key in keys()}
    assert by_name["schedule.daily_summary.time"].default == "21:00"
    assert by_name["session.queue_cap"].default == "20"
    assert by_name["model.effort"].allowed == "`low`, `medium`, `high`, `xhigh`, `max`"
    assert by_name["session.queue"].allowed == ""  # the sentence names them
