"""PostgreSQL for the store: statements, rows, tables, errors."""

from __future__ import annotations

import functools
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from agent.formats.plain_text import repair_surrogates
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from gateway.store.schema import STEPS

_OLDEST = 14
_SILENT_MS = 10_000
"""How long a server may be silent before the connection counts as lost."""

_PROBE = 0x0D41B00E
"""The class of a lock by which a connection is tried."""
_POOLED = Sentence(
    "`database_url` leads to a pooler that shares connections between transactions (PgBouncer with"
    " pool_mode=transaction or statement, or one like it), where the lock of a gateway is lost. Give the address of"
    " PostgreSQL itself, or set pool_mode=session for this database."
)


class WrongDatabase(StorageUnavailable):
    """The database can't be used, however long the gateway waits."""


class PostgresEngine:
    """One connection, for the writer thread; what was not committed is undone when it is lost."""

    begin = "BEGIN"
    is_shared = True

    def __init__(self, url: str) -> None:
        """Connects. Raises `StorageUnavailable`."""
        try:
            self.session = psycopg.connect(
                url,
                autocommit=True,
                row_factory=_rows,
                application_name="daybook",
                connect_timeout=5,
                keepalives_idle=4,
                keepalives_interval=2,
                keepalives_count=3,
                tcp_user_timeout=_SILENT_MS,
                prepare_threshold=None,
            )
        except (psycopg.ProgrammingError, ValueError) as error:  # which repeats the URL with its password
            raise StorageUnavailable(
                Sentence("Can't read `database_url`. Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE.")
            ) from error
        except psycopg.Error as error:
            raise StorageUnavailable(_why_not_connected(error)) from error
        self.connection = PostgresConnection(self.session)
        self.name = Sentence("the database {name}", name=self.session.info.dbname)
        try:
            self._check()
        except BaseException:
            self.session.close()
            raise

    def _check(self) -> None:
        version = self.session.info.server_version // 10_000
        if version < _OLDEST:
            raise StorageUnavailable(
                Sentence(
                    "{name} is PostgreSQL {version}; Daybook needs {oldest} or newer.",
                    name=self.name,
                    version=version,
                    oldest=_OLDEST,
                )
            )
        reads_only = self.session.execute(
            "SELECT 1 WHERE pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
        )
        if reads_only.fetchone() is not None:
            raise StorageUnavailable(
                Sentence("{name} is a copy that can only be read. Give the primary in `database_url`.", name=self.name)
            )

    def check_own(self, url: str) -> None:
        """Tries a lock of this connection against a second one of the same URL. Raises `WrongDatabase` where they share
        a connection of the server, and `StorageUnavailable`."""
        key = secrets.randbits(31)
        with PostgresEngine(url).session as second, said(self):
            mine = self._backend
            self.session.execute("SELECT pg_advisory_lock(%s, %s)", (_PROBE, key))
            got = second.execute("SELECT pg_try_advisory_lock(%s, %s), pg_backend_pid()", (_PROBE, key)).fetchone()
            is_mine = self._backend == mine  # meanwhile a pooler may have given it away
            given_back = self.session.execute("SELECT pg_advisory_unlock(%s, %s)", (_PROBE, key)).fetchone()
            if got is None or given_back is None or got[0] or got[1] == mine or not is_mine or not given_back[0]:
                second.execute("SELECT pg_advisory_unlock_all()")
                raise WrongDatabase(_POOLED)

    @property
    def _backend(self) -> int:
        row = self.session.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        return int(row[0])

    @property
    def is_prepared(self) -> bool:
        """True once a gateway has made the tables. Raises `StorageUnavailable` where a newer one did."""
        if self.session.execute("SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL").fetchone() is None:
            return False
        for row in self.session.execute("SELECT version FROM schema_version"):
            self._refuse_newer(row[0])
        return True

    def migrate(self, *, alone: bool) -> None:
        """Makes and changes the tables, all or none; `alone` False: other gateways use them, so nothing is changed.
        Raises `StorageUnavailable`."""
        try:
            with self.session.transaction():
                self._migrate(alone)
        except psycopg.Error as error:
            raise StorageUnavailable(
                Sentence("Can't prepare {name}: {why}.", name=self.name, why=sentence(error))
            ) from error

    def _migrate(self, alone: bool) -> None:
        run = self.session.execute
        run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        row = run("SELECT version FROM schema_version FOR UPDATE").fetchone()
        version = 0 if row is None else row[0]
        self._refuse_newer(version)
        if version < len(STEPS) and not alone:
            raise StorageUnavailable(
                Sentence(
                    "{name} is used by gateways of an older Daybook. Update and restart them all; this one waits.",
                    name=self.name,
                )
            )
        if version == 0:
            run(_FUNCTIONS)
        for step in STEPS[version:]:
            run(_for_postgres(step))
        run("DELETE FROM schema_version")
        run("INSERT INTO schema_version VALUES (%s)", (len(STEPS),))

    def _refuse_newer(self, version: int) -> None:
        if version > len(STEPS):
            raise WrongDatabase(
                Sentence(
                    "{name} was written by a newer Daybook (schema {version}, known {known}). Update this one.",
                    name=self.name,
                    version=version,
                    known=len(STEPS),
                )
            )

    def keep_named(self) -> None:
        """Does nothing: the server keeps its files."""

    def sentence(self, error: Exception) -> str:
        return sentence(error)

    def is_refusal(self, error: Exception) -> bool:
        return isinstance(error, psycopg.OperationalError)

    @property
    def errors(self) -> type[Exception]:
        return psycopg.Error

    @property
    def is_lost(self) -> bool:
        return self.session.closed

    @property
    def in_transaction(self) -> bool:
        return self.session.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE

    def purge(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    def close(self) -> None:
        self.session.close()


def unusable(engine: PostgresEngine, error: psycopg.Error) -> StorageUnavailable:
    """The error to raise where a server failed."""
    return StorageUnavailable(Sentence("{name} can't be used: {why}.", name=engine.name, why=sentence(error)))


@contextmanager
def said(engine: PostgresEngine) -> Iterator[None]:
    """Raises `StorageUnavailable` for what goes wrong inside."""
    try:
        yield
    except psycopg.Error as error:
        raise unusable(engine, error) from error


class PostgresConnection:
    """Implements `Connection`."""

    def __init__(self, session: psycopg.Connection[PostgresRow]) -> None:
        self._session = session

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[PostgresRow]:
        return self._session.execute(_statement(sql), _storable(parameters))

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> psycopg.Cursor[PostgresRow]:
        cursor = self._session.cursor()
        cursor.executemany(_statement(sql), [_storable(values) for values in parameters])
        return cursor


class PostgresRow:
    """Implements `Row`."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: Mapping[str, int], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, column: int | str, /) -> Any:
        return self._values[self._names[column] if isinstance(column, str) else column]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def keys(self) -> Iterable[str]:
        return self._names.keys()


def _rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], PostgresRow]:
    names = {column.name: number for number, column in enumerate(cursor.description or ())}
    return functools.partial(PostgresRow, names)


@functools.lru_cache(maxsize=512)
def _statement(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()


def _storable(parameters: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(_storable_value, parameters))


def _storable_value(value: Any) -> Any:
    if isinstance(value, str):  # PostgreSQL's text holds neither NUL nor half a character
        return repair_surrogates(str(value)).replace("\0", "�")
    return int(value) if isinstance(value, bool) else value


_SILENT = Sentence("the server does not answer: its machine or the network is gone ({said})")
_SAID: Mapping[type[Exception], Sentence] = {
    psycopg.errors.DiskFull: Sentence("{said}. Free space on the disk of PostgreSQL"),
    psycopg.errors.InsufficientPrivilege: Sentence("{said}. Make the user of `database_url` the owner of the database"),
    psycopg.errors.AdminShutdown: Sentence(
        "the server is shutting down, or an administrator or another gateway ended the connection ({said})"
    ),
    psycopg.errors.CrashShutdown: Sentence("the server stopped because one of its processes crashed ({said})"),
    psycopg.errors.CannotConnectNow: Sentence("the server takes no connections now ({said})"),
    psycopg.errors.DatabaseDropped: Sentence("the database was deleted ({said})"),
    psycopg.errors.IdleSessionTimeout: Sentence(
        "this gateway stood still, and the server ended its connection ({said})"
    ),
    psycopg.errors.IdleInTransactionSessionTimeout: Sentence(
        "the server ended a transaction that stood still ({said})"
    ),
    psycopg.errors.ReadOnlySqlTransaction: Sentence("the server only reads now: it is a copy, or became one ({said})"),
    psycopg.errors.QueryCanceled: Sentence("the server stopped the statement ({said})"),
}
_SAID_WITHOUT_CODE = {
    "closed the connection unexpectedly": Sentence(
        "the server closed the connection without saying why: it crashed or was killed, or something between ended it "
        "({said})"
    ),
    "timed out": _SILENT,
    "timeout expired": _SILENT,
    "reset by peer": Sentence("the server's machine broke the connection ({said})"),
    "SSL": Sentence("the encrypted connection broke ({said})"),
}
"""By words of the client's library, which has no code for them."""
_REFUSES = "FATAL:"
_MAKE_ROOM = Sentence("Close other connections, or raise max_connections there.")
_HELPS_TO_CONNECT = {
    "too many": _MAKE_ROOM,
    "connection slots": _MAKE_ROOM,
    "does not exist": Sentence("Make it there, or correct `database_url`."),
    "authentication": Sentence("Correct the user and password in `database_url`."),
    "pg_hba": Sentence("Let this computer in there (pg_hba.conf), or correct `database_url`."),
    "starting up": Sentence("Wait a moment."),
    "shutting down": Sentence("Start it again."),
    "recovery": Sentence("Wait until it has recovered."),
    "No space left": Sentence("Free space on the disk of PostgreSQL."),
}
"""By words of what a server says before a connection stands: it has no code then."""


def sentence(error: Exception) -> str:
    """An error in plain words and what helps, in one line without the last full stop. psycopg's messages hold no
    passwords."""
    what = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    plain = next((text for kind, text in _SAID.items() if isinstance(error, kind)), None)
    if plain is None and isinstance(error, psycopg.OperationalError):
        plain = next((text for words, text in _SAID_WITHOUT_CODE.items() if words in what), None)
    return Sentence(plain, said=what) if plain else what


def _why_not_connected(error: psycopg.Error) -> str:
    what, refuses, why = str(error).strip().partition("\n")[0].rstrip(".").partition(_REFUSES)
    if not refuses:
        return Sentence("Can't reach the database of `database_url`: {why}. Is PostgreSQL running there?", why=what)
    usual = Sentence("Correct `database_url`.")
    helps = next((text for words, text in _HELPS_TO_CONNECT.items() if words in why), usual)
    return Sentence("The server of `database_url` refuses: {why}. {helps}", why=why.strip(), helps=helps)


_FUNCTIONS = """
CREATE FUNCTION json_extract(document TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE
    AS $$ SELECT document::json #>> string_to_array(substr(path, 3), '.') $$
"""
"""SQLite has this function."""

_KEY = re.compile(r"\b(\w++) INTEGER PRIMARY KEY AUTOINCREMENT")
_TABLE = re.compile(r"(CREATE TABLE \w++ \()([^;]*+;)")


def _for_postgres(step: str) -> bytes:
    """A step of the schema in PostgreSQL's words. Text is compared by its bytes, and tables have SQLite's `rowid`."""
    step = re.sub(r"--.*", "", step)
    step = _TABLE.sub(_with_row_number, step)
    step = re.sub(r"\bINTEGER\b", "BIGINT", step)
    step = re.sub(r"\bREAL\b", "DOUBLE PRECISION", step)
    return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', step).encode()


def _with_row_number(table: re.Match[str]) -> str:
    head, columns = table.groups()
    with_key, keys = _KEY.subn(
        r"\1 INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, rowid INTEGER GENERATED ALWAYS AS (\1) STORED",
        columns,
    )
    return head + (with_key if keys else f"rowid INTEGER GENERATED BY DEFAULT AS IDENTITY, {columns}")
