"""Which of their own reminders a person's words name, and which reminder was set or moved last."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ValidationError

from agent.formats.sqlite import StorageUnavailable
from agent.languages.codes import Language
from agent.languages.order_words import flat, words_of
from agent.languages.orders import PlainOrder, are_joined, is_pronoun, items_in, without_noise
from agent.languages.terms import fold, is_common, is_same_word, is_unspaced, query_terms, terms
from gateway.commands.context import CommandContext
from gateway.recurrence import At, InvalidWhen
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.job_access import Requester
from gateway.scheduling.requests import JobListing
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import Phrase
from gateway.store import chat_rows
from gateway.tools.schedule import requester_of

log = logging.getLogger(__name__)

HALF_A_DAY = 12 * 60
_LAST = "last reminder"
"""The setting of a conversation that names the reminder that was set or moved last."""
_LEAST_OF_TYPO = 4
"""The fewest letters of a word in which a wrong letter is looked for."""
_STEM = 5
"""Letters with which two forms of a verb begin, beside a word that names the reminder."""
IsSame = Callable[[str, str], bool]


class LastReminder(BaseModel):
    """The reminder that was set or moved last. `newest`: the newest reminder then; `change`: the last change of memory
    then; `before`: when a moved reminder was due, as fields."""

    id: str
    newest: str
    change: str
    before: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Named:
    rows: Sequence[JobListing]
    is_sure: bool
    """Each reminder is named; False: they fit alike, or none does."""


async def own(context: CommandContext) -> list[JobListing]:
    """The person's own reminders and jobs, the newest last."""
    rows = await context.services.jobs.rows(requester(context))
    return [row for row in rows if row.job.kind is not JobKind.BUILT_IN and row.job.enabled]


def requester(context: CommandContext) -> Requester:
    return requester_of(context.row, context.route)


# The last reminder


async def touched(context: CommandContext, job: Job, before: Mapping[str, str] | None = None) -> None:
    """Keeps that this reminder was set, or moved from `before`."""
    newest = (await own(context))[-1:]
    last = LastReminder(
        id=job.id,
        newest=newest[0].job.id if newest else "",
        change=await last_change(context),
        before=before or {},
    )
    session = str(context.route.session)
    await context.kernel.database.run(chat_rows.choose, session, _LAST, last.model_dump_json())


async def last_touched(context: CommandContext) -> LastReminder | None:
    chosen = await context.kernel.database.run(chat_rows.chosen, _LAST)
    try:
        return LastReminder.model_validate_json(chosen.get(str(context.route.session), ""))
    except ValidationError:  # none yet
        return None


async def just_touched(context: CommandContext) -> tuple[JobListing, LastReminder] | None:
    """The reminder that was set or moved last, where no memory was changed here since."""
    last = await last_touched(context)
    if last is None or last.change != await last_change(context):
        return None
    return next(((row, last) for row in await own(context) if row.job.id == last.id), None)


async def last_change(context: CommandContext) -> str:
    """The id of the last change of memory in this conversation."""
    try:
        change = await asyncio.to_thread(context.agent.history.last, str(context.route.session))
    except StorageUnavailable as error:
        log.warning("cannot tell what was changed last in %s: %s", context.route.session, error)
        return "?"
    return change.id if change is not None else ""


async def newest_or_touched(context: CommandContext, rows: Sequence[JobListing]) -> list[JobListing]:
    """The reminder that was touched last, unless another was added since; else the newest."""
    last = await last_touched(context)
    if last is not None and rows and rows[-1].job.id == last.newest:
        return [row for row in rows if row.job.id == last.id] or [*rows[-1:]]
    return [*rows[-1:]]


# By words


