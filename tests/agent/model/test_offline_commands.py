"""What people ask for in plain words that a command does."""

from __future__ import annotations

import pytest

from agent.languages.registry import LANGUAGES
from agent.model.offline.intent import IntentKind, plain_command, understand


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Remind me tomorrow at three to call mum", "/remind tomorrow at three to call mum"),
        ("Please remind me to call mum tomorrow at 15:00.", "/remind to call mum tomorrow at 15:00"),
        ("Can you remind us in 20 minutes of the tea?", "/remind in 20 minutes of the tea"),
        ("remind me", "/remind"),
        ("Erinnere mich morgen um 15 Uhr daran, Mama anzurufen", "/remind morgen um 15 Uhr daran, Mama anzurufen"),
        ("Recuérdame mañana a las 15:00 llamar a mamá", "/remind mañana a las 15:00 llamar a mamá"),
        ("Rappelle-moi demain à 15 h d'appeler maman", "/remind demain à 15 h d'appeler maman"),
        ("明天下午三点提醒我给妈妈打电话", "/remind 明天下午三点 给妈妈打电话"),
        ("明日15時に母に電話するようにリマインドして", "/remind 明日15時に母に電話する"),
        ("Forget the bike", "/forget bike"),
        ("Please forget about the bike!", "/forget bike"),
        ("Vergiss das Fahrrad", "/forget Fahrrad"),
        ("Olvida la bici", "/forget bici"),
        ("Oublie le vélo", "/forget vélo"),
        ("忘掉自行车吧", "/forget 自行车"),
        ("自転車のことは忘れて", "/forget 自転車"),
        ("forget it", "/forget"),
        ("Olvídalo.", "/forget"),
        ("Undo that", "/undo"),
        ("undo", "/undo"),
        ("Mach das rückgängig", "/undo"),
        ("Deshaz eso", "/undo"),
        ("Annule ça", "/undo"),
        ("撤销刚才的", "/undo"),
        ("それを取り消して", "/undo"),
    ],
)
def test_it_is_the_command_in_any_of_the_languages(text: str, command: str) -> None:
    assert str(plain_command(text)) == command


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget the milk",
        "Forget me not",
        "I forgot the bike",
        "Remind me what Anna said",
        "This reminds me of home",
        "Vergiss nicht, dass Luna Feigen mag",
        "Recuerda que mañana es lunes",
        "Rappelle-toi que je pars",
        "N'oublie pas le lait",
        "No olvides la leche",
        "别忘了带钥匙",
        "鍵を忘れないで",
        "She will undo that knot tomorrow",
        "",
        "forget " + "the long story of my life " * 40,
    ],
)
def test_other_words_are_none(text: str) -> None:
    assert plain_command(text) is None


@pytest.mark.parametrize("text", ["Remind me tomorrow to call mum", "Vergiss das Fahrrad", "Deshaz eso", "忘掉自行车"])
def test_the_offline_assistant_says_which_command_and_files_nothing(text: str) -> None:
    intent = understand(text)
    assert intent.wish is IntentKind.COMMAND
    assert str(plain_command(text)) in LANGUAGES[intent.language].offline.command.format(command=intent.query)
