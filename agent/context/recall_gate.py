"""Decides whether a message recalls memories, and which of the hits.

A question that names somebody known does, and so does one about the person's own life if any of its words is known. For
general questions and statements, one passage must have a good part of the message. What a message is about is read from
its text alone, in the languages that have a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from agent.languages.dates import days_named, without_days
from agent.languages.terms import (
    fold,
    fold_for_index,
    is_common,
    is_small_talk,
    is_small_word,
    is_unspaced,
    runs,
    terms,
)
from agent.memory import notes
from agent.search.bm25 import SYNONYM
from agent.search.chunking import speech
from agent.search.query import subject_of
from agent.search.results import Hit
from agent.search.text_kinds import ASSISTANTS, USERS

READ_CHARS = 4_000
_OVERLAPPING = 0.5
"""Weight of a pair of characters that shares a character with the pair before it: four characters are two words."""

_LIFE = re.compile(
    r"(?<!how do )(?<!how can )(?<!how should )(?<!how would )(?<!how could )\bi\b"
    r"|\b(?:my|mine|myself|we|our|ours|us|remember|remind|you promised"
    r"|ich|mich|meine?[nmrs]?|wir|uns|unsere?[nmrs]?|(?:hast|hattest) du|erinner\w*|weisst du noch"
    r"|yo|mi|mis|mio|mia|nosotr[oa]s|nuestr[oa]s?|recuerd\w+|acuerdas"
    r"|io|mie|miei|noi|nostr[oaie]|ricord\w+"
    r"|je|j|mon|ma|mes|nous|notre|nos|rappel\w+|souvien\w+)\b"
    r"|(?<![给幫帮教替为告诉訴])[我咱]|记得|記得|私|僕|俺|わたし|ぼく|覚えて|てくれた"
)
"""The person's own life. Whom a thing is for ("tell me", "dame", "给我") says neither."""

_POLITE = (
    r"(?:(?:please|pls|hey|hi|ok|okay|now|and|just|can|could|would|will|you|bitte|kannst|konntest|du|mal|und|puedes"
    r"|podrias|por favor|peux|pourrais|tu|s'il te plait)[ ,-]+)*"
)
_TASK = re.compile(
    rf"\A\W*{_POLITE}(?:"
    r"write|draft|compose|translate|explain|calculate|compute|convert|summari[sz]e|generate|create|make|give|list|tell"
    r"|suggest|recommend|define|describe|compare|rewrite|rephrase|paraphrase|fix|correct|proofread|solve|name|show"
    r"|teach|invent|imagine|design|code|implement|simplify|spell|outline|brainstorm|help me"
    r"|schreibe?|ubersetze?|erklare?|berechne|rechne|fasse?|erstelle?|erzahle?|nenne?|gib|zeige?|mach|formuliere?"
    r"|vergleiche?|beschreibe?|definiere?|korrigiere?|verbessere?|erfinde?|lose?|entwirf|dichte"
    r"|escrib\w+|redact\w+|traduc\w+|explic\w+|calcula\w*|resum\w+|dame|cuentame|haz\w*|crea\w*|genera\w*|invent\w+"
    r"|sugier\w+|recomiend\w+|define|describe|compara|corrig\w+|muestra\w*|convierte"
    r"|ecri\w+|redige\w*|tradui\w+|expliqu\w+|calcule\w*|resume\w*|donne\w*|raconte\w*|cree\w*|genere\w*|propose\w*"
    r"|suggere\w*|recommande\w*|definis\w*|decris\w*|compare\w*|corrige\w*|montre\w*|fais|convertis"
    r")\b"
    r"|\A\W*(?:请|請|麻烦|你能|你可以|能不能|可以|能|帮我|幫我|给我|給我|帮忙|替我)*"
    r"(?:用\w{1,12}?)?(?:写|寫|翻译|翻譯|把|解释|解釋|计算|算|总结|概括|推荐|列|讲|说明|介绍|比较|生成|创作|编|设计|做|改写|润色)"
    r"|(?:書|作|訳|翻訳|説明|教え|要約|計算|考え|挙げ|直|比較|紹介|列挙|生成)[いしっえ]?[てで](?:ください|下さい|くれ\w*|ほしい\w*|もらえ\w*)?\W*\Z"
    r"|(?:써|해|알려|만들어|설명해|번역해) ?(?:줘|주세요|줄래)\W*\Z"
)
"""Something is to be made or explained that anybody could be asked for."""

