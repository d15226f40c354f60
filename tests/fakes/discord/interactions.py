"""Buttons that are pressed and commands that are sent, and how a bot may answer them
(https://discord.com/developers/docs/interactions/receiving-and-responding)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.discord.commands import Commands
from tests.fakes.discord.errors import ApiError, JsonObject, invalid
from tests.fakes.discord.model import (
    CHAT_INPUT_COMMAND,
    EPHEMERAL,
    LOADING,
    Channel,
    Message,
    User,
)
from tests.fakes.discord.payloads import (
    DEFAULT,
    MAX_FILE,
    channel_json,
    event_json,
    member_json,
    message_json,
    user_json,
)
from tests.fakes.discord.rest import SETTABLE, rewrite, write
from tests.fakes.discord.wire import NO_CONTENT, Request, Routes

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
ANSWERS = {
    COMMAND: (MESSAGE, DEFERRED_MESSAGE, MODAL),
    COMPONENT: (MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, MODAL),
    AUTOCOMPLETE: (CHOICES,),
    MODAL_SUBMIT: (MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE),
}
ACKNOWLEDGE_S, TOKEN_S = 3.0, 15 * 60.0
"""As on the original; a test that wants the first sets `acknowledge_within`."""
STRING, INTEGER, BOOLEAN, NUMBER, SUBCOMMANDS = 3, 4, 5, 10, (1, 2)


@dataclass(eq=False, slots=True)
class Interaction:
    """What a person did, and what the bot made of it. `at` and `acknowledged` are the fake's monotonic seconds;
    `answer` is the message that answers it (still empty after a deferral), `followups` those after it."""

    id: int
    token: str
    type: int
    user: User
    channel: Channel
    at: float
    data: JsonObject
    message: Message | None = None
    acknowledged: float | None = None
    answered_as: int | None = None
    answer: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[JsonObject] = field(default_factory=list)
    modal: JsonObject | None = None


class Interactions(Commands):
    """Commands and components in use. `acknowledge_within`: seconds after which a bot is too late. The original's 3 are
    those of a real clock, which a slow machine overruns by itself; so they are many more unless a test sets them."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.interactions: list[Interaction] = []
        self.acknowledge_within = 600.0

    async def press(
        self, user: User, message: Message, custom_id: str, *, values: Sequence[str] | None = None
    ) -> Interaction:
        """A person presses a button, or picks `values` in a menu. Raises `ValueError` where there is none to press."""
        if message.deleted or message.only_for not in (None, user):
            raise ValueError(f"{user.name} does not see this message")
        known = [one for one in message.controls if one["custom_id"] == custom_id and not one.get("disabled")]
        if not known:
            raise ValueError(f"no such button: {custom_id!r}; there are {message.buttons}")
        data: JsonObject = {"custom_id": custom_id, "component_type": known[0]["type"], "id": known[0].get("id", 1)}
        if known[0]["type"] != 2:
            data["values"] = list(values or ())
        return self._interact(COMPONENT, user, message.channel, data, message)

    async def slash(
        self, user: User, channel: Channel, name: str, options: Mapping[str, Any] | None = None
    ) -> Interaction:
        """A person sends a registered command; `name` may be `group sub`. Raises `KeyError` for an unknown command and
        `ValueError` for options that Discord's client would not send."""
        name, *path = name.removeprefix("/").split()
        command = self.find_command(channel.guild, name)
        schema = command["options"]
        for part in path:
            schema = next(one for one in schema if one["name"] == part and one["type"] in SUBCOMMANDS).get(
                "options", []
            )
        values = _filled(schema, dict(options or {}))
        for part in reversed(path):
            values = [{"name": part, "type": 1 if part == path[-1] else 2, "options": values}]
        data: JsonObject = {"id": command["id"], "name": name, "type": 1, "options": values}
        if "guild_id" in command:
            data["guild_id"] = command["guild_id"]
        return self._interact(COMMAND, user, channel, data, None)

    async def submit(self, user: User, interaction: Interaction, fields: Mapping[str, str]) -> Interaction:
        """A person fills in the modal that answered an interaction."""
        if interaction.modal is None:
            raise ValueError("no modal was shown")
        rows = [
            {"type": 1, "components": [{"type": 4, "custom_id": key, "value": value}]} for key, value in fields.items()
        ]
        data: JsonObject = {"custom_id": interaction.modal["custom_id"], "components": rows}
        return self._interact(MODAL_SUBMIT, user, interaction.channel, data, interaction.message)

    def failed(self, interaction: Interaction) -> bool:
        """The person reads "This interaction failed" or "The application did not respond"."""
        return interaction.acknowledged is None and self.now() - interaction.at > self.acknowledge_within

    def _interact(
        self, kind: int, user: User, channel: Channel, data: JsonObject, message: Message | None
    ) -> Interaction:
        made = Interaction(self.next_id(), secrets.token_urlsafe(64), kind, user, channel, self.now(), data, message)
        self.interactions.append(made)
        self.publish("INTERACTION_CREATE", self._payload(made), 0)
        self.bell.ring()
        return made

    def _payload(self, interaction: Interaction) -> JsonObject:
        channel, user = interaction.channel, interaction.user
        seen = str(DEFAULT)
        made: JsonObject = {
            "id": str(interaction.id),
            "application_id": str(self.bot.id),
            "type": interaction.type,
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel_id": str(channel.id),
            "channel": channel_json(channel, self.bot) | {"permissions": seen},
            "app_permissions": seen,
            "locale": user.locale,
            "entitlements": [],
            "entitlement_sku_ids": [],
            "attachment_size_limit": MAX_FILE,
            "authorizing_integration_owners": {"0": str(channel.guild.id) if channel.guild else "0"},
            "context": 0 if channel.guild else 1,
        }
        if channel.guild is None:
            made["user"] = user_json(user)
        else:
            guild = channel.guild
            guild.members.setdefault(user.id, user)
            made["guild_id"] = str(guild.id)
            made["guild"] = {"id": str(guild.id), "locale": guild.locale, "features": []}
            made["guild_locale"] = guild.locale
            made["member"] = member_json(guild, user) | {"permissions": seen}
        if interaction.message is not None:
            made["message"] = event_json(interaction.message, self.bot)
        return made

    def live(self, app: int, token: str) -> Interaction:
        """The interaction whose answers go to this webhook. Raises `ApiError`."""
        if app != self.bot.id:
            raise ApiError(10015)
        for interaction in self.interactions:
            if interaction.token == token:
                if self.now() - interaction.at > TOKEN_S:
                    raise ApiError(50027)
                if interaction.acknowledged is None:
                    raise ApiError(10015)
                return interaction
        raise ApiError(50027)


