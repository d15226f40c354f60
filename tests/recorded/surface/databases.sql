-- state/daybook.db, version 14
CREATE TABLE access (
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,               -- owner, person
        added_at TEXT NOT NULL,
        PRIMARY KEY (channel, user_id)
    );
CREATE TABLE allowed_words (          -- leading words of programs that need no yes
        id TEXT PRIMARY KEY,
        words TEXT NOT NULL,              -- JSON
        state TEXT NOT NULL,              -- of the files among them
        at TEXT NOT NULL
    );
CREATE TABLE chat (                   -- where somebody who may has spoken to the bot
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,          -- empty: none
        kind TEXT NOT NULL,               -- private, group
        parent_chat TEXT NOT NULL,
        user_id TEXT NOT NULL,            -- who spoke last
        user_name TEXT NOT NULL,
        last_at TEXT NOT NULL, server TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', language TEXT NOT NULL DEFAULT '', language_day TEXT NOT NULL DEFAULT '', chosen_language TEXT NOT NULL DEFAULT '', platform_language TEXT NOT NULL DEFAULT '', is_owners INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (channel, account, chat_id, thread_id)
    );
CREATE TABLE choice (                 -- what a session's people chose: /model
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session, name)
    );
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
        received_at TEXT NOT NULL, trying_alone INTEGER NOT NULL DEFAULT 0, died_alone INTEGER NOT NULL DEFAULT 0, stood_still INTEGER NOT NULL DEFAULT 0,
        UNIQUE (channel, account, id)
    );
CREATE TABLE job (                    -- how far a job is; what it is stands in schedule.yaml
        id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,               -- what its due times depend on
        settled TEXT NOT NULL,            -- no due time up to here is run any more
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        paused INTEGER NOT NULL DEFAULT 0 -- of built-in jobs; others say so in schedule.yaml
    );
CREATE TABLE moved (                  -- chats that got a new id
        channel TEXT NOT NULL,
        old_chat TEXT NOT NULL,
        new_chat TEXT NOT NULL,
        PRIMARY KEY (channel, old_chat)
    );
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
    , buttons TEXT NOT NULL DEFAULT '', file TEXT NOT NULL DEFAULT '', begun_at TEXT NOT NULL DEFAULT '');
CREATE TABLE outcome (                -- what the owner said to what a session asked for, until its talk knows
        id TEXT PRIMARY KEY,              -- the question's
        session TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL
    );
CREATE TABLE pairing (
        code TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        expires_at TEXT NOT NULL
    );
CREATE TABLE preview (
        turn TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        platform_id TEXT NOT NULL DEFAULT '' -- empty: sent, but its id never came back
    , begun_at TEXT NOT NULL DEFAULT '');
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
CREATE TABLE seen (                   -- up to where chats are on disk, where the platform offers nothing again
        channel TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        server TEXT NOT NULL,             -- empty: a private chat
        message_id TEXT NOT NULL,
        PRIMARY KEY (channel, chat_id)
    );
CREATE TABLE sqlite_sequence(name,seq);
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
CREATE TABLE web_logged_out (         -- sessions of browsers that count no more
        session TEXT PRIMARY KEY,
        until INTEGER NOT NULL            -- when they end by themselves, in seconds since 1970
    );
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
    , replaces TEXT NOT NULL DEFAULT '', replaced_by TEXT NOT NULL DEFAULT '');
CREATE INDEX inbox_message ON inbox (channel, chat_id, platform_id);
CREATE INDEX inbox_open ON inbox (state, seq) WHERE state IN ('waiting', 'overheard');
CREATE INDEX outbox_open ON outbox (state, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX program_session ON program (session, seq);
CREATE INDEX run_open ON run (state, seq) WHERE state IN ('waiting', 'running', 'delivering');
CREATE INDEX usage_day ON usage (day);
CREATE INDEX web_message_chat ON web_message (chat_id, number);
CREATE INDEX web_message_replaced_by ON web_message (replaced_by) WHERE replaced_by != '';
CREATE INDEX web_message_replaces ON web_message (replaces) WHERE replaces != '';
-- state/history/main.db, version 0
CREATE TABLE changes (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ts TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL,
    by TEXT NOT NULL, path TEXT NOT NULL, summary TEXT NOT NULL, undone_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE edits (
    number INTEGER PRIMARY KEY, change TEXT NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL,
    removed BLOB, added BLOB, above BLOB, below BLOB, existed INTEGER NOT NULL, exists_ INTEGER NOT NULL
);
CREATE INDEX changes_of ON changes (session);
CREATE INDEX edits_of ON edits (change);
-- state/journal/main.db, version 0
CREATE TABLE piece (
    session TEXT NOT NULL, day TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, tokens INTEGER NOT NULL,
    source TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (session, day, first)
);
CREATE TABLE section (
    session TEXT NOT NULL, day TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    is_extract INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (session, day, first, last, is_extract)
);
