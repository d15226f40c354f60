BEGIN TRANSACTION;
CREATE TABLE access (
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,               -- owner, person
        added_at TEXT NOT NULL,
        PRIMARY KEY (channel, user_id)
    );
INSERT INTO "access" VALUES('telegram','22222','Bob','person','2026-11-24T20:17:56.790Z');
CREATE TABLE chat (                   -- where somebody who may has spoken to the bot
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,          -- empty: none
        kind TEXT NOT NULL,               -- private, group
        parent_chat TEXT NOT NULL,
        user_id TEXT NOT NULL,            -- who spoke last
        user_name TEXT NOT NULL,
        last_at TEXT NOT NULL, server TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (channel, account, chat_id, thread_id)
    );
INSERT INTO "chat" VALUES('telegram','','-1001234567890','','group','','11111','Alice','2026-11-24T20:17:57.011Z','','Group 1001234567890');
INSERT INTO "chat" VALUES('telegram','','33333','','private','','33333','Carol','2026-11-24T20:17:59.331Z','','Carol');
INSERT INTO "chat" VALUES('telegram','','22222','','private','','22222','Bob','2026-11-24T20:17:59.364Z','','Bob');
INSERT INTO "chat" VALUES('telegram','','11111','','private','','11111','Alice','2026-11-24T20:17:59.446Z','','Alice');
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
        received_at TEXT NOT NULL,
        UNIQUE (channel, account, id)
    );
INSERT INTO "inbox" VALUES(1,'telegram','','update:700000001','done','reply','telegram:update:700000001',1,'main/owner','11111','1','{"id":"update:700000001","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Hello","sent_at":"2026-11-24T20:17:54Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:54.285Z');
INSERT INTO "inbox" VALUES(2,'telegram','','update:700000002','done','reply','telegram:update:700000002',1,'main/owner','11111','3','{"id":"update:700000002","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Please remember that the boat is called Luna","sent_at":"2026-11-24T20:17:54Z","platform_id":"3","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:55.614Z');
INSERT INTO "inbox" VALUES(3,'telegram','','update:700000003','done','reply','telegram:update:700000003',1,'main/owner','11111','5','{"id":"update:700000003","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Make a note of the berth, 14 in Kiel","sent_at":"2026-11-24T20:17:54Z","platform_id":"5","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:55.706Z');
INSERT INTO "inbox" VALUES(4,'telegram','','update:700000005','done','reply','telegram:update:700000005',1,'main/person/telegram-22222','22222','10','{"id":"update:700000005","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"Hello again","sent_at":"2026-11-24T20:17:54Z","platform_id":"10","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:56.915Z');
INSERT INTO "inbox" VALUES(5,'telegram','','update:700000006','done','reply','telegram:update:700000006',1,'main/group/telegram--1001234567890','-1001234567890','1','{"id":"update:700000006","address":{"channel":"telegram","chat_id":"-1001234567890","thread_id":null,"account":""},"kind":"group","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"what do you think?","sent_at":"2026-11-24T20:17:54Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"Group 1001234567890","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:57.011Z');
INSERT INTO "inbox" VALUES(6,'telegram','','update:700000007','done','command','command:telegram:update:700000007',1,'main/owner','11111','12','{"id":"update:700000007","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"/remind in 3 hours Pay the berth","sent_at":"2026-11-24T20:17:54Z","platform_id":"12","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:57.080Z');
INSERT INTO "inbox" VALUES(7,'telegram','','update:700000009','done','reply','telegram:update:700000009',1,'main/person/telegram-22222','22222','17','{"id":"update:700000009","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"How is the tide?","sent_at":"2026-11-24T20:17:54Z","platform_id":"17","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:59.364Z');
INSERT INTO "inbox" VALUES(8,'telegram','','update:700000010','waiting','','telegram:update:700000010',1,'main/owner','11111','18','{"id":"update:700000010","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Which colour did we choose for the boat?","sent_at":"2026-11-24T20:17:54Z","platform_id":"18","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-11-24T20:17:59.446Z');
CREATE TABLE job (                    -- how far a job is; what it is stands in schedule.yaml
        id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,               -- what its due times depend on
        settled TEXT NOT NULL,            -- no due time up to here is run any more
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        paused INTEGER NOT NULL DEFAULT 0 -- of built-in jobs; others say so in schedule.yaml
    );
