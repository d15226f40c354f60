"""What people chose stays chosen, also where another gateway's choice has all of them read again at that moment."""

from __future__ import annotations

import asyncio

from gateway.policy.preferences import OFF, Preferences
from gateway.store.database import Database


async def test_a_choice_is_kept_over_a_restart_and_can_be_taken_back(database: Database) -> None:
    preferences = Preferences(database)
    await preferences.choose_model("main/owner", "haiku")
    await preferences.choose_activation("telegram:-100", "optional")
    await preferences.choose_daily("telegram:1", OFF)
    again = Preferences(database)
    await again.load()
    assert (again.model("main/owner"), again.activation("telegram:-100")) == ("haiku", "optional")
    assert again.dailies == {"telegram:1": OFF}
    await again.choose_model("main/owner", None)
    await preferences.load()
    assert preferences.model("main/owner") is None


async def test_a_choice_made_while_all_are_read_again_is_not_lost(database: Database) -> None:
    preferences = Preferences(database)
    await asyncio.gather(
        preferences.load(),
        preferences.choose_model("main/owner", "haiku"),
        preferences.choose_activation("telegram:-100", "optional"),
        preferences.choose_daily("telegram:1", "20:00"),
    )
    assert preferences.model("main/owner") == "haiku"
    assert preferences.activation("telegram:-100") == "optional"
    assert preferences.dailies == {"telegram:1": "20:00"}