_ASKS = re.compile(
    r"[?？]|\b(?:who|whose|what|when|where|which|why|how|wer|wen|wem|wann|wo|wohin|welche[nmrs]?|warum|wieso|wie"
    r"|wieviele?|quien|cuando|donde|cual|cuales|cuant[oa]s?|quoi|quand|quel(?:le)?s?|combien|comment"
    r"|pourquoi)\b|\A\W*(?:was|que|como|ou|qui)\b|[吗嗎呢谁誰哪]|什么|什麼|多少|几[个點点次号]|怎么|怎麼|是否|何|いつ|どこ|どの|どれ|いくつ|なぜ|ですか|ますか"
)
_CAPITAL = re.compile(r"(?<=[\w,;:] )[^\W\d_a-zß-öø-ÿ][\w'’-]+")
"""A word with a capital that begins no sentence."""
_GERMAN_WORDS = "der die das und ich ist nicht ein eine einen den dem mit wir fur auf"
_NOUNS_HAVE_CAPITALS = frozenset(_GERMAN_WORDS.split())


@dataclass(frozen=True, slots=True)
class Cue:
    words: Mapping[str, float] = field(default_factory=dict)
    """Weights of informative words, as `terms` returns them."""
    names: frozenset[str] = frozenset()
    """The words that are written like a name."""
    is_life: bool = False
    """About the person's own life or what was said."""
    is_task: bool = False
    """It asks for something anybody could make."""
    asks: bool = False
    """A question, or a single word."""
    is_of_days: bool = False
    """It names past days."""

    @property
    def size(self) -> float:
        return sum(self.words.values())


def cue_of(message: str, today: date) -> Cue:
    read = message[:READ_CHARS]
    text = " ".join(fold(read).split())
    words = dict(_counted(read))
    capitals = () if _is_german(text) else _CAPITAL.findall(read)
    return Cue(
        words,
        frozenset(part for capital in capitals for part in runs(fold(capital)) if part in words),
        is_life=_LIFE.search(text) is not None or subject_of(read).assistant,
        is_task=_TASK.search(text) is not None,
        asks=_ASKS.search(text) is not None or len(runs(text)) == 1,
        is_of_days=any(first <= today and last != today for first, last in days_named(read, today)),
    )


def _counted(message: str) -> Iterator[tuple[str, float]]:
    """The informative words by weight. A character pair that overlaps one of small talk does not count."""
    beside = frozenset(terms(without_days(message)))
    every = terms(fold(message))
    for at, word in enumerate(every):
        if not _tells(word) or fold_for_index(word) not in beside:
            continue
        if not is_unspaced(word):
            yield word, 1.0
            continue
        before, behind = every[at - 1] if at else "", every[at + 1] if at + 1 < len(every) else ""
        overlaps = len(before) > 1 and before[-1] == word[0]
        if (overlaps and is_small_word(before)) or (behind and behind[0] == word[-1] and is_small_word(behind)):
            continue
        yield word, _OVERLAPPING if overlaps and _tells(before) else 1.0


def _tells(word: str) -> bool:
    if is_common(word) or is_small_talk(word):
        return False
    return len(word) > 2 if word.isdecimal() else len(word) > 1


def _is_german(text: str) -> bool:
    return not _NOUNS_HAVE_CAPITALS.isdisjoint(runs(text))


FIRST = 10
"""Passages among which one must pass the bar; no other is shown."""
_UNKNOWN = 0.5
"""Weight of a word that memory does not know: it speaks against no passage in particular."""
_EVERYWHERE = 0.2
"""Weight of a word that the search did not look for, because it stands in nearly all of memory."""
_RARE = 3
"""A word in no more passages than this tells as much as a word can."""
_INSIDE = re.compile(r"(?<=[^\W\d_] )[^\W\d_]\w+")
"""A word that begins no sentence, so that a capital says something."""
_NAMED_AT_LEAST = 2
_MOSTLY = 0.8
_READ_FOR_NAMES = 40


class Bar(NamedTuple):
    """What a passage must have of a message: words by weight, and their share."""

    words: float
    share: float


_LIFE_BAR = Bar(0.0, 0.05)
"""A question about the person's own life."""
_GENERAL = Bar(1.2, 0.25)
"""Any other question."""
_SAID = Bar(1.2, 0.25)
_TASK_BAR = Bar(2.0, 0.5)
_ONE_WORD = Bar(0.5, 0.95)
"""A question with a single informative word, which memory holds but seldom ("Where is the dentist?")."""
_TITLE = Bar(0.0, 0.5)
"""For a note that has words of the message in its title."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """`share` of the message's informative words, 0 to 1."""

    hit: Hit
    share: float