def _filled(schema: list[JsonObject], given: dict[str, Any]) -> list[JsonObject]:
    known = {one["name"]: one for one in schema}
    missing = [name for name, one in known.items() if one.get("required") and name not in given]
    if missing or (unknown := given.keys() - known.keys()):
        raise ValueError(f"options missing: {missing}" if missing else f"options unknown: {unknown}")
    kinds = {STRING: str, INTEGER: int, BOOLEAN: bool, NUMBER: float}
    for name, value in given.items():
        if not isinstance(value, kinds.get(known[name]["type"], object)):
            raise ValueError(f"{name} is of another type than {value!r}")
        choices = [one["value"] for one in known[name].get("choices") or []]
        if choices and value not in choices:
            raise ValueError(f"{name} is one of {choices}")
    return [{"name": name, "type": known[name]["type"], "value": value} for name, value in given.items()]


interaction_routes: Routes[Interactions] = Routes()


@interaction_routes.add("POST", "/interactions/{interaction}/{token}/callback")
def callback(fake: Interactions, request: Request) -> Any:
    id, token = request.id("interaction"), request.ids["token"]
    found = next((one for one in fake.interactions if one.id == id and one.token == token), None)
    if found is None or fake.failed(found):
        raise ApiError(10062)
    if found.acknowledged is not None:
        raise ApiError(40060)
    body = request.body()
    kind, data = body.get("type"), body.get("data") or {}
    if kind not in ANSWERS[found.type]:
        raise invalid("type", "BASE_TYPE_CHOICES", f"Value must be one of {ANSWERS[found.type]}.")
    inner = Request("POST", request.path, {}, data, request.files)
    _answer(fake, found, kind, inner)
    found.acknowledged, found.answered_as = fake.now(), kind
    if request.query.get("with_response", "").lower() not in ("1", "true"):
        return NO_CONTENT
    return _receipt(fake, found, kind)


