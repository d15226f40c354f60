"""Moving house: a backup of a gateway that runs, restored elsewhere, goes on where it was."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.stores import settings_of


async def test_a_restored_home_goes_on_where_the_old_one_was(
    telegram: FakeTelegram, model: FakeAnthropic, gateway: GatewayProcess, tmp_path: Path, store: str
) -> None:
    for text in ("Noted.", "It is Luna."):
        model.answer(text)
    (gateway.workspace / "MEMORY.md").write_text("- Tea, no milk\n", "utf-8")
    telegram.say("My cat is Luna.")
    await gateway.while_alive(telegram.next_message(OWNER))
    await gateway.until_status(lambda status: status["outbox"]["waiting"] == 0)
    file, elsewhere = tmp_path / "daybook.tar.gz", tmp_path / "elsewhere"
    made = await gateway.cli("backup", str(file))
    assert made.code == 0 and "1 conversation" in made.out and "read back" in made.out
    await gateway.kill()
    restored = await gateway.cli("restore", str(file), "--home", str(elsewhere))
    assert restored.code == 0
    gateway.home = elsewhere
    if store == "postgresql":
        assert "move them to an empty database" in restored.out
        refused = await gateway.cli("gateway")
        assert refused.code == 1 and "daybook migrate" in refused.err
        gateway.write_config({})
        url = settings_of(elsewhere)["database_url"]
        assert (await gateway.cli("migrate", str(url))).code == 0
    await gateway.start()
    telegram.say("What is my cat called?")
    await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(OWNER)) == 2))
    assert telegram.messages(OWNER)[-1].text == "It is Luna."
    asked = str(model.bodies[-1])
    assert "My cat is Luna." in asked and "Tea, no milk" in asked
