"""What the offline assistant says, in the languages it understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.language import Language


@dataclass(frozen=True, slots=True)
class Phrases:
    """`noted` and `today` take {path}, `nothing` takes {query}, `command` {command}, `failed` {why}, `offline` {env},
    the file in which a key is looked for. `offline` says what this is and how to connect a model; the names in it are
    those of files, commands and settings."""

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
