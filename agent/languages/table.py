"""The parts of a language: our sentences, and the words by which we understand it.

A language is one file beside this, `<code>.toml`, with a table for each dataclass here; its tables `time`, `orders` and
`sentences` are read elsewhere (`time_words`, `orders`, `sentences`). Every field without a default is needed. Sentences
name their parameters in braces; `SHOWN` in a field's metadata says where people read it. Lists of words are separated
by spaces, phrases by `|`; case and accents do not matter. Patterns are over folded text (`terms.fold`), unless said,
and may be lists of alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class ReminderStrings:
    """Under and beside reminders. {due} and {when} are moments, as `MomentStrings` says them."""

    late: str = field(metadata={SHOWN: "below a reminder, a job's answer or a summary that comes late"})
    missed: str = field(metadata={SHOWN: "above a list of reminders that are too old to ring"})
    more: str = field(metadata={SHOWN: "last line of that list"})
    done: str = field(metadata={SHOWN: "button of a reminder"})
    in_10_minutes: str = field(metadata={SHOWN: "button of a reminder"})
    in_an_hour: str = field(metadata={SHOWN: "button of a reminder"})
    tomorrow: str = field(metadata={SHOWN: "button of a reminder"})
    is_done: str = field(metadata={SHOWN: "below a reminder after its button Done; above a promise after /done"})
    again: str = field(metadata={SHOWN: "below a reminder after one of its other buttons"})
    set: str = field(metadata={SHOWN: "after a reminder was asked for"})
    set_again: str = field(metadata={SHOWN: "after a reminder was asked for that comes again"})
    asks_hour: str = field(
        metadata={SHOWN: "after a reminder was asked for on a day without an hour; above 9:00, 12:00, 18:00"}
    )
    what: str = field(metadata={SHOWN: "after a reminder was asked for without a text"})
    unclear: str = field(metadata={SHOWN: "after a reminder was asked for whose time is not understood"})
    past: str = field(metadata={SHOWN: "after a reminder was asked for whose time is past"})
    cancel: str = field(metadata={SHOWN: "button under a new reminder"})
    cancelled: str = field(metadata={SHOWN: "after that button"})
    nothing_due: str = field(metadata={SHOWN: "without a model, where reminders are asked for and none is set"})
    none_about: str = field(metadata={SHOWN: "without a model, where a reminder is to be changed that is not there"})
    which: str = field(metadata={SHOWN: "without a model, where several reminders fit; above one button for each"})
    timer: str = field(metadata={SHOWN: "when a timer without a text rings"})
    wake: str = field(metadata={SHOWN: "when an alarm without a text rings"})


@dataclass(frozen=True, slots=True)
class ChatStrings:
    """{day} is a day, as `MomentStrings` says it; {why} an error; {task} what is to be done; {name} a server of tools,
    {host} where the owner logs in for it."""

    nothing_said: str = field(metadata={SHOWN: "the daily summary of a day without messages"})
    undelivered: str = field(metadata={SHOWN: "in place of a reply that the platform refused"})
    working: str = field(metadata={SHOWN: "a task has begun that is worked on aside"})
    login: str = field(metadata={SHOWN: "to the owner, where a server of tools needs their login"})
    logged_in: str = field(metadata={SHOWN: "after that login"})
    login_failed: str = field(metadata={SHOWN: "after that login, where it failed"})


@dataclass(frozen=True, slots=True)
class EffectStrings:
    """Verb phrases for `ApprovalStrings.question`; {target} is a person, a chat or a file."""

    send: str = field(metadata={SHOWN: "{what} of the question: a message to somebody else"})
    write: str = field(metadata={SHOWN: "{what} of the question: a file"})
    write_common: str = field(metadata={SHOWN: "{what} of the question: a file of every chat"})
    write_skill: str = field(metadata={SHOWN: "{what} of the question: a skill"})
    add_job: str = field(metadata={SHOWN: "{what} of the question: a new job"})
    remove_job: str = field(metadata={SHOWN: "{what} of the question: a job that goes"})
    fetch: str = field(metadata={SHOWN: "{what} of the question: a page of the web"})
    search: str = field(metadata={SHOWN: "{what} of the question: a search of the web"})
    draw: str = field(metadata={SHOWN: "{what} of the question: a picture made from words; {target} is a server"})
    run: str = field(metadata={SHOWN: "{what} of the question: a program; {target} is its command line"})
    use_tool: str = field(metadata={SHOWN: "{what} of the question: a tool of a server"})
    use_new_tool: str = field(metadata={SHOWN: "{what} of the question: a tool of a server, before its first use"})
    use_changed_tool: str = field(metadata={SHOWN: "{what} of the question: a tool of a server, changed since"})


@dataclass(frozen=True, slots=True)
class ApprovalStrings:
    """Questions to the owner before an effect. {what} is one of `effects`."""

    effects: EffectStrings
    question: str = field(metadata={SHOWN: "the question to the owner"})
    because: str = field(metadata={SHOWN: "below the question"})
    because_line: str = field(metadata={SHOWN: "below the question, where a line of that text is known"})
    private: str = field(metadata={SHOWN: "below the question, where the text to send has a line of private memory"})
    asked_in: str = field(metadata={SHOWN: "below the question, where it is about another chat"})
    good_for: str = field(metadata={SHOWN: "last line of the question"})
    yes: str = field(metadata={SHOWN: "button of the question"})
    no: str = field(metadata={SHOWN: "button of the question"})
    done: str = field(metadata={SHOWN: "after a yes"})
    refused: str = field(metadata={SHOWN: "after a no"})
    changed: str = field(metadata={SHOWN: "after a yes that came too late"})
    failed: str = field(metadata={SHOWN: "after a yes"})
    none_open: str = field(metadata={SHOWN: "/approvals, where nothing is open"})
    listed: str = field(metadata={SHOWN: "/approvals, above the list"})
    left_out: str = field(metadata={SHOWN: "in the middle of a long text that is to be approved"})
    once: str = field(metadata={SHOWN: "button of the question about a program, in place of yes"})
    always: str = field(metadata={SHOWN: "button of the question about a program"})
    lasting: str = field(
        metadata={SHOWN: "below the question about a program; {words} are the first of its command line"}
    )
    with_network: str = field(metadata={SHOWN: "below the question about a program"})
    no_sandbox: str = field(metadata={SHOWN: "below the question about a program, where the system has no bubblewrap"})
    as_root: str = field(metadata={SHOWN: "below the question about a program, where Daybook runs as root"})
    for_conversation: str = field(
        metadata={SHOWN: "last line of the question about what is sent to a host that is not the owner's"}
    )
    for_tool: str = field(metadata={SHOWN: "last line of the question before the first use of a server's tool"})
    started: str = field(metadata={SHOWN: "after a yes to a program"})
    allowed: str = field(metadata={SHOWN: "/approvals, above the programs with a lasting yes"})
    ask_again: str = field(metadata={SHOWN: "/approvals, button that takes a lasting yes back"})
    asks_again: str = field(metadata={SHOWN: "after that button"})


@dataclass(frozen=True, slots=True)
class ProgramStrings:
    """The end of a program in the background. {command} is its command line, {why} the system's reason."""

    ended: str = field(metadata={SHOWN: "a program in the background has ended"})
    failed: str = field(metadata={SHOWN: "the same, with an error"})
    late: str = field(metadata={SHOWN: "the same, because its time was over"})
    stopped: str = field(metadata={SHOWN: "the same, because somebody stopped it"})
    limited: str = field(metadata={SHOWN: "the same, because it used too much"})
    refused: str = field(metadata={SHOWN: "a program in the background could not be started"})
    lost: str = field(metadata={SHOWN: "a program in the background ended with the gateway"})


