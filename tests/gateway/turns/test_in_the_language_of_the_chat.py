"""Whatever ends a turn without an answer of the model is said in the language of the chat, with no English word."""

from __future__ import annotations

import re

import pytest

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, translated
from agent.memory.scope import Audience
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Message, ModelError, ModelRequest, TryLater, Usage, UsageRecord
from agent.model.client import ResilientModel, ask
from agent.model.errors import ServerMessage, refusal, unexpected
from agent.model.offline.model import OfflineModel
from agent.model.openai.model import OpenAIModel
from agent.model.scripted import Hold, ScriptedAnswer, ScriptedModel
from agent.turn.outcome import CUT_EMPTY, CUT_OFF, DECLINED, EMPTY, TOO_LONG
from gateway.config.schema import LimitsConfig
from gateway.messages.suspects import SKIPPED, TRIED_ALONE_AFTER
from gateway.models import BudgetedModel, GuestLimitedModel
from gateway.server import Timeouts
from gateway.store.database import Database
from gateway.store.usage import UsageLedger
from gateway.turns.user_message import ADVICE
from tests import files
from tests.gateway.conftest import ALICE, STRANGER, Daybook, Moment, full_disk
from tests.gateway.messages.test_suspects import die
from tests.gateway.turns.test_turns import settled
from tests.languages import SAID

SESSION = f"main/{Audience.PERSON}/somebody"
OF_PEOPLE = [Language("de"), Language("fr"), Language.CHINESE]
_ENGLISH = {
    *("the", "is", "are", "you", "your", "this", "that", "it", "its", "and", "with", "has", "have", "my", "i", "to"),
    *(
        "please",
        "try",
        "again",
        "answer",
        "not",
        "can",
        "couldn",
        "didn",
        "of",
        "for",
        "after",
        "full",
        "gone",
        "empty",
    ),
    *(
        "seconds",
        "several",
        "times",
        "check",
        "conversation's",
        "stopped",
        "interrupted",
        "today's",
        "budget's",
        "used",
    ),
}
each = pytest.mark.parametrize("language", OF_PEOPLE)


def has_no_english(text: str) -> bool:
    words = set(re.findall(r"[a-z']+", re.sub(r"`[^`]*`|https?://\S+", "", text).lower()))
    return not words & _ENGLISH


def of(language: Language, *sentences: str) -> str:
    return "\n\n".join(str(translated(language, sentence)) for sentence in sentences)


def request(text: str = "Hi", purpose: str = "chat") -> ModelRequest:
    said = Message("user", ({"type": "text", "text": text},))
    return ModelRequest("some-model", (), (said,), (), 100, purpose, SESSION, cache="off")


async def error_of(model: AnthropicModel | OpenAIModel) -> ModelError:
    try:
        with pytest.raises(ModelError) as raised:
            await ask(model, request())
    finally:
        await model.aclose()
    return raised.value


REFUSALS = {
    "a false key": refusal(401, ServerMessage(), model="m"),
    "no credit": refusal(402, ServerMessage(), model="m"),
    "no right": refusal(403, ServerMessage(), model="m"),
    "no such address": refusal(404, ServerMessage(), model="m"),
    "no such model": refusal(404, ServerMessage(kind="not_found_error"), model="m"),
    "too long an answer": refusal(400, ServerMessage("max_tokens: 9000 > 4096"), model="m"),
    "overloaded": refusal(529, ServerMessage(), model="m"),
    "an error of the server": refusal(500, ServerMessage(), model="m"),
    "too many requests": refusal(429, ServerMessage(), model="m"),
    "a refused request": refusal(400, ServerMessage(), model="m"),
    "a web page": unexpected(ServerMessage(is_page=True), ""),
}


@each
@pytest.mark.parametrize("kind", REFUSALS)
async def test_a_model_that_fails(daybook: Daybook, language: Language, kind: str) -> None:
    problem = REFUSALS[kind]
    daybook.model.then(problem)
    async with daybook.running():
        daybook.chat.say(SAID[language])
        (heard,) = await daybook.chat.wait_heard()
    assert isinstance(problem.args[0], Sentence) and heard != str(problem)
    without_quotes = heard.replace("max_tokens: 9000 > 4096", "")
    assert has_no_english(without_quotes), heard


