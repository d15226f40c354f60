"""What /forget does to the words and the outputs of programs."""

from __future__ import annotations

from gateway.features.programs import rows
from gateway.features.programs.rows import ProgramKind, ProgramRow
from gateway.store import redaction_rows
from gateway.store.database import Database
from tests.gateway.conftest import Daybook, Say
from tests.gateway.test_redaction import MARK, without_luna


async def test_outputs_of_programs_are_forgotten_and_brought_back(daybook: Daybook) -> None:
    (daybook.workspace / "programs").mkdir(parents=True)
    (daybook.workspace / "MEMORY.md").write_text("- The cat is Luna\n")
    log = daybook.workspace / "programs" / "1.log"
    log.write_bytes(b"Luna sleeps\n\xff Rex runs\n")
    async with daybook.running():
        daybook.chat.say("/forget luna")
        await daybook.chat.wait_heard(1)
        daybook.chat.say("yes")
        await daybook.chat.wait_heard(2)
        assert log.read_bytes() == f"{MARK}\n".encode() + b"\xff Rex runs\n"
        daybook.chat.say("/undo")
        await daybook.chat.wait_heard(3)
        assert log.read_bytes() == b"Luna sleeps\n\xff Rex runs\n"


async def test_words_and_outputs_on_disk_are_struck_out_and_come_back(database: Database, say: Say) -> None:
    for key, argv in (("a", ("grep", "Luna", "cats.txt")), ("b", ("echo", "the cat", "is luna"))):
        row = ProgramRow(0, key, ProgramKind.APPROVED, "main/owner", say(""), argv, "", False, 60)
        await database.run(rows.add, row, "t")
    await database.run(rows.end, 1, "exited", 0, "t", output="Luna sleeps\nRex runs", told=False)
    await database.run(rows.end, 2, "exited", 0, "t", output="", told=True)
    before = [await database.run(rows.find, key) for key in ("a", "b")]
    fields = await database.run(redaction_rows.fields, rows.TEXTS)
    assert {field.place for field in fields} == {"main/owner"}
    struck = await database.run(redaction_rows.write, redaction_rows.struck(fields, without_luna))
    open_one, told = [await database.run(rows.find, key) for key in ("a", "b")]
    assert open_one is not None and open_one.output == "MARK\nRex runs"
    assert open_one.argv == ("grep", "Luna", "cats.txt"), "that is still to be told"
    assert told is not None and told.argv == ("echo", "the cat", "MARK")
    back = redaction_rows.back(struck)
    assert await database.run(redaction_rows.write, back) == tuple(back)
    assert [await database.run(rows.find, key) for key in ("a", "b")] == before