INSERT INTO "job" VALUES('journal','{''cron'': ''5 0 * * *''}  on','2026-11-24T20:17:54.233Z',0,0);
INSERT INTO "job" VALUES('daily-summary','{''cron'': ''0 21 * * *''}  off','2026-11-24T20:17:54.233Z',0,0);
INSERT INTO "job" VALUES('heartbeat','{''every'': ''30m''}  off','2026-11-24T20:17:54.233Z',0,0);
INSERT INTO "job" VALUES('memory-test','{''cron'': ''40 4 * * *''}  on','2026-11-24T20:17:54.233Z',0,0);
INSERT INTO "job" VALUES('pay-the-berth','{''at'': ''2026-11-25T00:17:54''}  on','1970-01-01T00:00:00.000Z',0,0);
INSERT INTO "job" VALUES('water','{''cron'': ''0 8 * * *''}  on','2026-11-24T20:17:57.985Z',0,0);
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
INSERT INTO "outbox" VALUES(1,'telegram:update:700000001:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'2','','2026-11-24T20:17:55.585Z','2026-11-24T20:17:55.604Z','','','2026-11-24T20:17:55.586Z');
INSERT INTO "outbox" VALUES(2,'telegram:update:700000002:0','telegram','','11111',NULL,'Let me write that down.

That is done.','','','sent',0,1,'4','','2026-11-24T20:17:55.685Z','2026-11-24T20:17:55.697Z','','','2026-11-24T20:17:55.686Z');
INSERT INTO "outbox" VALUES(3,'telegram:update:700000003:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'6','','2026-11-24T20:17:55.797Z','2026-11-24T20:17:55.806Z','','','2026-11-24T20:17:55.800Z');
INSERT INTO "outbox" VALUES(4,'pair:SJ48HMN9:0','telegram','','22222',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve SJ48HMN9`

on the machine where I live; otherwise send my owner this code: SJ48HMN9

It is good for one hour.','','','sent',0,1,'8','','2026-11-24T20:17:55.829Z','2026-11-24T20:17:55.845Z','','','2026-11-24T20:17:55.832Z');
INSERT INTO "outbox" VALUES(5,'access:1a4e05b6542dc4a2:0','telegram','','22222',NULL,'You may talk to me from now on. What can I do for you?','','','sent',0,1,'9','','2026-11-24T20:17:56.791Z','2026-11-24T20:17:56.809Z','','','2026-11-24T20:17:56.800Z');
INSERT INTO "outbox" VALUES(6,'telegram:update:700000005:0','telegram','','22222',NULL,'I see.','','','sent',0,1,'11','','2026-11-24T20:17:56.956Z','2026-11-24T20:17:56.975Z','','','2026-11-24T20:17:56.966Z');
INSERT INTO "outbox" VALUES(7,'telegram:update:700000006:0','telegram','','-1001234567890',NULL,'I see.','1','','sent',0,1,'2','','2026-11-24T20:17:57.047Z','2026-11-24T20:17:57.051Z','','','2026-11-24T20:17:57.047Z');
INSERT INTO "outbox" VALUES(8,'command:telegram:update:700000007:0','telegram','','11111',NULL,'I''ll remind you: 2026-11-25 Wed 00:17 Europe/Berlin (in 3 hours). (`pay-the-berth`; `/jobs delete pay-the-berth` takes it back.)','','','sent',0,1,'13','','2026-11-24T20:17:57.108Z','2026-11-24T20:17:57.118Z','','','2026-11-24T20:17:57.110Z');
INSERT INTO "outbox" VALUES(9,'job:water:by-hand:2026-11-24T20:17:59.134Z:1:0','telegram','','11111',NULL,'Drink a glass of water','','','sent',0,1,'14','','2026-11-24T20:17:59.155Z','2026-11-24T20:17:59.179Z','[[{"label":"Done","data":"/jobs done #1"}],[{"label":"In 10 minutes","data":"/jobs snooze #1 10m"},{"label":"In an hour","data":"/jobs snooze #1 1h"},{"label":"Tomorrow","data":"/jobs snooze #1 1d"}]]','','2026-11-24T20:17:59.165Z');
INSERT INTO "outbox" VALUES(10,'pair:TKM24G9J:0','telegram','','33333',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve TKM24G9J`

on the machine where I live; otherwise send my owner this code: TKM24G9J

It is good for one hour.','','','sent',0,1,'16','','2026-11-24T20:17:59.331Z','2026-11-24T20:17:59.338Z','','','2026-11-24T20:17:59.333Z');
INSERT INTO "outbox" VALUES(11,'telegram:update:700000009:0','telegram','','22222',NULL,'The tide is high at seven.','','','waiting',0,1,'','Telegram asks to wait 3600 s','2026-11-24T20:17:59.419Z','','','','2026-11-24T20:17:59.424Z');
CREATE TABLE pairing (
        code TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        expires_at TEXT NOT NULL
    );
INSERT INTO "pairing" VALUES('TKM24G9J','telegram','33333','Carol','2026-11-24T21:17:59.330Z');
CREATE TABLE preview (
        turn TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        platform_id TEXT NOT NULL DEFAULT '' -- empty: sent, but its id never came back
    , begun_at TEXT NOT NULL DEFAULT '');
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
INSERT INTO "run" VALUES(1,'water','by-hand:2026-11-24T20:17:59.134Z','message','Drink a glass of water','telegram','','11111',NULL,0,0,'delivering',1,'','','2026-11-24T20:17:59.134Z','');
CREATE TABLE seen (                   -- up to where chats are on disk, where the platform offers nothing again
        channel TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        server TEXT NOT NULL,             -- empty: a private chat
        message_id TEXT NOT NULL,
        PRIMARY KEY (channel, chat_id)
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
INSERT INTO "usage" VALUES('2026-11-24T20:17:55.581Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,9,0,2901,0.0073425);
INSERT INTO "usage" VALUES('2026-11-24T20:17:55.633Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,43,2901,56,0.0011502);
INSERT INTO "usage" VALUES('2026-11-24T20:17:55.682Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,11,2957,90,0.0009264);
INSERT INTO "usage" VALUES('2026-11-24T20:17:55.745Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,51,3047,56,1.25940000000000014608e-03);
INSERT INTO "usage" VALUES('2026-11-24T20:17:55.793Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,11,3103,90,0.0009556);
INSERT INTO "usage" VALUES('2026-11-24T20:17:56.953Z','2026-11-24','claude-sonnet-5-5','chat','main/person/telegram-22222',0,9,0,2822,0.007145);
INSERT INTO "usage" VALUES('2026-11-24T20:17:57.045Z','2026-11-24','claude-sonnet-5-5','chat','main/group/telegram--1001234567890',0,9,0,2828,0.00716);
INSERT INTO "usage" VALUES('2026-11-24T20:17:59.416Z','2026-11-24','claude-sonnet-5-5','chat','main/person/telegram-22222',0,14,2822,49,0.0008269);
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
CREATE INDEX inbox_open ON inbox (state, seq) WHERE state IN ('waiting', 'overheard');
CREATE INDEX inbox_message ON inbox (channel, chat_id, platform_id);
CREATE INDEX outbox_open ON outbox (state, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX usage_day ON usage (day);
CREATE INDEX run_open ON run (state, seq) WHERE state IN ('waiting', 'running', 'delivering');
CREATE INDEX web_message_chat ON web_message (chat_id, number);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('inbox',8);
INSERT INTO "sqlite_sequence" VALUES('outbox',11);
INSERT INTO "sqlite_sequence" VALUES('run',1);
COMMIT;
PRAGMA user_version=7;
PRAGMA application_id=0;