@dataclass(frozen=True, slots=True)
class JournalStrings:
    """Lines in the daily log. {number}: of messages, of lines, of tokens."""

    assistant: str = field(metadata={SHOWN: "name beside what Daybook wrote"})
    left_out: str = field(metadata={SHOWN: "last line of an extract"})
    gap: str = field(metadata={SHOWN: "in place of one unreadable line"})
    gaps: str = field(metadata={SHOWN: "in place of several unreadable lines"})
    from_here: str = field(metadata={SHOWN: "where a very long conversation goes on as an extract"})

    def gap_of(self, lines: int) -> str:
        return (self.gap if lines == 1 else self.gaps).format(number=lines)


@dataclass(frozen=True, slots=True)
class OfflineStrings:
    """Answers without a language model. {env} is the file for a key."""

    greeting: str = field(metadata={SHOWN: "answer to a greeting"})
    offline: str = field(metadata={SHOWN: "after a call for help, and under the first answer of a conversation"})
    abilities: str = field(metadata={SHOWN: "answer to a call for help"})
    needs_model: str = field(metadata={SHOWN: "after the weather, a joke, a sum or a translation was asked for"})
    welcome: str = field(metadata={SHOWN: "answer to thanks"})
    noted: str = field(metadata={SHOWN: "above what was written into the log"})
    found: str = field(metadata={SHOWN: "above what a search found"})
    nothing: str = field(metadata={SHOWN: "a search that found nothing"})
    today: str = field(metadata={SHOWN: "above the log of today"})
    today_empty: str = field(metadata={SHOWN: "in place of the log of today"})
    failed: str = field(metadata={SHOWN: "a tool failed"})
    no_tool: str = field(metadata={SHOWN: "the chat has no such tool"})
    empty: str = field(metadata={SHOWN: "answer to a message without words"})
    unseen: str = field(metadata={SHOWN: "under the answer to a message with a picture or a file"})
    command: str = field(metadata={SHOWN: "answer to what a command does"})