@each
async def test_a_server_that_is_not_there_and_variables_that_are_wrong(
    language: Language, moment: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what comes after all tries, as it is told."""
    unreachable = OpenAIModel("key", "http://127.0.0.1:9/v1", clock=moment.clock)
    problems: list[ModelError] = [await error_of(unreachable)]
    problems.append(await error_of(AnthropicModel("")))
    problems.append(await error_of(AnthropicModel("a key with spaces")))
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1080")
    problems.append(await error_of(AnthropicModel("key")))
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    problems.append(await error_of(AnthropicModel("key")))
    for problem in problems:
        assert has_no_english(of(language, str(problem))), of(language, str(problem))
    late = ResilientModel(ScriptedModel(TryLater(str(problems[0]), retry_after=600)))
    with pytest.raises(TryLater) as given_up:
        await ask(late, request())
    told = of(language, str(given_up.value))
    assert "10" in told and has_no_english(told), told


@each
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([ScriptedAnswer("", stop_reason="refusal")], [DECLINED]),
        ([ScriptedAnswer(""), ScriptedAnswer("")], [EMPTY]),
        ([ScriptedAnswer("", stop_reason="max_tokens")], [CUT_EMPTY]),
        ([ScriptedAnswer("1, 2, 3", stop_reason="max_tokens")], ["1, 2, 3", CUT_OFF]),
        ([ScriptedAnswer("1, 2, 3", stop_reason="model_context_window_exceeded")], ["1, 2, 3", TOO_LONG]),
    ],
)
async def test_an_answer_that_is_none(
    daybook: Daybook, language: Language, answers: list[ScriptedAnswer], said: list[str]
) -> None:
    daybook.model.then(*answers)
    async with daybook.running():
        daybook.chat.say(SAID[language])
        (heard,) = await daybook.chat.wait_heard()
    assert heard == of(language, *said) and has_no_english(heard), heard


@each
async def test_a_stopped_answer_and_an_empty_message(daybook: Daybook, language: Language) -> None:
    hold = Hold()
    daybook.model.then(ScriptedAnswer(("1, 2, ", "3"), hold=hold, hold_at=1))
    async with daybook.running() as gateway:
        daybook.chat.say(SAID[language])
        await hold.reached.wait()
        daybook.chat.say("/stop")
        heard = await daybook.chat.wait_heard(2)
        assert f"1, 2,\n\n_{of(language, Sentence('Stopped.'))}_" in heard
        daybook.chat.say(" ")
        nothing = (await daybook.chat.wait_heard(3))[2]
        await settled(gateway)
    assert has_no_english(nothing), nothing


@each
async def test_a_recording_that_nobody_can_write_down(daybook: Daybook, language: Language) -> None:
    daybook.model.then("1", "2")
    async with daybook.running():
        daybook.chat.say(SAID[language])
        await daybook.chat.wait_heard()
        daybook.chat.say("", attachments=[daybook.chat.attach(files.OGG, "", "voice")])
        (_, heard) = await daybook.chat.wait_heard(2)
    assert heard == of(language, "2", ADVICE) and has_no_english(heard), heard


@each
async def test_a_bug_and_a_full_disk(daybook: Daybook, language: Language) -> None:
    daybook.timeouts = Timeouts(disk=0.05)
    hold = Hold()
    daybook.model.then(RuntimeError("a bug"), ScriptedAnswer("1", hold=hold), "2")  # type: ignore[arg-type]
    async with daybook.running() as gateway:
        daybook.chat.say(SAID[language])
        (bug,) = await daybook.chat.wait_heard()
        daybook.chat.say(SAID[language])
        await hold.reached.wait()
        with full_disk():
            hold.released.set()
            (_, full) = await daybook.chat.wait_heard(2)
        await daybook.chat.wait_heard(3)
        await settled(gateway)
    assert "/new" in bug and has_no_english(bug), bug
    assert of(language, Sentence("the disk is full")) in full and has_no_english(full), full


@each
async def test_a_message_that_kills_is_said_to_its_sender_and_to_the_owner_in_their_own_languages(
    daybook: Daybook, language: Language
) -> None:
    """The owner speaks the language, the sender Spanish."""
    daybook.timeouts = Timeouts(tick=0.02, trial=0.0)
    daybook.settings["channels"] = {"telegram": {"allow": [ALICE]}}
    daybook.chat.say(SAID[language])
    daybook.model.then("1")
    async with daybook.running() as gateway:
        await settled(gateway)
    daybook.chat.say(SAID[Language("es")], chat="2", sender=ALICE, name="Ana")
    for _ in range(TRIED_ALONE_AFTER + 3):
        await die(daybook)
    async with daybook.running() as gateway:
        assert await daybook.chat.wait_heard(chat="2") == [of(Language("es"), SKIPPED)]
        _, told = await daybook.chat.wait_heard(2)
        await settled(gateway)
    assert "Ana" in told and has_no_english(told), told


@each
async def test_the_first_word_to_somebody_unknown(daybook: Daybook, language: Language) -> None:
    async with daybook.running() as gateway:
        daybook.chat.say(SAID[language], chat="3", sender=STRANGER)
        (heard,) = await daybook.chat.wait_heard(chat="3")
        (code,) = await gateway.codes()
    assert heard.count(code) == 2 and has_no_english(heard), heard


@each
async def test_a_budget_that_is_used_up(database: Database, moment: Moment, language: Language) -> None:
    """The notice stands in the language of the answer without a model that follows."""
    ledger = UsageLedger(database, moment.clock)
    ledger.record(UsageRecord("m", "chat", SESSION, Usage(1, 1), 5.0))
    offline = OfflineModel(moment.clock, ".env")
    asked = request(SAID[language])
    for model in (
        BudgetedModel(ScriptedModel(), offline, ledger, 2.0, moment.clock),
        GuestLimitedModel(ScriptedModel(), offline, ledger, LimitsConfig(person_daily_usd=1.0), moment.clock),
    ):
        notice = (await ask(model, asked)).text.partition("\n\n")[0]
        assert has_no_english(notice), notice