def _answer(fake: Interactions, found: Interaction, kind: int, inner: Request) -> None:
    data = inner.body()
    if kind == MESSAGE:
        found.answer = _write(fake, found, inner)
    elif kind == DEFERRED_MESSAGE:
        flags = LOADING | int(data.get("flags") or 0) & EPHEMERAL
        found.answer = fake.add_message(
            found.channel, fake.bot, "", flags=flags, **_fields(fake, found, bool(flags & EPHEMERAL))
        )
    elif kind in (DEFERRED_UPDATE, UPDATE):
        if found.message is None:
            raise invalid("type", "BASE_TYPE_CHOICES", "There is no message to update.")
        if kind == UPDATE:
            rewrite(fake, inner, found.message)
        found.answer = found.message
    elif kind == CHOICES:
        found.choices = data.get("choices") or []
    elif not 1 <= len(str(data.get("custom_id") or "")) <= 100 or not 1 <= len(str(data.get("title") or "")) <= 45:
        raise invalid("data.title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
    else:
        found.modal = data


def _fields(fake: Interactions, found: Interaction, ephemeral: bool) -> dict[str, Any]:
    """What an answer has beside its content."""
    metadata: JsonObject = {
        "id": str(found.id),
        "type": found.type,
        "user": user_json(found.user),
        "authorizing_integration_owners": {"0": str(found.channel.guild.id) if found.channel.guild else "0"},
    }
    if found.type == COMMAND:
        metadata |= {"name": found.data["name"], "command_type": 1}
    elif found.message is not None:
        metadata["interacted_message_id"] = str(found.message.id)
    return {
        "type": CHAT_INPUT_COMMAND if found.type == COMMAND and found.answer is None else 0,
        "interaction": metadata,
        "only_for": found.user if ephemeral else None,
    }


def _write(fake: Interactions, found: Interaction, inner: Request) -> Message:
    ephemeral = bool(int(inner.body().get("flags") or 0) & EPHEMERAL)
    return write(fake, inner, found.channel, settable=SETTABLE | EPHEMERAL, **_fields(fake, found, ephemeral))


def _receipt(fake: Interactions, found: Interaction, kind: int) -> JsonObject:
    told: JsonObject = {"id": str(found.id), "type": found.type}
    made: JsonObject = {"interaction": told}
    if found.answer is not None:
        told |= {
            "response_message_id": str(found.answer.id),
            "response_message_loading": found.answer.loading,
            "response_message_ephemeral": found.answer.ephemeral,
        }
        if kind != DEFERRED_UPDATE:
            made["resource"] = {"type": kind, "message": message_json(found.answer, fake.bot)}
    return made


@interaction_routes.add("POST", "/webhooks/{app}/{token}")
def follow_up(fake: Interactions, request: Request) -> Any:
    """The first one after a deferral fills the answer that is still loading."""
    found = fake.live(request.id("app"), request.ids["token"])
    if found.answer is not None and found.answer.loading and not found.answer.deleted:
        _fill(fake, request, found.answer)
        return message_json(found.answer, fake.bot)
    made = _write(fake, found, request)
    found.followups.append(made)
    return message_json(made, fake.bot)


@interaction_routes.add("GET", "/webhooks/{app}/{token}/messages/{message}")
def get_answer(fake: Interactions, request: Request) -> Any:
    return message_json(_answer_of(fake, request), fake.bot)


@interaction_routes.add("PATCH", "/webhooks/{app}/{token}/messages/{message}")
def edit_answer(fake: Interactions, request: Request) -> Any:
    message = _answer_of(fake, request)
    if message.loading:
        _fill(fake, request, message)
    else:
        rewrite(fake, request, message)
    return message_json(message, fake.bot)


@interaction_routes.add("DELETE", "/webhooks/{app}/{token}/messages/{message}")
def delete_answer(fake: Interactions, request: Request) -> Any:
    fake.remove_message(_answer_of(fake, request))
    return NO_CONTENT


def _answer_of(fake: Interactions, request: Request) -> Message:
    found = fake.live(request.id("app"), request.ids["token"])
    if request.ids["message"] == "@original":
        message = found.answer
    else:
        mine = [*found.followups, *([found.answer] if found.answer else [])]
        message = next((one for one in mine if one.id == request.id("message")), None)
    if message is None or message.deleted:
        raise ApiError(10008)
    return message


def _fill(fake: Interactions, request: Request, message: Message) -> None:
    """What was thinking now speaks; that is no edit in a person's eyes."""
    message.flags &= ~LOADING
    try:
        rewrite(fake, request, message)
    except ApiError:
        message.flags |= LOADING
        raise
    message.edited, message.versions = None, [message.content]
    message.pinged = {user.id for user in message.mentions}
