"""What people ask for in plain words that a command does: reminders, forgetting, taking back. Pure.

For when there is no model: the gateway carries the command out, and no such wish is filed as a statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOST_CHARS = 500
"""More is a tale, not a wish."""
_MOST_FORGOTTEN = 80
_END = " \t.!?…。！？"
_PLEASE = r"(?:please|bitte|por favor|s'il te pla[iî]t|s'il vous pla[iî]t)"
_REMIND = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:(?:can|could|would|will) you (?:please )?)?(?:"
    r"remind (?:me|us)(?: please)?(?! (?:what|who|whom|whose|where|why|which|how)\b)|"
    r"erinnere? (?:mich|uns)(?: bitte)?(?! (?:was|wer|wem|wen|wo|warum|wie|welche[rsmn]?)\b)|"
    r"recu[eé]rd[ae](?:me|nos)(?! (?:qu[eé]|qui[eé]n|d[oó]nde|c[oó]mo|cu[aá]l) )|"
    r"rappel(?:le|lez)[- ](?:moi|nous)(?! (?:ce que|ce qui|qui|o[uù]|comment|quel|quelle)\b)"
    r")(?:(?=[,: ])(?P<rest>.*))?\Z",
    re.IGNORECASE,
)
_REMIND_CHINESE = re.compile(r"请?(?P<when>[^，。！？]{0,30}?)提醒我们?[，,：: ]?(?P<rest>.*)\Z")
_REMIND_JAPANESE = re.compile(
    r"(?P<rest>.+?)(?:を|と|って|ように)?(?:リマインド|思い出させて|知らせて)(?:して)?(?:ください|下さい|ね)?\Z"
)
_FORGET = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:"
    r"forget (?!to\b|me\b)(?:about |all about |everything (?:about|on) )?|"
    r"vergiss (?!nicht\b|nie\b)(?:bitte )?(?:alles (?:über|zu) |das mit )?|"
    r"olv[ií]da(?:te de |te | )(?!que\b)(?:lo de |todo sobre )?|"
    r"oubli(?:e|ez) (?!pas\b|de\b|que\b)(?:tout sur )?"
    r")(?P<rest>.+)\Z",
    re.IGNORECASE,
)
_FORGET_CHINESE = re.compile(r"(?:请忘记|请忘掉|忘掉)(?:关于)?(?P<rest>.+?)(?:的事情?)?吧?\Z")
_JAPANESE_FORGET = ("忘れてください", "忘れて下さい", "忘れてね", "忘れて")
_JAPANESE_PARTICLES = ("のことは", "のことを", "は", "を")
_THAT = re.compile(r"(?:it|that|this|das|es|dies|eso|esto|[çc]a|cela|那个|这个|それ|これ)\Z", re.IGNORECASE)
_FORGET_IT = re.compile(r"olv[ií]dalo\Z", re.IGNORECASE)
_UNDO = re.compile(
    rf"(?:{_PLEASE}[, ]+)?(?:"
    r"undo(?: (?:it|that|this|the last (?:one|thing|change)))?|take (?:it|that) back|"
    r"(?:mach|mache) (?:das|es) (?:bitte )?(?:wieder )?rückgängig|rückgängig(?: machen)?|"
    r"nimm (?:das|es) (?:bitte )?zurück|"
    r"des(?:hazlo|haz eso|haz esto|hacer)|annule(?:z)? (?:[çc]a|cela)|défais (?:[çc]a|cela)|"
    r"(?:请)?撤[销消回](?:刚才的|上一个|那个|它)?|"
    r"(?:それを|これを|さっきのを)?(?:元に戻して|取り消して)(?:ください|下さい)?"
    r")\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A command's name, and what stands after it."""

    name: str
    words: str = ""

    def __str__(self) -> str:
        return f"/{self.name} {self.words}".strip()


def plain_command(text: str) -> PlainCommand | None:
    """The command that does what a person asks for in so many words; None where they ask for something else."""
    line = " ".join(text.split()).strip(_END)
    if not line or len(line) > _MOST_CHARS:
        return None
    if _UNDO.match(line):
        return PlainCommand("undo")
    if (found := _REMIND.match(line)) or (found := _REMIND_JAPANESE.match(line)):
        return PlainCommand("remind", (found["rest"] or "").strip(" ,:"))
    if found := _REMIND_CHINESE.match(line):
        return PlainCommand("remind", f"{found['when']} {found['rest']}".strip())
    if _FORGET_IT.match(line):
        return PlainCommand("forget")
    found = _FORGET.match(line) or _FORGET_CHINESE.match(line)
    rest = found["rest"] if found else _forgotten_in_japanese(line)
    if rest and len(rest) <= _MOST_FORGOTTEN:
        return PlainCommand("forget", "" if _THAT.match(rest) else rest.strip())
    return None


def _forgotten_in_japanese(line: str) -> str:
    ending = next((one for one in _JAPANESE_FORGET if line.endswith(one)), "")
    rest = line.removesuffix(ending) if ending else ""
    particle = next((one for one in _JAPANESE_PARTICLES if rest.endswith(one)), "")
    return rest.removesuffix(particle) if particle else ""
