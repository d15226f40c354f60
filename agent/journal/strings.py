"""The journal's own sentences in six languages, and the language of a day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.languages.codes import Language
from agent.model.offline.intent import told_language


@dataclass(frozen=True, slots=True)
class JournalStrings:
    """`assistant`: its name beside people's. The others take {number}: of messages, of lines, of tokens."""

    assistant: str
    left_out: str
    gap: str
    gaps: str
    from_here: str

    def gap_of(self, lines: int) -> str:
        return (self.gap if lines == 1 else self.gaps).format(number=lines)


JOURNAL_STRINGS: Mapping[Language, JournalStrings] = {
    Language.ENGLISH: JournalStrings(
        assistant="Assistant",
        left_out="(an extract: {number} more messages are not shown)",
        gap="(A gap: {number} line of this conversation's transcript cannot be read.)",
        gaps="(A gap: {number} lines of this conversation's transcript cannot be read.)",
        from_here="(From here on an extract: a journal reads at most {number} tokens of one talk a day.)",
    ),
    Language.GERMAN: JournalStrings(
        assistant="Assistent",
        left_out="(ein Auszug: {number} weitere Nachrichten sind nicht gezeigt)",
        gap="(Eine Lücke: {number} Zeile der Mitschrift dieses Gesprächs ist nicht lesbar.)",
        gaps="(Eine Lücke: {number} Zeilen der Mitschrift dieses Gesprächs sind nicht lesbar.)",
        from_here="(Ab hier ein Auszug: Ein Tagebuch liest höchstens {number} Token eines Gesprächs am Tag.)",
    ),
    Language.SPANISH: JournalStrings(
        assistant="Asistente",
        left_out="(un extracto: no se muestran {number} mensajes más)",
        gap="(Un hueco: no se puede leer {number} línea de la transcripción de esta charla.)",
        gaps="(Un hueco: no se pueden leer {number} líneas de la transcripción de esta charla.)",
        from_here="(Desde aquí un extracto: un diario lee como mucho {number} tokens de una charla al día.)",
    ),
    Language.FRENCH: JournalStrings(
        assistant="Assistant",
        left_out="(un extrait : {number} autres messages ne sont pas montrés)",
        gap="(Une lacune : {number} ligne de la transcription de cet échange est illisible.)",
        gaps="(Une lacune : {number} lignes de la transcription de cet échange sont illisibles.)",
        from_here="(À partir d'ici un extrait : un journal lit au plus {number} tokens d'un échange par jour.)",
    ),
    Language.CHINESE: JournalStrings(
        assistant="助手",
        left_out="（摘录：另有 {number} 条消息未显示）",
        gap="（缺口：这次谈话的记录有 {number} 行无法读取。）",
        gaps="（缺口：这次谈话的记录有 {number} 行无法读取。）",
        from_here="（以下为摘录：日志每天最多读取一次谈话的 {number} 个词元。）",
    ),
    Language.JAPANESE: JournalStrings(
        assistant="アシスタント",
        left_out="（抜粋：ほかの {number} 件のメッセージは省略しました）",
        gap="（欠落：この会話の記録のうち {number} 行が読めません。）",
        gaps="（欠落：この会話の記録のうち {number} 行が読めません。）",
        from_here="（ここから抜粋：日誌が一日に読むのは、一つの会話につき {number} トークンまでです。）",
    ),
}


def language_of_day(lines: Iterable[str]) -> Language | None:
    """The language of most lines of a day or its log; None where unknown or undecided."""
    told = Counter(language for line in lines if (language := told_language(line))).most_common(2)
    is_level = len(told) == 2 and told[0][1] == told[1][1]
    return told[0][0] if told and not is_level else None
