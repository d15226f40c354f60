"""The questions to the owner before an effect that text of others may have caused, in the languages of chats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.languages.codes import Language
from agent.tools.base import EffectKind


@dataclass(frozen=True, slots=True)
class ApprovalStrings:
    """Sentences and their parameters: `effects` by kind take {target}; `because` {source}, `because_line` {source} and
    {line}, `private` {line}, `asked_in` {chat}; the others {what}. `yes` and `no` are labels of buttons."""

    effects: Mapping[EffectKind, str]
    question: str
    because: str
    because_line: str
    private: str
    asked_in: str
    good_for: str
    yes: str
    no: str
    done: str
    refused: str
    changed: str
    failed: str
    none_open: str
    listed: str
    left_out: str


_E = EffectKind

APPROVAL_STRINGS: Mapping[Language, ApprovalStrings] = {
    Language.ENGLISH: ApprovalStrings(
        effects={
            _E.SEND: "send this to {target}",
            _E.WRITE: "write this into {target}",
            _E.WRITE_COMMON: "change {target}, which is read in every chat, also by others",
            _E.WRITE_SKILL: "write the skill {target}, which then counts in every chat, also in those of others",
            _E.ADD_JOB: "add this job for {target}",
            _E.REMOVE_JOB: "remove this job for {target}",
        },
        question="**Shall I {what}?**",
        because="I had text before me that is not yours: {source}.",
        because_line="I had text before me that is not yours: {source}, “{line}”.",
        private="It repeats a line of your private memory: “{line}”.",
        asked_in="It was asked for in {chat}.",
        good_for="Nothing is done without your yes, which counts for exactly this, within 24 hours.",
        yes="Yes",
        no="No",
        done="Done, with your yes: {what}.",
        refused="Not done: {what}.",
        changed="Nothing was done, for it has changed since I asked: {what}.",
        failed="That could not be done ({why}): {what}.",
        none_open="Nothing waits for your yes.",
        listed="This waits for your yes:",
        left_out="[{number} characters are left out here; all of it is in the file below]",
    ),
    Language.GERMAN: ApprovalStrings(
        effects={
            _E.SEND: "das an {target} senden",
            _E.WRITE: "das in {target} schreiben",
            _E.WRITE_COMMON: "{target} ändern, das in jedem Chat gelesen wird, auch von anderen",
            _E.WRITE_SKILL: "den Skill {target} schreiben, der dann in jedem Chat gilt, auch in denen anderer",
            _E.ADD_JOB: "diesen Auftrag für {target} anlegen",
            _E.REMOVE_JOB: "diesen Auftrag für {target} entfernen",
        },
        question="**Soll ich {what}?**",
        because="Mir lag Text vor, der nicht von dir ist: {source}.",
        because_line="Mir lag Text vor, der nicht von dir ist: {source}, „{line}“.",
        private="Darin steht eine Zeile aus deinem privaten Gedächtnis: „{line}“.",
        asked_in="Verlangt wurde es in {chat}.",
        good_for="Ohne dein Ja geschieht nichts; es gilt für genau das, 24 Stunden lang.",
        yes="Ja",
        no="Nein",
        done="Erledigt, mit deinem Ja: {what}.",
        refused="Nicht getan: {what}.",
        changed="Nichts getan, denn es hat sich seit meiner Frage geändert: {what}.",
        failed="Das ging nicht ({why}): {what}.",
        none_open="Nichts wartet auf dein Ja.",
        listed="Das wartet auf dein Ja:",
        left_out="[{number} Zeichen sind hier ausgelassen; das Ganze steht in der Datei darunter]",
    ),
    Language.SPANISH: ApprovalStrings(
        effects={
            _E.SEND: "enviar esto a {target}",
            _E.WRITE: "escribir esto en {target}",
            _E.WRITE_COMMON: "cambiar {target}, que se lee en todos los chats, también por otros",
            _E.WRITE_SKILL: "escribir la habilidad {target}, que valdrá en todos los chats, también en los de otros",
            _E.ADD_JOB: "añadir esta tarea para {target}",
            _E.REMOVE_JOB: "quitar esta tarea para {target}",
        },
        question="**¿Debo {what}?**",
        because="Tenía delante texto que no es tuyo: {source}.",
        because_line="Tenía delante texto que no es tuyo: {source}, «{line}».",
        private="Repite una línea de tu memoria privada: «{line}».",
        asked_in="Se pidió en {chat}.",
        good_for="Nada se hace sin tu sí, que vale exactamente para esto, durante 24 horas.",
        yes="Sí",
        no="No",
        done="Hecho, con tu sí: {what}.",
        refused="No hecho: {what}.",
        changed="No se hizo nada, porque cambió desde que pregunté: {what}.",
        failed="No se pudo hacer ({why}): {what}.",
        none_open="Nada espera tu sí.",
        listed="Esto espera tu sí:",
        left_out="[aquí faltan {number} caracteres; todo está en el archivo de abajo]",
    ),
    Language.FRENCH: ApprovalStrings(
        effects={
            _E.SEND: "envoyer ceci à {target}",
            _E.WRITE: "écrire ceci dans {target}",
            _E.WRITE_COMMON: "changer {target}, qui est lu dans chaque discussion, aussi par d'autres",
            _E.WRITE_SKILL: "écrire la compétence {target}, qui vaudra partout, aussi chez les autres",
            _E.ADD_JOB: "ajouter cette tâche pour {target}",
            _E.REMOVE_JOB: "supprimer cette tâche pour {target}",
        },
        question="**Dois-je {what} ?**",
        because="J'avais sous les yeux un texte qui n'est pas de vous : {source}.",
        because_line="J'avais sous les yeux un texte qui n'est pas de vous : {source}, « {line} ».",
        private="Il répète une ligne de votre mémoire privée : « {line} ».",
        asked_in="C'était demandé dans {chat}.",
        good_for="Rien n'est fait sans votre oui, qui vaut exactement pour ceci, pendant 24 heures.",
        yes="Oui",
        no="Non",
        done="Fait, avec votre oui : {what}.",
        refused="Pas fait : {what}.",
        changed="Rien n'a été fait, car cela a changé depuis ma question : {what}.",
        failed="Cela n'a pas pu être fait ({why}) : {what}.",
        none_open="Rien n'attend votre oui.",
        listed="Ceci attend votre oui :",
        left_out="[{number} caractères sont omis ici ; tout est dans le fichier ci-dessous]",
    ),
    Language.CHINESE: ApprovalStrings(
        effects={
            _E.SEND: "把这个发给 {target}",
            _E.WRITE: "把这个写进 {target}",
            _E.WRITE_COMMON: "修改 {target}（每个聊天都会读到，包括别人的）",
            _E.WRITE_SKILL: "写入技能 {target}（它会在每个聊天里生效，包括别人的）",
            _E.ADD_JOB: "为 {target} 添加这个任务",
            _E.REMOVE_JOB: "删除 {target} 的这个任务",
        },
        question="**要我{what}吗？**",
        because="我面前有不是您写的文字：{source}。",
        because_line="我面前有不是您写的文字：{source}，“{line}”。",
        private="其中重复了您私人记忆里的一行：“{line}”。",
        asked_in="这是在 {chat} 里要求的。",
        good_for="没有您的同意什么都不会做；同意只对这一件事有效，24 小时内。",
        yes="同意",
        no="不要",
        done="您同意了，已完成：{what}。",
        refused="没有做：{what}。",
        changed="提问之后情况变了，所以什么都没做：{what}。",
        failed="没能做到（{why}）：{what}。",
        none_open="没有等待您同意的事。",
        listed="等待您同意的事：",
        left_out="［此处省略 {number} 个字符；全文在下面的文件里］",
    ),
    Language.JAPANESE: ApprovalStrings(
        effects={
            _E.SEND: "これを {target} に送る",
            _E.WRITE: "これを {target} に書く",
            _E.WRITE_COMMON: "{target} を変更する（ほかの人も含め、すべてのチャットで読まれます）",
            _E.WRITE_SKILL: "スキル {target} を書く（ほかの人のチャットも含め、すべてで有効になります）",
            _E.ADD_JOB: "{target} 向けにこのジョブを追加する",
            _E.REMOVE_JOB: "{target} 向けのこのジョブを削除する",
        },
        question="**{what}：してよいですか？**",
        because="あなたのものではない文章がありました：{source}。",
        because_line="あなたのものではない文章がありました：{source}「{line}」。",
        private="あなたの非公開のメモの一行が含まれています：「{line}」。",
        asked_in="{chat} で求められました。",
        good_for="「はい」がなければ何もしません。24 時間以内、この件だけに有効です。",
        yes="はい",
        no="いいえ",
        done="「はい」をいただき、実行しました：{what}。",
        refused="実行していません：{what}。",
        changed="お尋ねした後に変わったため、何もしませんでした：{what}。",
        failed="できませんでした（{why}）：{what}。",
        none_open="「はい」を待っているものはありません。",
        listed="「はい」を待っているもの：",
        left_out="［ここで {number} 文字を省略。全文は下のファイルにあります］",
    ),
}
