"""The offline assistant's sentences, and the words by which it recognises intents, by language. Phrases are divided by
`|`; case and accents do not matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.languages.codes import Language
from agent.languages.terms import fold, terms


@dataclass(frozen=True, slots=True)
class Phrases:
    """`noted` and `today` take {path}, `nothing` {query}, `command` {command}, `failed` {why}, `offline` {env}, the
    file for a key. `offline` says what this is and how to connect a model, with names of files, commands and
    settings."""

    greeting: str
    offline: str
    abilities: str
    welcome: str
    noted: str
    found: str
    nothing: str
    today: str
    today_empty: str
    failed: str
    no_tool: str
    empty: str
    unseen: str
    command: str


PHRASES: Mapping[Language, Phrases] = {
    Language.ENGLISH: Phrases(
        greeting="Hello!",
        offline=(
            "I am Daybook's offline assistant: I keep and find notes, but no language model is connected. To connect "
            "one, put `ANTHROPIC_API_KEY=…` into `{env}`, or set `model.base_url` in `config.yaml` "
            "(`daybook init` asks for both), then start again."
        ),
        abilities=(
            "Tell me something and I write it into today's log. Ask a question and I look through your notes. "
            "“What did I note today?” shows today's log."
        ),
        welcome="You're welcome.",
        noted="Noted in {path}:",
        found="This is what I find in your notes:",
        nothing="I find nothing in your notes about “{query}”.",
        today="Today's log, {path}:",
        today_empty="Nothing stands in today's log yet.",
        failed="That did not work: {why}",
        no_tool="I cannot do that in this chat.",
        empty="I read text only, and this message has none.",
        unseen="What came with your message is kept, but I cannot look into it without a language model.",
        command="Send `{command}` by itself: that command does it.",
    ),
    Language.GERMAN: Phrases(
        greeting="Hallo!",
        offline=(
            "Ich bin Daybooks Offline-Assistent: Ich bewahre Notizen auf und finde sie wieder, aber es ist kein "
            "Sprachmodell verbunden. Um eines zu verbinden, `ANTHROPIC_API_KEY=…` in `{env}` schreiben oder "
            "`model.base_url` in `config.yaml` setzen (`daybook init` fragt nach beidem), dann neu starten."
        ),
        abilities=(
            "Erzähl mir etwas, und ich schreibe es ins heutige Protokoll. Stell eine Frage, und ich suche in deinen "
            "Notizen. „Was habe ich heute notiert?“ zeigt das heutige Protokoll."
        ),
        welcome="Gern geschehen.",
        noted="Notiert in {path}:",
        found="Das finde ich in deinen Notizen:",
        nothing="In deinen Notizen finde ich nichts zu „{query}“.",
        today="Das heutige Protokoll, {path}:",
        today_empty="Im heutigen Protokoll steht noch nichts.",
        failed="Das hat nicht geklappt: {why}",
        no_tool="Das kann ich in diesem Chat nicht.",
        empty="Ich lese nur Text, und diese Nachricht hat keinen.",
        unseen="Was mit deiner Nachricht kam, ist aufgehoben; ansehen kann ich es ohne Sprachmodell nicht.",
        command="Schick `{command}` für sich allein: Dieser Befehl tut das.",
    ),
    Language.SPANISH: Phrases(
        greeting="¡Hola!",
        offline=(
            "Soy el asistente sin conexión de Daybook: guardo y encuentro notas, pero no hay ningún modelo de lenguaje "
            "conectado. Para conectar uno, escribe `ANTHROPIC_API_KEY=…` en `{env}` o pon `model.base_url` "
            "en `config.yaml` (`daybook init` pregunta por ambos) y vuelve a iniciar."
        ),
        abilities=(
            "Cuéntame algo y lo escribo en el registro de hoy. Haz una pregunta y busco en tus notas. "
            "«¿Qué anoté hoy?» muestra el registro de hoy."
        ),
        welcome="De nada.",
        noted="Anotado en {path}:",
        found="Esto es lo que encuentro en tus notas:",
        nothing="No encuentro nada en tus notas sobre «{query}».",
        today="El registro de hoy, {path}:",
        today_empty="El registro de hoy todavía está vacío.",
        failed="No ha funcionado: {why}",
        no_tool="No puedo hacer eso en este chat.",
        empty="Solo leo texto, y este mensaje no tiene.",
        unseen="Lo que vino con tu mensaje queda guardado, pero sin un modelo de lenguaje no puedo verlo.",
        command="Envía solo `{command}`: ese comando lo hace.",
    ),
    Language.FRENCH: Phrases(
        greeting="Bonjour !",
        offline=(
            "Je suis l'assistant hors ligne de Daybook : je garde et retrouve des notes, mais aucun modèle de langage "
            "n'est connecté. Pour en connecter un, mettez `ANTHROPIC_API_KEY=…` dans `{env}` ou "
            "`model.base_url` dans `config.yaml` (`daybook init` demande les deux), puis redémarrez."
        ),
        abilities=(
            "Racontez-moi quelque chose et je l'écris dans le journal du jour. Posez une question et je cherche dans "
            "vos notes. « Qu'ai-je noté aujourd'hui ? » montre le journal du jour."
        ),
        welcome="Je vous en prie.",
        noted="Noté dans {path} :",
        found="Voici ce que je trouve dans vos notes :",
        nothing="Je ne trouve rien dans vos notes sur « {query} ».",
        today="Le journal du jour, {path} :",
        today_empty="Le journal du jour est encore vide.",
        failed="Cela n'a pas marché : {why}",
        no_tool="Je ne peux pas faire cela dans ce chat.",
        empty="Je ne lis que du texte, et ce message n'en a pas.",
        unseen="Ce qui accompagnait ton message est conservé, mais sans modèle de langage je ne peux pas le consulter.",
        command="Envoyez `{command}` seul : cette commande le fait.",
    ),
    Language.CHINESE: Phrases(
        greeting="你好！",
        offline=(
            "我是 Daybook 的离线助手：能记笔记、找笔记，但没有连接语言模型。要连接模型，请在 `{env}` 中写入 "
            "`ANTHROPIC_API_KEY=…`，或在 `config.yaml` 中设置 `model.base_url`"
            "（`daybook init` 会询问两者），然后重新启动。"
        ),
        abilities="告诉我一件事，我就写进今天的日志。问我问题，我就在你的笔记里查找。“今天记了什么？”会显示今天的日志。",
        welcome="不客气。",
        noted="已记在 {path}：",
        found="我在你的笔记里找到：",
        nothing="你的笔记里没有关于“{query}”的内容。",
        today="今天的日志，{path}：",
        today_empty="今天的日志还是空的。",
        failed="没有成功：{why}",
        no_tool="我在这个聊天里做不到。",
        empty="我只能读文字，而这条消息没有文字。",
        unseen="随消息发来的内容已保存，但没有语言模型我无法查看。",
        command="请单独发送 `{command}`：这个命令会做到。",
    ),
    Language.JAPANESE: Phrases(
        greeting="こんにちは！",
        offline=(
            "Daybook のオフラインアシスタントです。メモを書き、探すことはできますが、言語モデルは接続されていません。"
            "接続するには `{env}` に `ANTHROPIC_API_KEY=…` を書くか、`config.yaml` で `model.base_url` を"
            "設定し（`daybook init` がどちらも尋ねます）、再起動してください。"
        ),
        abilities=(
            "何か話してくだされば今日のログに書きます。質問すればメモの中を探します。"
            "「今日は何をメモした？」で今日のログが見られます。"
        ),
        welcome="どういたしまして。",
        noted="{path} に書きました：",
        found="メモの中にこれがありました：",
        nothing="「{query}」についてのメモは見つかりません。",
        today="今日のログ、{path}：",
        today_empty="今日のログはまだ空です。",
        failed="うまくいきませんでした：{why}",
        no_tool="このチャットではそれはできません。",
        empty="読めるのは文字だけですが、このメッセージには文字がありません。",
        unseen="メッセージに添えられたものは保存しましたが、言語モデルがないと中身を見られません。",
        command="`{command}` だけを送ってください。そのコマンドで行います。",
    ),
}


@dataclass(frozen=True)
class Vocabulary:
    """greeting, thanks, help    the whole message
    remember    begins what is to be kept
    today       the day; with `log` (or a question) and nothing else in particular: today's log is wanted
    asking      begins a question that has no question mark
    filler      says nothing about what a question is after
    telltale    further words that give the language away
    spaced      the language writes spaces between words"""

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
        """Single words of this language only."""
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
