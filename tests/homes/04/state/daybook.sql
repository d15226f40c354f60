BEGIN TRANSACTION;
CREATE TABLE access (
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,               -- owner, person
        added_at TEXT NOT NULL,
        PRIMARY KEY (channel, user_id)
    );
INSERT INTO "access" VALUES('telegram','22222','Bob','person','2026-11-24T20:12:27.338Z');
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
INSERT INTO "inbox" VALUES(1,'telegram','','update:700000001','done','reply','telegram:update:700000001',1,'main/owner','11111','1','{"id":"update:700000001","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Hello","sent_at":"2026-11-24T20:12:25Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:25.227Z');
INSERT INTO "inbox" VALUES(2,'telegram','','update:700000002','done','reply','telegram:update:700000002',1,'main/owner','11111','3','{"id":"update:700000002","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Please remember that the boat is called Luna","sent_at":"2026-11-24T20:12:25Z","platform_id":"3","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:26.571Z');
INSERT INTO "inbox" VALUES(3,'telegram','','update:700000003','done','reply','telegram:update:700000003',1,'main/owner','11111','5','{"id":"update:700000003","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Make a note of the berth, 14 in Kiel","sent_at":"2026-11-24T20:12:25Z","platform_id":"5","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:26.800Z');
INSERT INTO "inbox" VALUES(4,'telegram','','update:700000005','done','reply','telegram:update:700000005',1,'main/person/telegram-22222','22222','9','{"id":"update:700000005","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"Hello again","sent_at":"2026-11-24T20:12:25Z","platform_id":"9","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:27.414Z');
INSERT INTO "inbox" VALUES(5,'telegram','','update:700000006','done','reply','telegram:update:700000006',1,'main/group/telegram--1001234567890','-1001234567890','1','{"id":"update:700000006","address":{"channel":"telegram","chat_id":"-1001234567890","thread_id":null,"account":""},"kind":"group","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"what do you think?","sent_at":"2026-11-24T20:12:25Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"Group 1001234567890","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:27.470Z');
INSERT INTO "inbox" VALUES(6,'telegram','','update:700000008','done','reply','telegram:update:700000008',1,'main/person/telegram-22222','22222','13','{"id":"update:700000008","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"How is the tide?","sent_at":"2026-11-24T20:12:25Z","platform_id":"13","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:27.549Z');
INSERT INTO "inbox" VALUES(7,'telegram','','update:700000009','waiting','','telegram:update:700000009',1,'main/owner','11111','14','{"id":"update:700000009","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Which colour did we choose for the boat?","sent_at":"2026-11-24T20:12:25Z","platform_id":"14","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":""}','2026-11-24T20:12:27.569Z');
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
INSERT INTO "outbox" VALUES(1,'telegram:update:700000001:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'2','','2026-11-24T20:12:26.553Z','2026-11-24T20:12:26.566Z','','','2026-11-24T20:12:26.557Z');
INSERT INTO "outbox" VALUES(2,'telegram:update:700000002:0','telegram','','11111',NULL,'Let me write that down.

That is done.','','','sent',0,1,'4','','2026-11-24T20:12:26.769Z','2026-11-24T20:12:26.776Z','','','2026-11-24T20:12:26.773Z');
INSERT INTO "outbox" VALUES(3,'telegram:update:700000003:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'6','','2026-11-24T20:12:26.863Z','2026-11-24T20:12:26.870Z','','','2026-11-24T20:12:26.865Z');
INSERT INTO "outbox" VALUES(4,'pair:X6MP36CX:0','telegram','','22222',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve X6MP36CX`

on the machine where I live; otherwise send my owner this code: X6MP36CX

It is good for one hour.','','','sent',0,1,'8','','2026-11-24T20:12:26.897Z','2026-11-24T20:12:26.904Z','','','2026-11-24T20:12:26.901Z');
INSERT INTO "outbox" VALUES(5,'telegram:update:700000005:0','telegram','','22222',NULL,'I see.','','','sent',0,1,'10','','2026-11-24T20:12:27.439Z','2026-11-24T20:12:27.444Z','','','2026-11-24T20:12:27.440Z');
INSERT INTO "outbox" VALUES(6,'telegram:update:700000006:0','telegram','','-1001234567890',NULL,'I see.','1','','sent',0,1,'2','','2026-11-24T20:12:27.501Z','2026-11-24T20:12:27.511Z','','','2026-11-24T20:12:27.507Z');
INSERT INTO "outbox" VALUES(7,'pair:BGEC872P:0','telegram','','33333',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve BGEC872P`

on the machine where I live; otherwise send my owner this code: BGEC872P

It is good for one hour.','','','sent',0,1,'12','','2026-11-24T20:12:27.517Z','2026-11-24T20:12:27.526Z','','','2026-11-24T20:12:27.519Z');
INSERT INTO "outbox" VALUES(8,'telegram:update:700000008:0','telegram','','22222',NULL,'The tide is high at seven.','','','waiting',0,1,'','Telegram asks to wait 3600 s','2026-11-24T20:12:27.566Z','','','','2026-11-24T20:12:27.567Z');
CREATE TABLE pairing (
        code TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        expires_at TEXT NOT NULL
    );
INSERT INTO "pairing" VALUES('BGEC872P','telegram','33333','Carol','2026-11-24T21:12:27.516Z');
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
INSERT INTO "usage" VALUES('2026-11-24T20:12:26.551Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,9,0,2486,0.006305);
INSERT INTO "usage" VALUES('2026-11-24T20:12:26.589Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,43,2486,56,1.06720000000000013636e-03);
INSERT INTO "usage" VALUES('2026-11-24T20:12:26.764Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,11,2542,90,8.43400000000000117476e-04);
INSERT INTO "usage" VALUES('2026-11-24T20:12:26.817Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,51,2632,56,1.17640000000000018859e-03);
INSERT INTO "usage" VALUES('2026-11-24T20:12:26.862Z','2026-11-24','claude-sonnet-5-5','chat','main/owner',0,11,2688,90,8.72600000000000068298e-04);
INSERT INTO "usage" VALUES('2026-11-24T20:12:27.437Z','2026-11-24','claude-sonnet-5-5','chat','main/person/telegram-22222',0,9,0,2407,0.0061075);
INSERT INTO "usage" VALUES('2026-11-24T20:12:27.500Z','2026-11-24','claude-sonnet-5-5','chat','main/group/telegram--1001234567890',0,9,0,2413,0.0061225);
INSERT INTO "usage" VALUES('2026-11-24T20:12:27.563Z','2026-11-24','claude-sonnet-5-5','chat','main/person/telegram-22222',0,14,2407,49,7.4390000000000013839e-04);
CREATE INDEX inbox_open ON inbox (state, seq) WHERE state IN ('waiting', 'overheard');
CREATE INDEX inbox_message ON inbox (channel, chat_id, platform_id);
CREATE INDEX outbox_open ON outbox (state, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX usage_day ON usage (day);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('inbox',7);
INSERT INTO "sqlite_sequence" VALUES('outbox',8);
COMMIT;
PRAGMA user_version=4;
PRAGMA application_id=0;
