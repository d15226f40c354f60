"""Which values are secret: those that the configuration hides, those of `.env`, and tokens that Daybook made."""

from __future__ import annotations

from gateway.config import known_secrets
from gateway.config.whole import whole

ENVIRON = {"NOTES_KEY": "key-of-the-notes", "AT": "/srv/notes", "SAYS": "Be kind to all"}


def test_what_is_known() -> None:
    config = whole().model_validate(
        {
            "timezone": "Europe/Berlin",
            "model": {"api_key": "sk-of-the-model-1234"},
            "channels": {"telegram": {"token": "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"}},
            "tools": {
                "mcp": {
                    "notes": {
                        "command": ["notes"],
                        "env": ENVIRON,
                    }
                }
            },
            "database_url": "postgresql://me:of%2Fthe-database@host:5432/x",
        }
    )
    env = "TZ=Europe/Berlin\nexport OTHER='only-in-the-env-file' # one\n# NOT=in-a-comment-only\n"
    strike = known_secrets(config, env, ["token-of-the-page"])
    for one in (
        *("sk-of-the-model-1234", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "key-of-the-notes"),
        *("of%2Fthe-database", "of/the-database", "only-in-the-env-file", "token-of-the-page"),
    ):
        assert one not in strike(f"x {one} y"), one
    for one in ("Europe/Berlin", "/srv/notes", "Be kind to all", "in-a-comment-only", "notes", "telegram"):
        assert strike(one) == one
