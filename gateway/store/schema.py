"""The tables and their migrations, each run once, in order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent.formats.sqlite import connect, transaction
from agent.languages.sentences import Sentence
from gateway.store.connection import Connection

STEPS = (
    """
    CREATE TABLE inbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        id TEXT NOT NULL,
        state TEXT NOT NULL,              -- waiting, overheard, done, unreadable
        outcome TEXT NOT NULL DEFAULT '', -- of done: reply, silence, error, stopped, command, replaced…
        turn TEXT NOT NULL DEFAULT '',    -- the turn that took it
        attempts INTEGER NOT NULL DEFAULT 0,
        session TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        platform_id TEXT NOT NULL,
        message TEXT NOT NULL,            -- JSON
        received_at TEXT NOT NULL,
        UNIQUE (channel, account, id)
    );
    CREATE INDEX inbox_open ON inbox (state, seq) WHERE state IN ('waiting', 'overheard');
    CREATE INDEX inbox_message ON inbox (channel, chat_id, platform_id);
    CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT,
        text TEXT NOT NULL,
        reply_to TEXT NOT NULL DEFAULT '',
        edits TEXT NOT NULL DEFAULT '',   -- platform id of the preview that this text replaces
        state TEXT NOT NULL,              -- waiting, sending, sent, failed
        repeat INTEGER NOT NULL DEFAULT 0,-- marked as a possible repeat: 1 a preview may stand, 2 an earlier send may
        attempts INTEGER NOT NULL DEFAULT 0,
        platform_id TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        created_at TEXT NOT NULL,
        sent_at TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX outbox_open ON outbox (state, seq) WHERE state IN ('waiting', 'sending');
    CREATE TABLE preview (
        turn TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        platform_id TEXT NOT NULL DEFAULT '' -- empty: sent, but its id never came back
    );
    CREATE TABLE access (
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,               -- owner, person
        added_at TEXT NOT NULL,
        PRIMARY KEY (channel, user_id)
    );
    CREATE TABLE pairing (
        code TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        expires_at TEXT NOT NULL
    );
    CREATE TABLE usage (
        at TEXT NOT NULL,
        day TEXT NOT NULL,                -- the user's day
        model TEXT NOT NULL,
        purpose TEXT NOT NULL,
        session TEXT NOT NULL,
        input INTEGER NOT NULL,
        output INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        cost REAL                         -- USD; NULL where the price is not known
    );
    CREATE INDEX usage_day ON usage (day);
    CREATE TABLE choice (                 -- what a session's people chose: /model
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session, name)
    );
    CREATE TABLE moved (                  -- chats that got a new id
        channel TEXT NOT NULL,
        old_chat TEXT NOT NULL,
        new_chat TEXT NOT NULL,
        PRIMARY KEY (channel, old_chat)
    );
    """,
    """
    ALTER TABLE outbox ADD COLUMN buttons TEXT NOT NULL DEFAULT ''; -- JSON; empty: none
    ALTER TABLE outbox ADD COLUMN file TEXT NOT NULL DEFAULT '';    -- JSON; empty: a text
    """,
    """
    CREATE TABLE question (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT,
        asked TEXT NOT NULL,              -- who may answer
        subject TEXT NOT NULL,
        until TEXT NOT NULL,
        fresh INTEGER NOT NULL
    );
    """,
    """
    CREATE TABLE seen (                   -- up to where chats are on disk, where the platform offers nothing again
        channel TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        server TEXT NOT NULL,             -- empty: a private chat
        message_id TEXT NOT NULL,
        PRIMARY KEY (channel, chat_id)
    );
    ALTER TABLE outbox ADD COLUMN begun_at TEXT NOT NULL DEFAULT '';   -- the first attempt
    ALTER TABLE preview ADD COLUMN begun_at TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE chat (                   -- where somebody who may has spoken to the bot
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,          -- empty: none
        kind TEXT NOT NULL,               -- private, group
        parent_chat TEXT NOT NULL,
        user_id TEXT NOT NULL,            -- who spoke last
        user_name TEXT NOT NULL,
        last_at TEXT NOT NULL,
        PRIMARY KEY (channel, account, chat_id, thread_id)
    );
    CREATE TABLE job (                    -- how far a job is; what it is stands in schedule.yaml
        id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,               -- what its due times depend on
        settled TEXT NOT NULL,            -- no due time up to here is run any more
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        paused INTEGER NOT NULL DEFAULT 0 -- of built-in jobs; others say so in schedule.yaml
    );
    CREATE TABLE run (                    -- a due time that was taken up
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        job TEXT NOT NULL,
        due TEXT NOT NULL,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        channel TEXT NOT NULL,            -- with the next columns: where it reports to; empty: nowhere
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT,
        late INTEGER NOT NULL,
        once INTEGER NOT NULL,            -- the job has no other due time
        state TEXT NOT NULL,              -- see run_rows.State
        attempts INTEGER NOT NULL DEFAULT 0,
        next_try TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL DEFAULT '',
        UNIQUE (job, due)
    );
    CREATE INDEX run_open ON run (state, seq) WHERE state IN ('waiting', 'running', 'delivering');
    """,
    """
    ALTER TABLE chat ADD COLUMN server TEXT NOT NULL DEFAULT '';  -- the community that a chat is a room of
    ALTER TABLE chat ADD COLUMN title TEXT NOT NULL DEFAULT '';   -- for people's eyes
    """,
    """
    CREATE TABLE web_message (            -- what stands in the web page's chats
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        chat_id TEXT NOT NULL,
        by TEXT NOT NULL,                 -- person, daybook
        text TEXT NOT NULL,
        at TEXT NOT NULL,
        reply_to TEXT NOT NULL,           -- id of what it answers; empty: what stands before it
        turn TEXT NOT NULL,               -- whose preview it replaces
        is_error INTEGER NOT NULL,
        buttons TEXT NOT NULL,            -- JSON
        files TEXT NOT NULL               -- JSON
    );
    CREATE INDEX web_message_chat ON web_message (chat_id, number);
    """,
    """
    ALTER TABLE chat ADD COLUMN language TEXT NOT NULL DEFAULT '';     -- in which its people write; empty: not known
    ALTER TABLE chat ADD COLUMN language_day TEXT NOT NULL DEFAULT ''; -- the newest of the user's days that told it
    """,
    """
    CREATE TABLE web_logged_out (         -- sessions of browsers that count no more
        session TEXT PRIMARY KEY,
        until INTEGER NOT NULL            -- when they end by themselves, in seconds since 1970
    );
    """,
    """
    ALTER TABLE inbox ADD COLUMN trying_alone INTEGER NOT NULL DEFAULT 0; -- 1: its turn runs now, and no other
    ALTER TABLE inbox ADD COLUMN died_alone INTEGER NOT NULL DEFAULT 0;   -- times the process died in such a turn
    ALTER TABLE inbox ADD COLUMN stood_still INTEGER NOT NULL DEFAULT 0;  -- times the event loop stood still with it
    """,
    """
    CREATE TABLE outcome (                -- what the owner said to what a session asked for, until its talk knows
        id TEXT PRIMARY KEY,              -- the question's
        session TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL
    );
    """,
    """
    ALTER TABLE web_message ADD COLUMN replaces TEXT NOT NULL DEFAULT '';    -- id of what it is a new version of
    ALTER TABLE web_message ADD COLUMN replaced_by TEXT NOT NULL DEFAULT ''; -- id of what ended the version it is of
    CREATE INDEX web_message_replaces ON web_message (replaces) WHERE replaces != '';
    CREATE INDEX web_message_replaced_by ON web_message (replaced_by) WHERE replaced_by != '';
    """,
    """
    CREATE TABLE program (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,         -- of the call that began it, so that none begins two
        kind TEXT NOT NULL,               -- turn, approved, background
        session TEXT NOT NULL,
        message TEXT NOT NULL,            -- JSON
        argv TEXT NOT NULL,               -- JSON
        folder TEXT NOT NULL,
        network INTEGER NOT NULL,
        seconds INTEGER NOT NULL,
        state TEXT NOT NULL,              -- waiting, running, ended, told
        how TEXT NOT NULL DEFAULT '',     -- it ended: exited, timeout, stopped, lost…
        code INTEGER NOT NULL DEFAULT 0,
        output TEXT NOT NULL DEFAULT '',  -- until its end is told
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX program_session ON program (session, seq);
    CREATE TABLE allowed_words (          -- leading words of programs that need no yes
        id TEXT PRIMARY KEY,
        words TEXT NOT NULL,              -- JSON
        state TEXT NOT NULL,              -- of the files among them
        at TEXT NOT NULL
    );
    """,
    """
    ALTER TABLE chat ADD COLUMN chosen_language TEXT NOT NULL DEFAULT '';   -- with /language; empty: none
    ALTER TABLE chat ADD COLUMN platform_language TEXT NOT NULL DEFAULT ''; -- of who wrote last, if it says
    ALTER TABLE chat ADD COLUMN is_owners INTEGER NOT NULL DEFAULT 0;       -- 1: the owner's, in private
    """,
)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Runs the steps that are missing, all or none, after a trial in a copy. The copy of before stays beside the file.
    The caller holds the home's lock. Raises `sqlite3.DatabaseError`, also for a file of a newer Daybook."""
    version = schema_version(connection)
    if version == len(STEPS):
        return
    if version > len(STEPS):
        raise sqlite3.DatabaseError(
            Sentence(
                "it was written by a newer Daybook (schema {version}, known {known})", version=version, known=len(STEPS)
            )
        )
    if version > 0:
        _try_in_copy(connection, path, version)
    _apply_steps(connection)


def remove_copies(path: Path, *, but: Path | None = None) -> None:
    """Deletes the copies that earlier migrations left beside a database. Raises `OSError`."""
    for copy in path.parent.glob(f"{path.stem}.before-schema-*.db"):
        if copy != but:
            copy.unlink(missing_ok=True)


def _try_in_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    before = path.with_name(f"{path.stem}.before-schema-{version + 1}.db")
    trial = path.with_name(f"{path.stem}.trial.db")
    trial.unlink(missing_ok=True)
    try:
        with closing(connect(trial)) as copy:
            connection.backup(copy)
            _apply_steps(copy)
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(Sentence("it is damaged ({verdict})", verdict=verdict))
        trial.unlink()
        with closing(connect(trial)) as copy:
            connection.backup(copy)
        trial.replace(before)
    except sqlite3.Error as error:
        raise sqlite3.DatabaseError(
            Sentence("it could not be brought up to date, and nothing was changed: {why}", why=error)
        ) from error
    finally:
        trial.unlink(missing_ok=True)
    remove_copies(path, but=before)


def _apply_steps(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        for step in STEPS[schema_version(connection) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")


def _statements(step: str) -> Iterator[str]:
    statement = ""
    for line in step.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def schema_version(connection: sqlite3.Connection | Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