@dataclass(frozen=True, slots=True)
class MomentStrings:
    """How days and times are said in the middle of a sentence: "on Monday 23 November at 15:00"."""

    today: str = field(metadata={SHOWN: "in {day}, {due} and {when}"})
    tomorrow: str = field(metadata={SHOWN: "in {when}"})
    yesterday: str = field(metadata={SHOWN: "in {day} and {due}"})
    dated: str = field(metadata={SHOWN: "in {day}, {due} and {when}"})
    with_year: str = field(metadata={SHOWN: "in {day} and {when}, for another year"})
    at: str = field(metadata={SHOWN: "in {due} and {when}"})
    """{day} is any of the above."""
    weekdays: str
    """From Monday, separated by spaces."""
    months: str
    first: str = "1"
    """{day} of the first of a month."""


@dataclass(frozen=True, slots=True)
class IntentWords:
    """Phrases that tell what is wanted offline, and languages apart."""

    greeting: str
    thanks: str
    help: str
    """The whole message."""
    remember: str
    """Begins what is to be kept."""
    today: str
    """The day; with `log` (or a question) and nothing else in particular: today's log is wanted."""
    log: str
    asking: str
    """Begins a question that has no question mark."""
    filler: str
    """Says nothing about what a question is after."""
    telltale: str
    """Further words that give the language away."""
    within: str = ""
    """Asks in the midst of a short line: "the bike, where is it". Only `tails` may follow, no `tellers` be said."""
    tails: str = ""
    tellers: str = ""
    questions: str = ""
    """Clearly begins a question, however long: "can you tell me"."""


@dataclass(frozen=True, slots=True)
class RememberPatterns:
    """Requests to remember something, over text with its case and accents."""

    asks: str
    """An imperative at the beginning of a clause; with a question mark it is a question about the past."""
    requests: str
    """A request there, with a question mark or without."""
    refuses: str
    """A negation: cancels the request that follows it, or, alone, an earlier one."""
    confirms: str
    """A question after a request, which leaves it one."""
    instead: str
    """What follows is not negated."""
    reported: str = ""
    """Before a request of somebody else."""
    before: str = ""
    """Words that may come before the imperative."""
    joints: str = ""
    """Words between clauses."""


@dataclass(frozen=True, slots=True)
class CommonWords:
    grammar: str
    """Too common to search for."""
    small_talk: str
    """Greetings, thanks, laughter, praise; of languages without spaces, pairs of characters."""
    particles: str = ""
    """Characters that join words: a pair with one is seldom a word."""


@dataclass(frozen=True, slots=True)
class PastPatterns:
    """Days by their distance, over text folded by `terms.fold_for_index`. The first five: the present one, the last
    one, the one before; empty where there is no word."""

    days: tuple[str, ...]
    weekends: tuple[str, ...]
    weeks: tuple[str, ...]
    months: tuple[str, ...]
    years: tuple[str, ...]
    ago: str = ""
    """{n} is a number, {u} a unit; {whole} says that no other part of a number precedes."""
    short_ago: tuple[tuple[str, int, int], ...] = ()
    """Other ways to say how long ago, with the number of units and the days of one."""


@dataclass(frozen=True, slots=True)
class RelationWords:
    """Separated by spaces. Most languages put them before the day."""

    before: str
    after: str
    since: str
    until: str = ""
    between: str = ""
    from_: str = ""
    and_: str = ""
    to: str = ""
    to_after_from: str = ""
    """Too short to mean "to" without a "from" before the first day."""
    of: str = ""
    fillers: str = ""
    """May come between a relation and the day."""
    shortly: str = ""
    """As in "shortly before"."""
    nights: str = ""
    """Count as a day."""
    weekends: str = ""


@dataclass(frozen=True, slots=True)
class DateWords:
    """Names of one thing are separated by spaces, different things by commas."""

    months: str
    """From January; empty where they are numbers. The like for `weekdays`, from Monday."""
    weekdays: str
    numbers: str
    """From one."""
    day: str
    week: str
    month: str
    year: str
    seasons: str
    """From spring."""
    parts: str
    """Early, mid, late, of a month or year; names of one are separated by `|`."""
    ordinals: str
    """First to fifth."""
    last: str
    weekend: str
    """In "the first weekend of May"; separated by `|`. The like for `week_name`."""
    week_name: str
    past: PastPatterns
    relations: RelationWords
    feasts: Mapping[str, str]
    """By a name in `feasts`; spaces stand for hyphens and apostrophes."""


@dataclass(frozen=True, slots=True)
class LanguageTable:
    name: str
    """The name of the language in itself."""
    reminders: ReminderStrings
    chat: ChatStrings
    approvals: ApprovalStrings
    programs: ProgramStrings
    journal: JournalStrings
    offline: OfflineStrings
    moments: MomentStrings
    yes: str
    """Answers to a question of ours. The like for `no`."""
    no: str
    intents: IntentWords
    remember: RememberPatterns
    common: CommonWords
    dates: DateWords
    command_names: Mapping[str, str] = field(default_factory=dict)
    """What may be typed for a command in this language, by its English name; the first is shown. Separated by `|`."""
    thousands: str = ","
    """Between the digits of large numbers, as `decimal` between units and tenths."""
    decimal: str = "."
    spaced: bool = True
    """The language writes spaces between words."""