def relevant(cue: Cue, hits: Sequence[Hit]) -> Iterator[Relevant]:
    """The hits to show with a message, best first, no text twice."""
    telling = [hit for hit in hits if not _is_head(hit)]
    first = telling[:FIRST]
    held = [_held(cue, hit) for hit in first]
    weights = _weights(cue, telling, held)
    if not first or not _calls(cue, weights, held, telling):
        return
    whole = sum(weights.values()) or 1.0
    texts: set[str] = set()
    for hit, of_message in zip(first, held, strict=True):
        text = " ".join(fold(hit.text).split())
        if text not in texts:
            texts.add(text)
            yield Relevant(hit, _met(of_message, weights) / whole)


def _calls(cue: Cue, weights: Mapping[str, float], held: Sequence[Mapping[str, float]], hits: Sequence[Hit]) -> bool:
    first = hits[:FIRST]
    names_somebody = _names_somebody(cue, hits)
    is_task = cue.is_task and not cue.is_life and not names_somebody
    if cue.asks and not is_task and (names_somebody or _is_found_without_words(cue, first)):
        return True
    bars = [_TASK_BAR if is_task else _SAID if not cue.asks else _LIFE_BAR if cue.is_life else _GENERAL]
    if cue.asks and not is_task and cue.size <= 1:
        bars.append(_ONE_WORD)
    if not is_task and any(_is_titled(cue, hit) for hit in first):
        bars.append(_TITLE)
    met = max(_met(of_message, weights) for of_message in held)
    share = met / (sum(weights.values()) or 1.0)
    return met > 0 and any(met >= bar.words and share >= bar.share for bar in bars)


def _held(cue: Cue, hit: Hit) -> Mapping[str, float]:
    found = {word: min(1.0, hit.matched[word]) for word in cue.words if _says(hit, word)}
    if len(found) < len(cue.words):
        found |= {word: 1.0 for word in terms(fold(hit.text)) if word in cue.words}
    return found


def _is_found_without_words(cue: Cue, first: Sequence[Hit]) -> bool:
    """True for a passage of a day in question, or similar to a question about the person's life."""
    if cue.is_of_days and (cue.is_life or not cue.words) and any("date" in hit.parts for hit in first):
        return True
    return cue.is_life and any("meaning" in hit.parts for hit in first)


def _names_somebody(cue: Cue, hits: Sequence[Hit]) -> bool:
    """True if the message has a speaker of the hits, or a capitalised word that the hits mostly capitalise."""
    speakers = {name for hit in hits for name in runs(speech(hit.text).speaker)[:1]} - USERS - ASSISTANTS
    return not speakers.isdisjoint(cue.words) or any(_is_known_name(name, hits) for name in cue.names)


def _is_known_name(name: str, hits: Sequence[Hit]) -> bool:
    holding = [hit for hit in hits if _says(hit, name)][:_READ_FOR_NAMES]
    written = [word for hit in holding for word in _INSIDE.findall(hit.text) if fold(word) == name]
    capitals = sum(1 for word in written if word[0].isupper())
    return len(written) >= _NAMED_AT_LEAST and capitals >= _MOSTLY * len(written)


def _is_titled(cue: Cue, hit: Hit) -> bool:
    if not hit.path.startswith(f"{notes.FOLDER}/"):
        return False
    text = fold(hit.text)
    return any(hit.matched.get(word, 0.0) >= 1 and word not in text for word in cue.words)


def _weights(cue: Cue, hits: Sequence[Hit], held: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Weights of the informative words. A character pair unknown to memory counts nothing where it overlaps another."""
    weights: dict[str, float] = {}
    most = math.log1p(max(len(hits), _RARE) / _RARE)
    for word, count in cue.words.items():
        holding = sum(1 for hit in hits if _says(hit, word))
        if holding:
            weights[word] = count * min(1.0, math.log1p(len(hits) / holding) / most)
        elif any(word in of_message for of_message in held):
            weights[word] = count * _EVERYWHERE
        else:
            weights[word] = _UNKNOWN if count == 1 else 0.0
    return weights


def _met(held: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weight * held.get(word, 0.0) for word, weight in weights.items())


def _says(hit: Hit, word: str) -> bool:
    """True if the hit has the word itself: a synonym says too little here."""
    return hit.matched.get(word, 0.0) > SYNONYM


def _is_head(hit: Hit) -> bool:
    """True for a note's front matter, which counts for the passages below it."""
    return hit.start_line == 1 and hit.text.startswith("---")