async def meant(context: CommandContext, asked: PlainOrder, rows: Sequence[JobListing]) -> list[JobListing]:
    """The reminders whose text has the words, at the time that is named; all of them, where nothing says which."""
    if found := matching(asked.about, rows, asked.language):
        return found
    phrase = await phrase_in(context, asked.about, words_of(asked.language).given.at, asked.language)
    zone = context.kernel.clock.zone
    if phrase is not None and (phrase.time is not None or phrase.either is not None):
        time, either = phrase.time, phrase.either

        def fits(row: JobListing) -> bool:
            if row.next_run is None:
                return False
            at = row.next_run.astimezone(zone)
            if either is not None and not phrase.has_day:
                return (at.hour * 60 + at.minute - either) % HALF_A_DAY == 0
            if isinstance(time, HourMissing):
                return at.date() == time.day
            if time is None or not isinstance(time.when, At):
                return False
            said, moment = time.when.moment, at.replace(tzinfo=None)
            return said == moment if phrase.has_day else said.time() == moment.time()

        fitting = [row for row in rows if fits(row)]
        named = matching(phrase.rest, rows, asked.language)
        return [row for row in fitting if row in named] if named else fitting
    return [] if content_of(asked.about, asked.language) else [*rows]


def each_of(words: str, rows: Sequence[JobListing], language: Language) -> list[JobListing]:
    """The several reminders that the words name, each alone: `bread and the mum ones`; none where a part is unclear."""
    if not are_joined(words, language):
        return []
    for parts in (items_in(words, language), content_of(words, language)):
        found = [matching(part, rows, language) for part in parts]
        if len(found) > 1 and all(len(named) == 1 for named in found):
            return list({named[0].job.id: named[0] for named in found}.values())
    return []


def matching(words: str, rows: Sequence[JobListing], language: Language) -> list[JobListing]:
    """The reminders that have most of the words, if possible as they are written; where none has a word, a letter may
    be wrong."""
    wanted = content_of(words, language)
    for is_same in (is_same_word, is_nearly_same):
        scores = {row.job.id: _score(wanted, row.job.text, is_same) for row in rows}
        if best := max(scores.values(), default=0):
            found = [row for row in rows if scores[row.job.id] == best]
            exact = [sum(word in query_terms(row.job.text) for word in wanted) for row in found]
            return [row for row, count in zip(found, exact, strict=True) if count == max(exact)]
    return []


def _score(wanted: Sequence[str], text: str, is_same: IsSame) -> int:
    """How many of the words are in the text, if these are all of them or most of the text."""
    own_words = set(query_terms(text))
    common = sum(any(is_same(word, other) for other in own_words) for word in wanted)
    unspaced = any(map(is_unspaced, wanted))
    is_enough = common == len(wanted) or 2 * common > len(own_words)
    is_enough = is_enough or (unspaced and 2 * common >= min(len(wanted), len(own_words)))
    return common if is_enough else 0


def told_of(words: str, rows: Sequence[JobListing], language: Language) -> list[JobListing]:
    """The reminders of which the words name most, in the same form if possible: "the dentist called" is not of the
    call. Among these, the reminder of whose text they name the largest part."""
    wanted = content_of(words, language)
    found: dict[tuple[int, int, float], list[JobListing]] = {}
    for row in rows:
        own_words = query_terms(row.job.text)
        named = [own_word for own_word in own_words if any(is_same_word(word, own_word) for word in wanted)]
        if named:
            same = sum(own_word in wanted for own_word in named)
            found.setdefault((len(named), same, len(named) / len(own_words)), []).append(row)
    return found[max(found)] if found else []


def is_nearly_same(word: str, other: str) -> bool:
    """Whether the two are forms of one word, perhaps misspelt."""
    return is_same_word(word, other) or is_misspelt(word, other)


def is_misspelt(word: str, other: str) -> bool:
    """Whether the two are one word, of which a letter may be wrong, missing, too many or out of place."""
    short, long = sorted((word, other), key=len)
    if word == other or long in (f"{short}s", f"{short}n"):
        return word == other or len(short) > 2
    if len(short) < _LEAST_OF_TYPO or len(long) - len(short) > 1 or short[0] != long[0] or is_unspaced(word):
        return False
    if len(short) < len(long):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    differs = [at for at, letters in enumerate(zip(short, long, strict=True)) if letters[0] != letters[1]]
    if len(differs) == 1:
        return len(short) > _LEAST_OF_TYPO
    first, second = differs[0], differs[-1]
    return len(differs) == 2 and second == first + 1 and short[first] == long[second] and short[second] == long[first]


