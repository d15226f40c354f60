"""Our own sentences of reminders and summaries in the languages of chats, and which language a chat has. Pure.

A chat's language is that of its people. The first message of a day that shows one clearly decides for the day, so that
later quotes change nothing; a day without one changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.languages.codes import Language
from agent.model.offline.intent import told_language
from channels.message import InboundMessage, Origin


@dataclass(frozen=True, slots=True)
class Strings:
    """`late` takes {due}, `more` {number}, `again` {when}, `nothing_said` {day}, `undelivered` {why}. From `done` to
    `tomorrow` they are labels of buttons, and short."""

    late: str
    missed: str
    more: str
    done: str
    in_10_minutes: str
    in_an_hour: str
    tomorrow: str
    is_done: str
    again: str
    nothing_said: str
    undelivered: str


STRINGS: Mapping[Language, Strings] = {
    Language.ENGLISH: Strings(
        late="Late: this was due {due}.",
        missed="Not said in time, and too long past to ring now:",
        more="and {number} more, see `/jobs`",
        done="Done",
        in_10_minutes="In 10 minutes",
        in_an_hour="In an hour",
        tomorrow="Tomorrow",
        is_done="Done.",
        again="Again: {when}.",
        nothing_said="Nothing was said here on {day}, and nothing that was promised is due.",
        undelivered="A message of mine could not be delivered here ({why}). Ask me again, or see `/export`.",
    ),
    Language.GERMAN: Strings(
        late="Verspätet: Das war am {due} fällig.",
        missed="Nicht rechtzeitig gesagt, und zum Klingeln ist es jetzt zu lange her:",
        more="und {number} weitere, siehe `/jobs`",
        done="Erledigt",
        in_10_minutes="In 10 Minuten",
        in_an_hour="In einer Stunde",
        tomorrow="Morgen",
        is_done="Erledigt.",
        again="Noch einmal: {when}.",
        nothing_said="Am {day} wurde hier nichts gesagt, und nichts Versprochenes ist fällig.",
        undelivered="Eine Nachricht von mir kam hier nicht an ({why}). Frag noch einmal, oder sieh in `/export` nach.",
    ),
    Language.SPANISH: Strings(
        late="Con retraso: tocaba el {due}.",
        missed="No se avisó a tiempo, y ya hace demasiado para que suene ahora:",
        more="y {number} más, véase `/jobs`",
        done="Hecho",
        in_10_minutes="En 10 minutos",
        in_an_hour="En una hora",
        tomorrow="Mañana",
        is_done="Hecho.",
        again="Otra vez: {when}.",
        nothing_said="El {day} no se dijo nada aquí, y nada de lo prometido vence.",
        undelivered="No se pudo entregar aquí un mensaje mío ({why}). Pregúntame otra vez, o mira en `/export`.",
    ),
    Language.FRENCH: Strings(
        late="En retard : c'était prévu le {due}.",
        missed="Pas dit à temps, et il est trop tard pour que cela sonne maintenant :",
        more="et {number} de plus, voir `/jobs`",
        done="Fait",
        in_10_minutes="Dans 10 minutes",
        in_an_hour="Dans une heure",
        tomorrow="Demain",
        is_done="C'est fait.",
        again="À nouveau : {when}.",
        nothing_said="Rien n'a été dit ici le {day}, et rien de promis n'arrive à échéance.",
        undelivered="Un de mes messages n'a pas pu être remis ici ({why}). Redemandez-moi, ou voyez `/export`.",
    ),
    Language.CHINESE: Strings(
        late="迟到：原定于 {due}。",
        missed="没能按时提醒，现在已过去太久，不再响铃：",
        more="还有 {number} 条，见 `/jobs`",
        done="完成",
        in_10_minutes="10 分钟后",
        in_an_hour="1 小时后",
        tomorrow="明天",
        is_done="已完成。",
        again="再次提醒：{when}。",
        nothing_said="{day} 这里没有说过什么，也没有到期的承诺。",
        undelivered="我的一条消息无法送达这里（{why}）。请再问我一次，或查看 `/export`。",
    ),
    Language.JAPANESE: Strings(
        late="遅れました：予定は {due} でした。",
        missed="時間どおりにお知らせできず、今から鳴らすには遅すぎます：",
        more="ほか {number} 件、`/jobs` を参照",
        done="完了",
        in_10_minutes="10分後",
        in_an_hour="1時間後",
        tomorrow="明日",
        is_done="完了しました。",
        again="もう一度：{when}。",
        nothing_said="{day} はここで何も話されず、期限の来た約束もありません。",
        undelivered="私のメッセージをここに届けられませんでした（{why}）。もう一度聞くか、`/export` を見てください。",
    ),
}


_CLEAR = 2
"""So many words of one language are no greeting in passing."""


@dataclass(frozen=True, slots=True)
class ChatLanguage:
    """`language` None: unknown so far. `day`: the newest of the user's days that decided, as ISO 8601; empty before the
    first."""

    language: Language | None = None
    day: str = ""


def after(known: ChatLanguage, message: InboundMessage, today: str) -> ChatLanguage:
    """The language after that message. Text that is not the sender's, and commands, do not count."""
    if known.day == today or not (words := _own_words(message)):
        return known
    if clear := told_language(words, _CLEAR):
        return ChatLanguage(clear, today)
    return ChatLanguage(known.language or told_language(words), known.day)


def _own_words(message: InboundMessage) -> str:
    is_forwarded = message.quote is not None and message.quote.forwarded
    is_command = message.origin is not Origin.CHAT or message.text.lstrip().startswith("/")
    return "" if is_forwarded or is_command else message.text


def one_line(text: str, most: int) -> str:
    """The text on one line of at most so many characters; a cut one ends in `…`."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without 0, O, 1 and I, which people mix up."""
