"""The words by which the offline assistant tells what is wanted, per language. Data only: phrases divided by `|`,
in their usual spelling (case and accents do not matter when they are compared)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.language import Language
from agent.memory.words import fold, terms


@dataclass(frozen=True)
class Vocabulary:
    """greeting, thanks, help    the whole message
    remember    begins what is to be kept
    today       the day; with `log` (or a question) and nothing else in particular: today's log is wanted
    asking      begins a question that has no question mark
    filler      says nothing about what a question is after
    telltale    further words that give the language away
    spaced      the language writes spaces between words
    """

    greeting: str
    thanks: str
    help: str
    remember: str
    today: str
    log: str
    asking: str
    filler: str = ""
    telltale: str = ""
    spaced: bool = True

    def anywhere(self, phrases: str) -> re.Pattern[str]:
        """Any of the phrases, as whole words where the language has words; the longest first."""
        listed = sorted(
            (fold(phrase.strip()) for phrase in phrases.split("|") if phrase.strip()), key=len, reverse=True
        )
        either = "|".join(map(re.escape, listed)) or r"(?!)"
        return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if self.spaced else f"(?:{either})")

    @cached_property
    def remembers(self) -> re.Pattern[str]:
        return self.anywhere(self.remember)

    @cached_property
    def names_today(self) -> re.Pattern[str]:
        return self.anywhere(self.today)

    @cached_property
    def names_log(self) -> re.Pattern[str]:
        return self.anywhere(self.log)

    @cached_property
    def asks(self) -> re.Pattern[str]:
        return self.anywhere(self.asking)

    @cached_property
    def uninformative(self) -> re.Pattern[str]:
        return self.anywhere(f"{self.asking}|{self.filler}")

    @cached_property
    def about_today(self) -> re.Pattern[str]:
        return self.anywhere(f"{self.asking}|{self.filler}|{self.today}|{self.log}")

    @cached_property
    def signs(self) -> frozenset[str]:
        """Single words that speak for this language."""
        every = "|".join((self.greeting, self.thanks, self.remember, self.today, self.asking, self.telltale))
        return frozenset(terms(fold(every)))


VOCABULARIES: Mapping[Language, Vocabulary] = {
    Language.ENGLISH: Vocabulary(
        greeting="hi|hello|hey|hi there|hello there|good morning|good afternoon|good evening|good day",
        thanks="thanks|thank you|thank you very much|thanks a lot|ok|okay|👍",
        help="help|start|who are you|what are you|what can you do|what do you do|how do i connect a model",
        remember="remember|please remember|note|please note|don't forget|do not forget|keep in mind|make a note"
        "|write down|jot down|save this|can you remember|could you remember|can you note|could you note",
        today="today|today's|todays",
        log="log|daybook|diary|notes|noted|note|entries|happened|write|wrote|written|said|tell|told",
        asking="who|what|what's|where|which|whose|why|how|when|find|search|look up|look for|tell me|show|show me|list"
        "|do you know|do you remember",
        filler="did|you|me|please|about|from|so far|have|happen",
        telltale="the|is|a|my|i|and|of|to|that|it|was|at",
    ),
    Language.GERMAN: Vocabulary(
        greeting="hallo|moin|servus|guten morgen|guten tag|guten abend|grüß gott",
        thanks="danke|danke schön|danke sehr|vielen dank",
        help="hilfe|wer bist du|was bist du|was kannst du|was machst du",
        remember="merk dir|merke dir|bitte merk dir|bitte merke dir|notier|notiere|bitte notiere|vergiss nicht"
        "|denk daran|schreib auf|schreib dir auf|behalte|kannst du dir merken|könntest du dir merken",
        today="heute|heutige|heutigen|heutiges",
        log="protokoll|tagebuch|notizen|notiert|eingetragen|passiert|geschrieben|erzählt|gesagt|los",
        asking="wer|was|wann|wo|woher|wohin|wem|wen|welche|welcher|welches|welchen|warum|wieso|wie|such|suche|finde|zeig"
        "|zeige|zeig mir|weißt du",
        filler="bitte|mal|habe|hast|ich|du|ist|über|bisher",
        telltale="nicht|und|der|die|das|ein|eine|einen|mein|meine|dir|mir|hat|mag|heißt|morgen|ist|ich|von|zum|um",
    ),
    Language.SPANISH: Vocabulary(
        greeting="hola|buenos días|buenas|buenas tardes|buenas noches",
        thanks="gracias|muchas gracias|vale",
        help="ayuda|quién eres|qué eres|qué puedes hacer|qué haces",
        remember="recuerda|recuerda que|anota|apunta|no olvides|ten en cuenta|guarda esto",
        today="hoy|de hoy",
        log="registro|diario|notas|anoté|anotado|pasó|pasado|escribí|dije|apunté",
        asking="qué|quién|quiénes|cuándo|dónde|cuál|cuáles|cómo|cuánto|por qué|busca|encuentra|muestra|muéstrame|sabes",
        filler="por favor|he|ha|se|sobre|sabes",
        telltale="el|los|las|es|un|una|mi|y|que|me|tengo|gusta|llama|del|está|mañana",
    ),
    Language.FRENCH: Vocabulary(
        greeting="bonjour|bonsoir|salut|coucou",
        thanks="merci|merci beaucoup|merci bien|d'accord",
        help="aide|qui es-tu|qui êtes-vous|que peux-tu faire|que sais-tu faire|que fais-tu",
        remember="souviens-toi|rappelle-toi|note que|note|notez|retiens|n'oublie pas|garde en tête",
        today="aujourd'hui|du jour",
        log="journal|notes|noté|passé|écrit|dit|jour",
        asking="qui|que|qu'est-ce que|quoi|quand|où|quel|quelle|quels|quelles|pourquoi|comment|combien|cherche|trouve"
        "|montre|montre-moi|est-ce que|sais-tu",
        filler="s'il te plaît|ai-je|s'est-il|qu|ai|je|est|il|le|sur|moi|ce",
        telltale="le|les|est|une|mon|ma|tu|et|ne|pas|suis|aime|des|du|demain",
    ),
    Language.CHINESE: Vocabulary(
        greeting="你好|您好|早上好|下午好|晚上好|嗨",
        thanks="谢谢|多谢|谢谢你|好的|好",
        help="帮助|你是谁|你能做什么|你会什么|你会做什么",
        remember="记住|记下|记一下|请记|别忘|不要忘|记得要",
        today="今天|今日",
        log="日志|日记|记录|笔记|记了|记下了|记|发生了|发生|写了|说了|做了|显示|给我看|看看|看",
        asking="什么|谁|哪|怎么|为什么|多少|几点|几号|吗|呢|查|找",
        filler="哪里|哪儿|哪个|我的|我们|我|你|是|在|的|了|请|知道|记得|告诉我|告诉|查一下|找一下|有没有|有|叫|都|些|给|一下",
        spaced=False,
    ),
    Language.JAPANESE: Vocabulary(
        greeting="こんにちは|こんばんは|おはよう|おはようございます|はじめまして",
        thanks="ありがとう|ありがとうございます|どうも",
        help="ヘルプ|あなたは誰|あなたは誰ですか|何ができますか|何ができる",
        remember="覚えて|メモして|忘れないで|記録して|書いておいて",
        today="今日|きょう|本日",
        log="ログ|日記|メモ|記録|書いた|書きました|話した|あった|ありました|した|しました|出来事|見せて",
        asking="何|なに|誰|いつ|どこ|どう|なぜ|どれ|いくつ|教えて|探して|ですか|ますか|でしたか|ましたか|だっけ",
        filler="私の|私|あなた|ください|です|でした|は|が|を|の|に|か|って|と|も",
        spaced=False,
    ),
}
