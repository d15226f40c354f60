"""Refusals in Discord's words and codes (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json)."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]

WORDS: dict[int, tuple[int, str]] = {
    10002: (404, "Unknown Application"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30032: (400, "Maximum number of application commands reached (100)"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
}


class ApiError(Exception):
    """An answer that is no success. `code` is Discord's JSON error code; `headers` go out with it."""

    def __init__(self, code: int, status: int = 0, message: str = "", **more: Any) -> None:
        known_status, known_message = WORDS.get(code, (status or 400, message))
        self.code = code
        self.status = status or known_status
        self.message = message or known_message
        self.headers: dict[str, str] = {}
        self._more = more
        super().__init__(f"{self.status} {code} {self.message}")

    def body(self) -> JsonObject:
        return {"message": self.message, "code": self.code} | self._more


def unauthorized() -> ApiError:
    """Whatever is wrong with the token, Discord answers this."""
    return ApiError(0, 401, "401: Unauthorized")


def not_found() -> ApiError:
    """No such path."""
    return ApiError(0, 404, "404: Not Found")


def throttled(retry_after: float, *, scope: str = "user", code: int = 0, via: bool = True) -> ApiError:
    """429. Without `Via` it looks as if Cloudflare in front had refused, which discord.py never retries."""
    is_global = scope == "global"
    message = "This action cannot be performed due to slowmode rate limit." if code else "You are being rate limited."
    error = ApiError(code, 429, message, retry_after=round(retry_after, 3), **{"global": is_global})
    error.headers = {"Retry-After": str(int(retry_after) + 1)}
    if via:
        error.headers |= {"Via": "1.1 google", "X-RateLimit-Scope": scope}
        error.headers |= {"X-RateLimit-Global": "true"} if is_global else {}
    return error


class Form:
    """Collects what is wrong with a body, to be told at once with the path of each field."""

    def __init__(self) -> None:
        self._errors: JsonObject = {}

    def wrong(self, path: str, code: str, message: str) -> None:
        """`path` is dotted: `components.0.components.1.custom_id`."""
        node = self._errors
        for key in path.split("."):
            node = node.setdefault(key, {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def longest(self, path: str, value: object, limit: int) -> None:
        if isinstance(value, str) and units(value) > limit:
            self.wrong(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")

    def between(self, path: str, value: object, low: int, high: int) -> None:
        if not isinstance(value, str) or not low <= units(value) <= high:
            self.wrong(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {high} in length.")

    def at_most(self, path: str, values: list[Any], limit: int) -> None:
        if len(values) > limit:
            self.wrong(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")

    def check(self) -> None:
        """Raises `ApiError` where anything is wrong."""
        if self._errors:
            raise ApiError(50035, 400, "Invalid Form Body", errors=self._errors)


def invalid(path: str, code: str, message: str) -> ApiError:
    """One wrong field."""
    form = Form()
    form.wrong(path, code, message)
    try:
        form.check()
    except ApiError as error:
        return error
    raise AssertionError("a form with an error passes no check")


def units(text: str) -> int:
    """UTF-16 units. Whether Discord counts these or code points is documented nowhere; this is the stricter one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
