"""Ids are opaque: whatever a platform calls people and chats comes back from text, and has a folder of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.ids import Address, PersonId, folder_name, thread_folder

CHANNELS = st.sampled_from(["telegram", "discord", "matrix", "web"])
IDS = st.text(st.characters(codec="utf-8"), min_size=1) | st.text("%:3Aa25 \n", min_size=1)
MATRIX = ("@ann:example.org", "!Room/9:example.org", "$A:b/c", "%3A", "a b", " a ", "..")


@given(CHANNELS, IDS, st.none() | IDS)
def test_every_address_and_account_is_read_as_it_was_written(channel: str, id: str, thread: str | None) -> None:
    address, person = Address(channel, id, thread), PersonId(channel, id)
    assert (Address.parse(str(address)), PersonId.parse(str(person))) == (address, person)
    assert str(person) == str(Address(channel, id))


@given(st.lists(IDS, min_size=2, max_size=2, unique=True))
def test_ids_that_differ_have_folders_that_differ_on_every_disk(ids: list[str]) -> None:
    one, other = (folder_name("matrix", id).casefold() for id in ids)
    assert one != other
    assert not {"/", "\\", ":"} & {*one} and 0 < len(one) <= 255 and thread_folder(ids[0]) not in (".", "..")


@pytest.mark.parametrize("id", ["11111", "-100123"])
def test_the_forms_of_numeric_ids_are_as_they_always_were(id: str) -> None:
    assert str(PersonId("telegram", id)) == f"telegram:{id}"
    assert str(Address("telegram", id, "7")) == f"telegram:{id}:7"
    assert (folder_name("telegram", id), thread_folder("7")) == (f"telegram-{id}", "7")


def test_names_of_terminals_and_pages_are_as_they_always_were() -> None:
    for name in ("main", "my work", "50%", "a-b_c", "Café"):
        assert str(Address("terminal", name)) == f"terminal:{name}"


@pytest.mark.parametrize("id", MATRIX)
def test_odd_ids(id: str) -> None:
    assert Address.parse(str(Address("matrix", id, id))) == Address("matrix", id, id)


def test_an_account_may_be_written_as_its_platform_writes_it() -> None:
    person = PersonId("matrix", "@ann:example.org")
    assert PersonId.parse("matrix:@ann:example.org") == PersonId.parse("matrix:@ann%3Aexample.org") == person
