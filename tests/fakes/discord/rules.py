"""What a body may hold: text, embeds, components, nonces, mentions and commands. Raises `ApiError` otherwise."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.discord.errors import ApiError, Form, JsonObject, units
from tests.fakes.discord.model import COMPONENTS_V2

MAX_TEXT, MAX_NONCE, MAX_FILES, MAX_EMBEDS, MAX_EMBED_TEXT = 2000, 25, 10, 10, 6000
MAX_ROWS, MAX_IN_ROW, MAX_V2, MAX_V2_TEXT, MAX_COMMANDS = 5, 5, 40, 4000, 100
ROW, BUTTON, TEXT_DISPLAY = 1, 2, 10
LINK, PREMIUM = 5, 6
LOCALES = (
    *("id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no", "pl", "pt-BR"),
    *("ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN", "ja", "zh-TW", "ko"),
)
COMMAND_NAME = re.compile(r"[-_'\w]{1,32}")
EMBED_LIMITS = {"title": 256, "description": 4096}


def check_message(body: JsonObject, flags: int) -> None:
    """A message to be sent, or the changed fields of one to be edited. `flags` are those it will have."""
    form = Form()
    content = body.get("content")
    if content is not None and not isinstance(content, str):
        form.wrong("content", "BASE_TYPE_STRING", "Could not interpret as string.")
    form.longest("content", content, MAX_TEXT)
    _check_nonce(form, body.get("nonce"))
    _check_embeds(form, body.get("embeds") or [])
    _check_allowed_mentions(form, body.get("allowed_mentions"))
    if not isinstance(body.get("flags", 0), int | None):
        form.wrong("flags", "NUMBER_TYPE_COERCE", f'Value "{body["flags"]}" is not int.')
    components = body.get("components") or []
    if flags & COMPONENTS_V2:
        for name in ("content", "embeds", "poll", "sticker_ids"):
            if body.get(name):
                words = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
                form.wrong(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", words)
        _check_v2(form, components)
    else:
        _check_classic(form, components)
    _check_controls(form, components)
    form.check()


def _check_nonce(form: Form, nonce: Any) -> None:
    if isinstance(nonce, str):
        form.longest("nonce", nonce, MAX_NONCE)
    elif nonce is not None and not isinstance(nonce, int):
        form.wrong("nonce", "BASE_TYPE_CHOICES", "This field is required and must be a string or an integer.")


def _check_embeds(form: Form, embeds: list[JsonObject]) -> None:
    form.at_most("embeds", embeds, MAX_EMBEDS)
    total = 0
    for index, embed in enumerate(embeds):
        at = f"embeds.{index}"
        parts = [(f"{at}.{name}", embed.get(name), limit) for name, limit in EMBED_LIMITS.items()]
        parts.append((f"{at}.footer.text", (embed.get("footer") or {}).get("text"), 2048))
        parts.append((f"{at}.author.name", (embed.get("author") or {}).get("name"), 256))
        fields = embed.get("fields") or []
        form.at_most(f"{at}.fields", fields, 25)
        for number, one in enumerate(fields):
            for name, limit in (("name", 256), ("value", 1024)):
                if not one.get(name):
                    form.wrong(f"{at}.fields.{number}.{name}", "BASE_TYPE_REQUIRED", "This field is required")
                parts.append((f"{at}.fields.{number}.{name}", one.get(name), limit))
        for path, value, limit in parts:
            form.longest(path, value, limit)
            total += units(value) if isinstance(value, str) else 0
    if total > MAX_EMBED_TEXT:
        form.wrong("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MAX_EMBED_TEXT}")


def _check_allowed_mentions(form: Form, allowed: Any) -> None:
    if allowed is None:
        return
    if not isinstance(allowed, dict):
        form.wrong("allowed_mentions", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
        return
    parse = allowed.get("parse") or []
    for index, kind in enumerate(parse):
        if kind not in ("users", "roles", "everyone"):
            words = "Value must be one of ('users', 'roles', 'everyone')."
            form.wrong(f"allowed_mentions.parse.{index}", "BASE_TYPE_CHOICES", words)
    for kind in ("users", "roles"):
        ids = allowed.get(kind) or []
        if ids and kind in parse:
            words = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            form.wrong("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", words)
        form.at_most(f"allowed_mentions.{kind}", ids, 100)


def _check_classic(form: Form, rows: list[JsonObject]) -> None:
    if len(rows) > MAX_ROWS:
        form.wrong("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_ROWS} in length.")
    for index, row in enumerate(rows):
        if row.get("type") != ROW:
            form.wrong(
                f"components.{index}.type", "UNION_TYPE_CHOICES", f'Value of field "type" must be one of ({ROW},).'
            )
            continue
        _check_row(form, f"components.{index}", row)


def _check_row(form: Form, path: str, row: JsonObject) -> None:
    inside = row.get("components") or []
    width = MAX_IN_ROW if all(one.get("type") == BUTTON for one in inside) else 1
    if not 1 <= len(inside) <= width:
        form.wrong(f"{path}.components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {width} in length.")


def _check_v2(form: Form, components: list[JsonObject]) -> None:
    everything = [one for _, one in _walk("components", components)]
    if len(everything) > MAX_V2:
        form.wrong("components", "COMPONENT_MAX_TOTAL_COMPONENTS", f"A maximum of {MAX_V2} components is allowed")
    text = sum(units(str(one.get("content", ""))) for one in everything if one.get("type") == TEXT_DISPLAY)
    if text > MAX_V2_TEXT:
        words = f"The total text length in components must be {MAX_V2_TEXT} or fewer."
        form.wrong("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", words)
    for path, one in _walk("components", components):
        if one.get("type") == ROW:
            _check_row(form, path, one)


def _walk(path: str, components: list[JsonObject]) -> list[tuple[str, JsonObject]]:
    found: list[tuple[str, JsonObject]] = []
    for index, one in enumerate(components):
        found.append((f"{path}.{index}", one))
        found += _walk(f"{path}.{index}.components", one.get("components") or [])
        if isinstance(accessory := one.get("accessory"), dict):
            found.append((f"{path}.{index}.accessory", accessory))
    return found


def _check_controls(form: Form, components: list[JsonObject]) -> None:
    taken: set[str] = set()
    for path, one in _walk("components", components):
        kind = one.get("type")
        if kind == BUTTON:
            _check_button(form, path, one)
        elif kind in (3, 5, 6, 7, 8):
            form.between(f"{path}.custom_id", one.get("custom_id"), 1, 100)
            form.longest(f"{path}.placeholder", one.get("placeholder"), 150)
            if kind == 3 and not 1 <= len(one.get("options") or []) <= 25:
                form.wrong(f"{path}.options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.")
        custom_id = one.get("custom_id")
        if isinstance(custom_id, str) and kind != ROW:
            if custom_id in taken:
                form.wrong(
                    f"{path}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated"
                )
            taken.add(custom_id)


def _check_button(form: Form, path: str, button: JsonObject) -> None:
    style = button.get("style")
    if style not in range(1, 7):
        form.wrong(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).")
    form.longest(f"{path}.label", button.get("label"), 80)
    if style == LINK:
        if not re.match(r"(https?|discord)://\S", str(button.get("url", ""))):
            words = "Scheme must be one of ('http', 'https', 'discord')."
            form.wrong(f"{path}.url", "URL_TYPE_INVALID_SCHEME", words)
        return
    if style == PREMIUM:
        return
    form.between(f"{path}.custom_id", button.get("custom_id"), 1, 100)
    if not button.get("label") and not button.get("emoji"):
        form.wrong(path, "BUTTON_COMPONENT_INVALID", "A button must have a label or an emoji.")


def check_commands(commands: Any) -> None:
    """The whole list, as bulk overwrite takes it."""
    if not isinstance(commands, list):
        raise ApiError(
            50035, 400, "Invalid Form Body", errors={"_errors": [{"code": "LIST_TYPE_CONVERT", "message": ""}]}
        )
    if sum(one.get("type", 1) == 1 for one in commands) > MAX_COMMANDS:
        raise ApiError(30032)
    form = Form()
    taken: set[tuple[int, str]] = set()
    for index, command in enumerate(commands):
        _check_command(form, str(index), command)
        key = (command.get("type", 1), str(command.get("name")))
        if key in taken:
            form.wrong(str(index), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        taken.add(key)
    form.check()


def check_command(command: Any) -> None:
    """One command, as POST takes it."""
    if not isinstance(command, dict):
        raise ApiError(50109)
    form = Form()
    _check_command(form, "", command)
    form.check()


def _check_command(form: Form, path: str, command: JsonObject) -> None:
    at = f"{path}." if path else ""
    if command.get("type", 1) != 1:
        form.between(f"{at}name", command.get("name"), 1, 32)
        if command.get("description"):
            words = "Context menu commands cannot have description"
            form.wrong(f"{at}description", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION", words)
        return
    _check_named(form, at, command)
    _check_options(form, f"{at}options", command.get("options") or [])
    if _command_size(command) > 8000:
        words = "Command exceeds maximum size (8000)"
        form.wrong(path or "name", "APPLICATION_COMMAND_TOO_LARGE", words)


def _check_named(form: Form, at: str, one: JsonObject) -> None:
    name = one.get("name")
    if not isinstance(name, str) or not COMMAND_NAME.fullmatch(name) or name != name.lower():
        form.wrong(f"{at}name", "APPLICATION_COMMAND_INVALID_NAME", f"Command name is invalid: {name}")
    form.between(f"{at}description", one.get("description"), 1, 100)
    for field in ("name_localizations", "description_localizations"):
        for locale, text in (one.get(field) or {}).items():
            if locale not in LOCALES:
                form.wrong(f"{at}{field}", "BASE_TYPE_CHOICES", f"Value must be one of {set(LOCALES)}.")
            form.between(f"{at}{field}.{locale}", text, 1, 32 if field.startswith("name") else 100)


def _check_options(form: Form, path: str, options: list[JsonObject]) -> None:
    form.at_most(path, options, 25)
    optional_seen = False
    for index, option in enumerate(options):
        at = f"{path}.{index}"
        _check_named(form, f"{at}.", option)
        if option.get("type") not in range(1, 12):
            form.wrong(f"{at}.type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, …, 11).")
        if option.get("required") and optional_seen:
            words = "Required options must be placed before non-required options"
            form.wrong(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", words)
        optional_seen |= not option.get("required") and option.get("type") not in (1, 2)
        form.at_most(f"{at}.choices", option.get("choices") or [], 25)
        _check_options(form, f"{at}.options", option.get("options") or [])
    names = [option.get("name") for option in options]
    if len(set(names)) < len(names):
        form.wrong(path, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")


def _command_size(command: JsonObject) -> int:
    described = (str(command.get("description", "")), *(command.get("description_localizations") or {}).values())
    own = units(str(command.get("name", ""))) + max(map(units, described))  # of the translations the longest counts
    choices = sum(units(f"{one.get('name', '')}{one.get('value', '')}") for one in command.get("choices") or [])
    return own + choices + sum(_command_size(one) for one in command.get("options") or [])