def content_of(words: str, language: Language) -> list[str]:
    left = without_noise(words, language)
    infix = words_of(language).infix
    every = [infix.sub(r"\1", term) for term in query_terms(left)] if terms(fold(left)) else []
    return [term for term in every if len(term) > 1 or is_unspaced(term)] or every  # of "mum's", "mum"


def is_wholly_named(words: str, text: str, language: Language, is_same: IsSame) -> bool:
    """Whether the words name the reminder of that text, and say nothing else."""
    beside, told = words_of(language).beside, fold(text)
    spoken = [*re.findall(r"[^\W_]+", fold(words))]
    if any(map(is_unspaced, spoken)):
        return all(_is_covered(run, told, beside) for run in spoken) and any(_shared(run, told) for run in spoken)
    own_words = terms(told)
    named = [word for word in spoken if any(is_same(word, other) for other in own_words)]
    left = set(spoken) - set(named) - beside
    if not any(not is_common(word) and word not in beside for word in named):
        return False
    stems = {word[:_STEM] for word in own_words if len(word) >= _STEM and is_same is is_nearly_same}
    return all(word[:_STEM] in stems for word in left)


def names_no_more(words: str, text: str, language: Language) -> bool:
    """Whether the words, without small ones, are all in the text of a reminder; of an empty text, whether none is
    left."""
    told, beside, words = fold(text), words_of(language).beside, without_noise(words, language)
    spoken = re.findall(r"[^\W_]+", fold(words))
    if is_pronoun(words, language):
        return True
    if any(map(is_unspaced, spoken)):
        return all(_is_covered(run, told, beside) for run in spoken)
    own_words = terms(told)
    left = [word for word in content_of(words, language) if word not in beside and not is_common(word)]
    return all(any(is_nearly_same(word, other) for other in own_words) for word in left)


def is_whole(words: str, text: str, language: Language) -> bool:
    """Whether the words name all that the text of a reminder says; of a text without spaces, most."""
    wanted, every = content_of(words, language), content_of(text, language)
    named = sum(any(is_same_word(word, other) for word in wanted) for other in every)
    return named == len(every) or (any(map(is_unspaced, every)) and 3 * named >= 2 * len(every))


def _shared(run: str, text: str) -> bool:
    """True where the two share two adjacent letters, or a word of one letter."""
    return any(run[at : at + 2] in text for at in range(len(run) - 1)) or (len(run) == 1 and run in text)


def _is_covered(run: str, text: str, beside: frozenset[str]) -> bool:
    """True where an unspaced run consists of pieces of the text and small words alone."""
    at = 0
    while at < len(run):
        piece = next((end for end in range(len(run), at + 1, -1) if run[at:end] in text), at)
        small = max((at + len(word) for word in beside if run.startswith(word, at)), default=at)
        if max(piece, small) == at:
            return False
        at = max(piece, small)
    return True


def names_reminder(context: CommandContext, asked: PlainOrder) -> bool:
    return _names_subject(context, asked.language, "reminders")


def names_note(context: CommandContext, language: Language) -> bool:
    return _names_subject(context, language, "notes")


def _names_subject(context: CommandContext, language: Language, subject: str) -> bool:
    noun = words_of(language).given.subjects.get(subject, "(?!)")
    return re.search(noun, flat(context.row.message.text)) is not None


async def phrase_in(context: CommandContext, text: str, forms: Sequence[str], language: Language) -> Phrase | None:
    """The time in the text, as it is or as a bare hour or length; for a time without an hour, with the hour before
    it."""
    clock, best = context.kernel.clock, None
    now = clock.local(context.row.message.sent_at)
    for form in dict.fromkeys(("{}", *forms)):
        try:
            phrase = await asyncio.to_thread(phrases.read, form.format(text.strip()), now, (language,))
        except InvalidWhen:
            continue
        if phrase is not None and isinstance(phrase.time, Timed):
            return phrase if best is None or best.either is None else replace(phrase, either=best.either)
        best = phrase if phrase is not None and (best is None or best.time is None) else best
    return best
