"""Who is let in."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from channels.web.auth import PATH_SECONDS, SESSION_SECONDS, Auth

PORT = 8765


class Time:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def guard(host: str = "127.0.0.1", token: str = "the-token", time: Time | None = None) -> Auth:
    return Auth(token, host, [PORT], time or Time())


@pytest.mark.parametrize("host", ["localhost:8765", "LOCALHOST:8765", "127.0.0.1:8765", "[::1]:8765"])
def test_this_machine_is_called_so(host: str) -> None:
    assert guard().is_our_host(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "localhost:80",
        "localhost:87650",
        "evil.org:8765",
        "127.0.0.1.evil.org:8765",
        "localhost.evil.org:8765",
        "localhost:8765@evil.org",
        "evil.org#localhost:8765",
        "user@localhost:8765",
        "localhost:8765\n",
        "localhost.:8765",
        "[::1]",
        "[::1:8765",
        "127.1:8765",
        "2130706433:8765",
        "192.168.1.5:8765",
        "0.0.0.0:8765",
        "localhost:٨٧٦٥",
    ],
)
def test_anything_else_is_another_place(host: str) -> None:
    assert not guard().is_our_host(host)


def test_the_configured_host_is_ours_and_a_wildcard_is_none() -> None:
    assert guard("daybook.lan").is_our_host("Daybook.LAN:8765")
    assert not guard("0.0.0.0").is_our_host("0.0.0.0:8765")
    assert not guard("::").is_our_host("[::]:8765")


def test_who_listens_everywhere_is_called_by_the_address_that_was_reached() -> None:
    everywhere = guard("0.0.0.0")
    assert everywhere.is_our_host("192.168.1.5:8765", "192.168.1.5")
    assert everywhere.is_our_host("192.168.1.5:8765", "::ffff:192.168.1.5")
    assert everywhere.is_our_host("[fe80::1]:8765", "fe80::1%eth0")
    assert not everywhere.is_our_host("192.168.1.6:8765", "192.168.1.5")
    assert not everywhere.is_our_host("evil.org:8765", "192.168.1.5")
    assert not everywhere.is_our_host("evil.org:8765", "evil.org")


def test_a_port_that_is_the_usual_one_need_not_be_named() -> None:
    assert Auth("t", "127.0.0.1", [80]).is_our_host("localhost")


@pytest.mark.parametrize(
    ("origin", "ours"),
    [
        ("http://localhost:8765", True),
        ("HTTP://LocalHost:8765", True),
        ("https://localhost:8765", False),
        ("http://localhost:8766", False),
        ("http://localhost", False),
        ("http://127.0.0.1:8765", False),
        ("null", False),
        ("", False),
        ("http://localhost:8765.evil.org", False),
    ],
)
def test_only_the_page_that_was_given_out_under_that_host_may_ask(origin: str, ours: bool) -> None:
    assert guard().is_our_origin(origin, "localhost:8765") is ours


def test_a_page_behind_a_proxy_is_ours_by_its_public_address_and_no_other() -> None:
    behind = Auth("t", "127.0.0.1", [PORT], Time(), public_url="https://daybook.example.org")
    assert behind.is_our_host("Daybook.example.org") and behind.is_our_host("localhost:8765")
    for other in ("evil.org", "daybook.example.org:8765", "daybook.example.org.evil.org", ""):
        assert not behind.is_our_host(other)
    assert behind.is_our_origin("https://daybook.example.org", "daybook.example.org")
    assert not behind.is_our_origin("http://daybook.example.org", "daybook.example.org")
    assert not behind.is_our_origin("https://daybook.example.org", "localhost:8765")
    assert behind.is_encrypted("daybook.example.org") and not behind.is_encrypted("localhost:8765")
    assert not guard().is_our_host("")


def test_a_session_is_known_after_a_restart_and_ends_with_its_time_or_its_token() -> None:
    time = Time()
    session = guard(time=time).new_session()
    cookie, key = guard(time=time).cookie(session), guard(time=time).page_key(session)
    assert guard(time=time).session(cookie) == session and guard(time=time).is_page_key(key, session)
    another = guard(token="another", time=time)
    assert not another.session(cookie) and not another.is_page_key(key, session)
    time.now += SESSION_SECONDS + 1
    assert not guard(time=time).session(cookie)


@pytest.mark.parametrize(
    "cookie", ["", ".", "9999999999", "9999999999.", "9999999999.abc", "x.y.z", "9999999999.\ud800"]
)
def test_no_session_is_made_by_hand(cookie: str) -> None:
    assert not guard().session(cookie)


def test_a_session_is_not_prolonged_by_hand() -> None:
    until, _, rest = guard().cookie(guard().new_session()).partition(".")
    assert guard().session(f"{until}.{rest}")
    assert not guard().session(f"{int(until) + 1}.{rest}")


def test_each_browser_has_a_session_of_its_own() -> None:
    one, other = guard().new_session(), guard().new_session()
    assert one != other and not guard().is_page_key(guard().page_key(one), other)


def test_a_cookie_of_the_time_when_it_opened_everything_is_no_half() -> None:
    key = hashlib.sha256(b"daybook web session\0the-token").digest()
    text = f"{int(Time().now) + 90 * 86_400}.0123456789abcdef"
    old = f"{text}.{hmac.new(key, text.encode(), hashlib.sha256).hexdigest()}"
    assert guard().session(old) is None


def test_the_halves_are_no_good_for_each_other() -> None:
    session = guard().new_session()
    cookie, key = guard().cookie(session), guard().page_key(session)
    assert key not in cookie
    for shown in ("", cookie, cookie.rpartition(".")[2], key[:-1], key.upper() + "\ud800"):
        assert not guard().is_page_key(shown, session)
    for shown in (key, f"{session.until}.{session.id}.{key}"):
        assert guard().session(shown) is None


def test_a_session_that_is_used_has_its_full_time_again_under_the_same_key() -> None:
    time = Time()
    session = guard(time=time).new_session()
    time.now += 3_600
    assert guard(time=time).renewed(session) is None, "not with every request"
    time.now += 86_400
    renewed = guard(time=time).renewed(session)
    assert renewed and (renewed.id, renewed.until) == (session.id, time.now + SESSION_SECONDS)
    assert guard(time=time).page_key(renewed) == guard(time=time).page_key(session)


def test_a_logout_outlasts_every_cookie_of_its_session() -> None:
    time = Time()
    one = guard(time=time)
    session = one.new_session()
    time.now += 20 * 86_400
    renewed = one.renewed(session)
    assert renewed and one.end(session) >= renewed.until, "told by the older cookie"
    assert one.session(one.cookie(session)) is None and one.session(one.cookie(renewed)) is None


def test_a_signed_path_is_good_for_its_session_its_file_and_some_minutes() -> None:
    time = Time()
    one = guard(time=time)
    session, other = one.new_session(), one.new_session()
    path = one.signed_path("/files/0123456789abcdef/0", session)
    assert one.is_signed_path(path, session)
    until, _, signature = path.rpartition("/")[2].partition(".")
    for wrong in (
        path.replace("/0/", "/1/"),
        path.replace(until, str(int(until) + 1)),
        path + "0",
        f"/files/0123456789abcdef/0/{signature}",
        "/files/0123456789abcdef/0",
        "",
        f"/files/0123456789abcdef/0/٣.{signature}",
    ):
        assert not one.is_signed_path(wrong, session)
    assert not one.is_signed_path(path, other) and not guard(token="x", time=time).is_signed_path(path, session)
    time.now += PATH_SECONDS
    assert not one.is_signed_path(path, session)


def test_wrong_tokens_make_their_address_wait_and_no_other() -> None:
    time = Time()
    one = guard(time=time)
    for _ in range(10):
        assert one.wait("10.0.0.1") == 0
        one.was_wrong("10.0.0.1")
        time.now += 1
    assert one.wait("10.0.0.1") == 50
    assert one.wait("10.0.0.2") == 0
    time.now += 50
    assert one.wait("10.0.0.1") == 0
    time.now -= 86_400
    assert one.wait("10.0.0.1") == 0, "the clock was put back"


@pytest.mark.parametrize(("token", "is_it"), [("x" * 15, False), ("x" * 16, True)])
def test_a_long_token_is_beyond_guessing(token: str, is_it: bool) -> None:
    assert guard(token=token).is_beyond_guessing is is_it


def test_the_addresses_that_are_remembered_are_few() -> None:
    one = guard()
    for number in range(5_000):
        for _ in range(10):
            one.was_wrong(f"address {number}")
    assert one.wait("address 0") == 0
    assert one.wait("address 4999") > 0


@pytest.mark.parametrize(
    ("shown", "is_it"), [("the-token", True), ("the-tokem", False), ("", False), ("\ud800", False)]
)
def test_the_token(shown: str, is_it: bool) -> None:
    assert guard().is_token(shown) is is_it
