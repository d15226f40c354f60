"""Application commands: what a bot registers, for everywhere or for one server."""

from __future__ import annotations

from typing import Any

from tests.fakes.discord.errors import ApiError, JsonObject
from tests.fakes.discord.model import Guild
from tests.fakes.discord.rest import Rest
from tests.fakes.discord.rules import MAX_COMMANDS, check_command, check_commands
from tests.fakes.discord.wire import NO_CONTENT, Request, Routes

MAX_DAILY_CREATES = 200


class Commands(Rest):
    """A REST API with the commands that were registered, by server (0: everywhere) and id."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.commands: dict[int, dict[int, JsonObject]] = {}
        self._created: dict[int, int] = {}

    def command_names(self, guild: Guild | None = None) -> list[str]:
        """What the menu of a server offers, or of a DM."""
        own = self.commands.get(guild.id, {}) if guild else {}
        return sorted({one["name"] for one in [*self.commands.get(0, {}).values(), *own.values()]})

    def find_command(self, guild: Guild | None, name: str) -> JsonObject:
        """A server's own command goes before one for everywhere. Raises `KeyError`."""
        for place in [guild.id, 0] if guild else [0]:
            for command in self.commands.get(place, {}).values():
                if command["name"] == name and command["type"] == 1:
                    return command
        raise KeyError(f"no command /{name}; there are {self.command_names(guild)}")

    def place(self, request: Request) -> int:
        """Raises `ApiError` where the application or server is another's."""
        if request.id("app") != self.bot.id:
            raise ApiError(10002)
        guild = request.id("guild") if "guild" in request.ids else 0
        if guild and guild not in self.guilds:
            raise ApiError(50001)
        return guild

    def register(self, place: int, command: JsonObject) -> JsonObject:
        """Keeps the id of a command of the same name. Raises `ApiError` when too many were made in a day."""
        kept = self.commands.setdefault(place, {})
        same = [id for id, one in kept.items() if (one["name"], one["type"]) == _key(command)]
        if not same:
            self._created[place] = self._created.get(place, 0) + 1
            if self._created[place] > MAX_DAILY_CREATES:
                words = f"Max number of daily application command creates has been reached ({MAX_DAILY_CREATES})"
                raise ApiError(30034, 400, words)
        id = same[0] if same else self.next_id()
        kept[id] = self._complete(id, place, command)
        return kept[id]

    def _complete(self, id: int, place: int, command: JsonObject) -> JsonObject:
        made = {
            "type": 1,
            "description": "",
            "options": [],
            "default_member_permissions": None,
            "dm_permission": True,
            "contexts": None,
            "integration_types": [0],
            "nsfw": False,
            "name_localizations": None,
            "description_localizations": None,
        } | {key: value for key, value in command.items() if value is not None}
        made |= {"id": str(id), "application_id": str(self.bot.id), "version": str(self.next_id())}
        return made | ({"guild_id": str(place)} if place else {})


command_routes: Routes[Commands] = Routes()


def _key(command: JsonObject) -> tuple[str, int]:
    return command["name"], command.get("type", 1)


@command_routes.add("GET", "/applications/{app}/commands")
@command_routes.add("GET", "/applications/{app}/guilds/{guild}/commands")
def list_commands(fake: Commands, request: Request) -> Any:
    known = list(fake.commands.get(fake.place(request), {}).values())
    if request.query.get("with_localizations", "false").lower() in ("true", "1"):
        return known
    return [_without_localizations(one) for one in known]


def _without_localizations(one: JsonObject) -> JsonObject:
    left = {key: value for key, value in one.items() if not key.endswith("_localizations")}
    return left | {"options": [_without_localizations(option) for option in one.get("options") or []]}


@command_routes.add("PUT", "/applications/{app}/commands")
@command_routes.add("PUT", "/applications/{app}/guilds/{guild}/commands")
def overwrite_commands(fake: Commands, request: Request) -> Any:
    place = fake.place(request)
    check_commands(request.json)
    made = [fake.register(place, one) for one in request.json]
    fake.commands[place] = {int(one["id"]): one for one in made}
    return made


@command_routes.add("POST", "/applications/{app}/commands")
@command_routes.add("POST", "/applications/{app}/guilds/{guild}/commands")
def create_command(fake: Commands, request: Request) -> Any:
    place = fake.place(request)
    check_command(request.json)
    kept = fake.commands.get(place, {})
    if len(kept) >= MAX_COMMANDS and _key(request.json) not in [_key(one) for one in kept.values()]:
        raise ApiError(30032)
    return fake.register(place, request.json)


@command_routes.add("GET", "/applications/{app}/commands/{command}")
@command_routes.add("GET", "/applications/{app}/guilds/{guild}/commands/{command}")
def get_command(fake: Commands, request: Request) -> Any:
    return _known(fake, request)


@command_routes.add("PATCH", "/applications/{app}/commands/{command}")
@command_routes.add("PATCH", "/applications/{app}/guilds/{guild}/commands/{command}")
def edit_command(fake: Commands, request: Request) -> Any:
    known = _known(fake, request)
    check_command(known | request.body())
    known.update(request.body(), version=str(fake.next_id()))
    return known


@command_routes.add("DELETE", "/applications/{app}/commands/{command}")
@command_routes.add("DELETE", "/applications/{app}/guilds/{guild}/commands/{command}")
def delete_command(fake: Commands, request: Request) -> Any:
    known = _known(fake, request)
    del fake.commands[fake.place(request)][int(known["id"])]
    return NO_CONTENT


def _known(fake: Commands, request: Request) -> JsonObject:
    found = fake.commands.get(fake.place(request), {}).get(request.id("command"))
    if found is None:
        raise ApiError(10063)
    return found
