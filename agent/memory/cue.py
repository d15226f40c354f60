"""What a message says that can call memories up: its informative words, and whether it is about the person's own life.

All of it is read from the message alone, in the six languages of the product, before anything is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from agent.memory.index.dates import days_named, without_days
from agent.memory.index.folding import folded
from agent.memory.index.who import meant
from agent.memory.small_talk import is_small_talk, is_small_word
from agent.memory.words import fold, is_common, is_unspaced, runs, terms

READ_CHARS = 4_000
_OVERLAPPING = 0.5
"""What a pair of characters counts that shares one with the pair before it: four characters are two words."""

_LIFE = re.compile(
    r"(?<!how do )(?<!how can )(?<!how should )(?<!how would )(?<!how could )\bi\b"
    r"|\b(?:my|mine|myself|we|our|ours|us|remember|remind|you promised"
    r"|ich|mich|meine?[nmrs]?|wir|uns|unsere?[nmrs]?|(?:hast|hattest) du|erinner\w*|weisst du noch"
    r"|yo|mi|mis|mio|mia|nosotr[oa]s|nuestr[oa]s?|recuerd\w+|acuerdas"
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
    """`words`: how much each informative word counts, in the message's order, as `terms` gives them. `names`: those of
    them that are written like a name. `is_life`: it speaks of the person's own life or of what was said before.
    `is_task`: it begins by asking for something that anybody could be asked to make. `asks`: it is a question, or a
    single word. `is_of_days`: it names past days."""

    words: Mapping[str, float] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    is_life: bool = False
    is_task: bool = False
    asks: bool = False
    is_of_days: bool = False

    @property
    def size(self) -> float:
        """How many informative words there are."""
        return sum(self.words.values())


def cue_of(message: str, today: date) -> Cue:
    read = message[:READ_CHARS]
    text = " ".join(fold(read).split())
    words = dict(_counted(read))
    capitals = () if _is_german(text) else _CAPITAL.findall(read)
    return Cue(
        words,
        frozenset(part for one in capitals for part in runs(fold(one)) if part in words),
        is_life=_LIFE.search(text) is not None or meant(read).assistant,
        is_task=_TASK.search(text) is not None,
        asks=_ASKS.search(text) is not None or len(runs(text)) == 1,
        is_of_days=any(first <= today and last != today for first, last in days_named(read, today)),
    )


def _counted(message: str) -> Iterator[tuple[str, float]]:
    """A pair of characters that shares one with a pair of small talk is cut from two words."""
    beside = frozenset(terms(without_days(message)))
    every = terms(fold(message))
    for at, word in enumerate(every):
        if not _tells(word) or folded(word) not in beside:
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
    """Single letters and short numbers stand in too many places."""
    if is_common(word) or is_small_talk(word):
        return False
    return len(word) > 2 if word.isdecimal() else len(word) > 1


def _is_german(text: str) -> bool:
    return not _NOUNS_HAVE_CAPITALS.isdisjoint(runs(text))
