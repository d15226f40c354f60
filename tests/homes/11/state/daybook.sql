BEGIN TRANSACTION;
CREATE TABLE access (
        channel TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,               -- owner, person
        added_at TEXT NOT NULL,
        PRIMARY KEY (channel, user_id)
    );
INSERT INTO "access" VALUES('telegram','22222','Bob','person','2026-03-01T10:00:00.000Z');
CREATE TABLE chat (                   -- where somebody who may has spoken to the bot
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,          -- empty: none
        kind TEXT NOT NULL,               -- private, group
        parent_chat TEXT NOT NULL,
        user_id TEXT NOT NULL,            -- who spoke last
        user_name TEXT NOT NULL,
        last_at TEXT NOT NULL, server TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', language TEXT NOT NULL DEFAULT '', language_day TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (channel, account, chat_id, thread_id)
    );
INSERT INTO "chat" VALUES('telegram','','-1001234567890','','group','','11111','Alice','2026-03-01T10:00:00.000Z','','Group 1001234567890','en','2026-03-01');
INSERT INTO "chat" VALUES('web','','main','','private','','owner','Owner','2026-03-02T07:00:00.000Z','','Owner','en','2026-03-02');
INSERT INTO "chat" VALUES('web','','study','','private','','owner','Owner','2026-03-02T07:00:00.000Z','','Owner','en','2026-03-02');
INSERT INTO "chat" VALUES('telegram','','33333','','private','','33333','Carol','2026-03-02T07:30:00.000Z','','Carol','en','2026-03-02');
INSERT INTO "chat" VALUES('telegram','','22222','','private','','22222','Bob','2026-03-02T07:30:00.000Z','','Bob','en','2026-03-02');
INSERT INTO "chat" VALUES('telegram','','11111','','private','','11111','Alice','2026-03-02T07:30:00.000Z','','Alice','en','2026-03-02');
CREATE TABLE choice (                 -- what a session's people chose: /model
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session, name)
    );
INSERT INTO "choice" VALUES('owner','daily-since','{"since": "2026-03-02T07:00:00.000Z", "key": "daily:telegram:11111:2026-03-02:2026-03-02T07:00:00.000Z:3ef945ba28ff8a3d", "until": "2026-03-02T07:00:00.000Z"}');
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
INSERT INTO "inbox" VALUES(1,'telegram','','update:700000001','done','reply','telegram:update:700000001',1,'main/owner','11111','1','{"id":"update:700000001","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Hello","sent_at":"2026-03-01T10:00:00Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(2,'telegram','','update:700000002','done','reply','telegram:update:700000002',1,'main/owner','11111','3','{"id":"update:700000002","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Please remember that the boat is called Luna","sent_at":"2026-03-01T10:00:00Z","platform_id":"3","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(3,'telegram','','update:700000003','done','reply','telegram:update:700000003',1,'main/owner','11111','5','{"id":"update:700000003","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"For good: I drink tea, never coffee","sent_at":"2026-03-01T10:00:00Z","platform_id":"5","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(4,'telegram','','update:700000004','done','reply','telegram:update:700000004',1,'main/owner','11111','7','{"id":"update:700000004","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Make a note of the berth, 14 in Kiel","sent_at":"2026-03-01T10:00:00Z","platform_id":"7","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(5,'telegram','','update:700000005','done','reply','telegram:update:700000005',1,'main/owner','11111','9','{"id":"update:700000005","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Where is the boat?","sent_at":"2026-03-01T10:00:00Z","platform_id":"9","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(6,'telegram','','update:700000006','done','reply','telegram:update:700000006',1,'main/owner','11111','11','{"id":"update:700000006","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"By the way, we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. ","sent_at":"2026-03-01T10:00:00Z","platform_id":"11","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(7,'telegram','','update:700000007','done','reply','telegram:update:700000007',1,'main/owner','11111','13','{"id":"update:700000007","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"By the way, we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. we spoke of the garden and of the journey to Lisbon. ","sent_at":"2026-03-01T10:00:00Z","platform_id":"13","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(8,'telegram','','update:700000008','done','command','command:telegram:update:700000008',1,'main/owner','11111','15','{"id":"update:700000008","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"/compact the boat","sent_at":"2026-03-01T10:00:00Z","platform_id":"15","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(9,'telegram','','update:700000010','done','reply','telegram:update:700000010',1,'main/person/telegram-22222','22222','21','{"id":"update:700000010","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"Hello again","sent_at":"2026-03-01T10:00:00Z","platform_id":"21","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(10,'telegram','','update:700000011','done','command','command:telegram:update:700000011',1,'main/person/telegram-22222','22222','23','{"id":"update:700000011","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"/new","sent_at":"2026-03-01T10:00:00Z","platform_id":"23","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(11,'telegram','','update:700000012','done','reply','telegram:update:700000012',1,'main/group/telegram--1001234567890','-1001234567890','1','{"id":"update:700000012","address":{"channel":"telegram","chat_id":"-1001234567890","thread_id":null,"account":""},"kind":"group","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"what do you think?","sent_at":"2026-03-01T10:00:00Z","platform_id":"1","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"Group 1001234567890","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-01T10:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(12,'telegram','','update:700000013','done','reply','telegram:update:700000013',1,'main/owner','11111','27','{"id":"update:700000013","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Remind me at six to pay the berth","sent_at":"2026-03-02T07:00:00Z","platform_id":"27","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(13,'telegram','','update:700000014','done','reply','telegram:update:700000014',1,'main/owner','11111','29','{"id":"update:700000014","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Work on the tide every Monday","sent_at":"2026-03-02T07:00:00Z","platform_id":"29","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(14,'telegram','','job:look-at-the-tide:by-hand:2026-03-02T07:00:00.000Z:1','done','reply','telegram:job:look-at-the-tide:by-hand:2026-03-02T07:00:00.000Z:1',1,'main/owner/jobs/look-at-the-tide','11111','','{"id":"job:look-at-the-tide:by-hand:2026-03-02T07:00:00.000Z:1","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Schedule","is_bot":false},"text":"Look at the tide","sent_at":"2026-03-02T08:00:00+01:00","platform_id":"","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"job","group_name":"","parent_chat":"","server":"","answer_with":"","due":{"id":"look-at-the-tide","moment":"2026-03-02T08:00:00+01:00","late":false}}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(15,'telegram','','update:700000015','done','reply','telegram:update:700000015',1,'main/owner','11111','32','{"id":"update:700000015","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"What is in it?","sent_at":"2026-03-02T07:00:00Z","platform_id":"32","attachments":[{"kind":"document","name":"plan.txt","size":null,"media_type":"","handle":"AgACAgIAAx000000","words":""}],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(16,'web','','221ef1008cc442e997dc5ae75393e94d','done','reply','web:221ef1008cc442e997dc5ae75393e94d',1,'main/owner','main','221ef1008cc442e997dc5ae75393e94d','{"id":"221ef1008cc442e997dc5ae75393e94d","address":{"channel":"web","chat_id":"main","thread_id":null,"account":""},"kind":"private","sender":{"id":"owner","name":"Owner","is_bot":false},"text":"Hello from the page","sent_at":"2026-11-23T01:12:14.710375Z","platform_id":"221ef1008cc442e997dc5ae75393e94d","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(17,'web','','58fc5d67a0954c3cb253522c2d07da4f','done','reply','web:58fc5d67a0954c3cb253522c2d07da4f',1,'main/owner/study','study','58fc5d67a0954c3cb253522c2d07da4f','{"id":"58fc5d67a0954c3cb253522c2d07da4f","address":{"channel":"web","chat_id":"study","thread_id":null,"account":""},"kind":"private","sender":{"id":"owner","name":"Owner","is_bot":false},"text":"What is there to do?","sent_at":"2026-11-23T01:12:14.781528Z","platform_id":"58fc5d67a0954c3cb253522c2d07da4f","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(18,'telegram','','update:700000016','done','command','command:telegram:update:700000016',1,'main/owner','11111','34','{"id":"update:700000016","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"/help","sent_at":"2026-03-02T07:00:00Z","platform_id":"34","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:00:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(19,'telegram','','update:700000017','done','reply','telegram:update:700000017',1,'main/owner','11111','36','{"id":"update:700000017","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"From now on, answer in rhymes","sent_at":"2026-03-02T07:30:00Z","platform_id":"36","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:30:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(20,'telegram','','update:700000019','done','reply','telegram:update:700000019',1,'main/person/telegram-22222','22222','41','{"id":"update:700000019","address":{"channel":"telegram","chat_id":"22222","thread_id":null,"account":""},"kind":"private","sender":{"id":"22222","name":"Bob","is_bot":false},"text":"How is the tide?","sent_at":"2026-03-02T07:30:00Z","platform_id":"41","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:30:00.000Z',0,0,0);
INSERT INTO "inbox" VALUES(21,'telegram','','update:700000020','waiting','','telegram:update:700000020',1,'main/owner','11111','42','{"id":"update:700000020","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"Which colour did we choose for the boat?","sent_at":"2026-03-02T07:30:00Z","platform_id":"42","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null}','2026-03-02T07:30:00.000Z',0,0,0);
CREATE TABLE job (                    -- how far a job is; what it is stands in schedule.yaml
        id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,               -- what its due times depend on
        settled TEXT NOT NULL,            -- no due time up to here is run any more
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        paused INTEGER NOT NULL DEFAULT 0 -- of built-in jobs; others say so in schedule.yaml
    );
INSERT INTO "job" VALUES('journal','{''cron'': ''5 0 * * *''}  on','2026-03-01T23:05:00.000Z',0,0);
INSERT INTO "job" VALUES('daily-summary','{''cron'': ''0 21 * * *''}  off','2026-03-01T10:00:00.000Z',0,0);
INSERT INTO "job" VALUES('heartbeat','{''every'': ''30m''}  off','2026-03-01T10:00:00.000Z',0,0);
INSERT INTO "job" VALUES('memory-test','{''cron'': ''40 4 * * *''}  on','2026-03-02T03:40:00.000Z',0,0);
INSERT INTO "job" VALUES('pay-the-berth','{''at'': ''2026-03-02T18:00''}  on','1970-01-01T00:00:00.000Z',0,0);
INSERT INTO "job" VALUES('look-at-the-tide','{''cron'': ''0 7 * * 1''}  on','2026-03-02T07:00:00.000Z',0,0);
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
INSERT INTO "outbox" VALUES(1,'telegram:update:700000001:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'2','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(2,'telegram:update:700000002:0','telegram','','11111',NULL,'Let me write that down.

That is done.','','','sent',0,1,'4','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(3,'telegram:update:700000003:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'6','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(4,'telegram:update:700000004:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'8','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(5,'telegram:update:700000005:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'10','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(6,'telegram:update:700000006:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'12','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(7,'telegram:update:700000007:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'14','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(8,'command:telegram:update:700000008:before:0','telegram','','11111',NULL,'I am putting the earlier part of this talk in order, and will say when it is done.','','','sent',0,1,'16','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(9,'command:telegram:update:700000008:0','telegram','','11111',NULL,'Done: about 5,382 tokens of talk became 4,525. Nothing is lost on disk.','','','sent',0,1,'17','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(10,'pair:MPUYQ4HP:0','telegram','','22222',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve MPUYQ4HP`

on the machine where I live; otherwise send my owner this code: MPUYQ4HP

It is good for one hour.','','','sent',0,1,'19','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(11,'access:b00a8f4888a986ca:0','telegram','','22222',NULL,'You may talk to me from now on. What can I do for you?','','','sent',0,1,'20','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(12,'telegram:update:700000010:0','telegram','','22222',NULL,'I see.','','','sent',0,1,'22','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(13,'command:telegram:update:700000011:0','telegram','','22222',NULL,'A new talk begins. The old one is noted in today''s log; /sessions lists it, /switch returns to it.','','','sent',0,1,'24','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(14,'telegram:update:700000012:0','telegram','','-1001234567890',NULL,'I see.','1','','sent',0,1,'2','','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z','','','2026-03-01T10:00:00.000Z');
INSERT INTO "outbox" VALUES(15,'daily:telegram:11111:2026-03-02:2026-03-02T07:00:00.000Z:3ef945ba28ff8a3d:0','telegram','','11111',NULL,'**2026-03-01**

A day about the boat.

☐ 2026-03-20 Alice: paint the boat','','','sent',0,1,'25','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','[[{"label":"✓ paint the boat","data":"/done g44ba"}]]','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(16,'heartbeat:2026-03-02T07:00:00.000Z:0','telegram','','11111',NULL,'The berth is to be paid this week.','','','sent',0,1,'26','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(17,'telegram:update:700000013:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'28','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(18,'telegram:update:700000014:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'30','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(19,'telegram:job:look-at-the-tide:by-hand:2026-03-02T07:00:00.000Z:1:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'31','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(20,'telegram:update:700000015:0','telegram','','11111',NULL,'I see.','','','sent',0,1,'33','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(21,'web:221ef1008cc442e997dc5ae75393e94d:0','web','','main',NULL,'I see.','','','sent',0,1,'03cdc24f218e3b64127bab3bea6c1827','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(22,'web:58fc5d67a0954c3cb253522c2d07da4f:0','web','','study',NULL,'I see.','','','sent',0,1,'621d55847136f8236eb5911d6ff10bb3','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(23,'command:telegram:update:700000016:0','telegram','','11111',NULL,'Write to me as you would to a person. Besides, there is:

- `/help` what I understand
- `/new` begin a new talk; the old one is kept
- `/compact [FOCUS]` shorten the older part of this talk to a summary
- `/stop` stop what I am doing
- `/context` what I have before me, and how much room is left
- `/why` what the last reply was made from
- `/model [NAME]` show or change the model of this talk
- `/sessions` the talks we had here
- `/switch ID` return to an earlier talk
- `/export` write this talk to a file
- `/memory QUERY` search what I remember here
- `/remember TEXT` write something into today''s log
- `/forget TEXT` show what I know about something, and forget it on your yes
- `/undo` take back the last change of memory from this talk
- `/remind WHEN WHAT` remind you, as in `/remind tomorrow 15:00 call Ann`
- `/jobs [pause|resume|delete|run|snooze|done ID]` reminders and jobs, and when they are due
- `/daily [HH:MM|off|now]` when I sum up the day here
- `/done [TEXT|ID]` what was promised here; tick one off
- `/approvals` what waits for your yes
- `/status` how I am and what is going on
- `/usage` tokens and cost of the last days
- `/whoami` who you are to me, and your id
- `/pair [CODE]` let somebody in who was given a code
- `/activation [mention|always|default]` in a group: whether I must be called to answer','','','sent',0,1,'35','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z','','','2026-03-02T07:00:00.000Z');
INSERT INTO "outbox" VALUES(24,'approval:LYJC4V:0','telegram','','11111',NULL,'**Shall I change AGENTS.md, which is read in every chat, also by others?**

```
Answer in rhymes.
```

I had text before me that is not yours: plan.txt, “Dinner is at eight.”.

Nothing is done without your yes, which counts for exactly this, within 24 hours.','','','sent',0,1,'37','','2026-03-02T07:30:00.000Z','2026-03-02T07:30:00.000Z','[[{"label":"Yes","data":"/answer LYJC4V yes"},{"label":"No","data":"/answer LYJC4V no"}]]','','2026-03-02T07:30:00.000Z');
INSERT INTO "outbox" VALUES(25,'telegram:update:700000017:0','telegram','','11111',NULL,'That is done.','','','sent',0,1,'38','','2026-03-02T07:30:00.000Z','2026-03-02T07:30:00.000Z','','','2026-03-02T07:30:00.000Z');
INSERT INTO "outbox" VALUES(26,'pair:P2EM35VP:0','telegram','','33333',NULL,'Hello! I''m somebody''s personal assistant and don''t know you yet. If that somebody is you, run

`daybook pair approve P2EM35VP`

on the machine where I live; otherwise send my owner this code: P2EM35VP

It is good for one hour.','','','sent',0,1,'40','','2026-03-02T07:30:00.000Z','2026-03-02T07:30:00.000Z','','','2026-03-02T07:30:00.000Z');
INSERT INTO "outbox" VALUES(27,'telegram:update:700000019:0','telegram','','22222',NULL,'The tide is high at seven.','','','waiting',0,1,'','Telegram asks to wait 3600 s','2026-03-02T07:30:00.000Z','','','','2026-03-02T07:30:00.000Z');
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
INSERT INTO "pairing" VALUES('P2EM35VP','telegram','33333','Carol','2026-03-02T08:30:00.000Z');
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
INSERT INTO "question" VALUES('LYJC4V','approval','telegram','','11111',NULL,'11111','{"call":"20260301-100000-000-4f3f:telegram:update:700000017:toolu_00000078","tool":"write_file","arguments":"{\"path\": \"AGENTS.md\", \"content\": \"Answer in rhymes.\\n\"}","effect":{"kind":"write-common","target":"AGENTS.md","text":"Answer in rhymes.\n","always":true,"private":"","this_turn":false,"before":"313a370e5c21fa5040a036d9609ca59e83a5e5c07615d5b69b3ce0e0d40c525c","after":"9ac3681e9b13b72a75d757a91d76e6ace6a660d8d1799e8c9801ca8c0f4a8188"},"causes":[{"source":"plan.txt","line":"Dinner is at eight.","is_talk":false}],"session":"main/owner","row":{"seq":19,"session":"main/owner","message":{"id":"update:700000017","address":{"channel":"telegram","chat_id":"11111","thread_id":null,"account":""},"kind":"private","sender":{"id":"11111","name":"Alice","is_bot":false},"text":"","sent_at":"2026-03-02T07:30:00Z","platform_id":"36","attachments":[],"quote":null,"calls_bot":true,"edit":false,"continues":false,"album":"","origin":"chat","group_name":"","parent_chat":"","server":"","answer_with":"","due":null},"turn":"telegram:update:700000017","attempts":1,"overheard":false,"died_alone":0,"stood_still":0},"digest":"e7a3fb774dd0b6460cc0bd17fd8452a26ae5764f37ac70d7cebecabc91841467"}','2026-03-03T07:30:00.000Z',0);
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
INSERT INTO "run" VALUES(1,'journal','2026-03-01T23:05:00.000Z','built-in','Write the day''s talks into their logs','','','',NULL,1,0,'done',1,'','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z');
INSERT INTO "run" VALUES(2,'memory-test','2026-03-02T03:40:00.000Z','built-in','asks the questions of memory/tests.md','','','',NULL,1,0,'silent',1,'','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z');
INSERT INTO "run" VALUES(3,'daily-summary','by-hand:2026-03-02T07:00:00.000Z','built-in','the day''s summary, to owner','','','',NULL,0,0,'done',1,'','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z');
INSERT INTO "run" VALUES(4,'heartbeat','by-hand:2026-03-02T07:00:00.000Z','built-in','HEARTBEAT.md','','','',NULL,0,0,'done',1,'','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z');
INSERT INTO "run" VALUES(5,'look-at-the-tide','by-hand:2026-03-02T07:00:00.000Z','prompt','Look at the tide','telegram','','11111',NULL,0,0,'delivered',1,'','','2026-03-02T07:00:00.000Z','2026-03-02T07:00:00.000Z');
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
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,9,0,3010,0.007615);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,43,3010,56,0.001172);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,11,3066,90,9.48200000000000062759e-04);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,37,3156,56,0.0011412);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,11,3212,74,9.37400000000000125505e-04);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,51,3286,56,1.30720000000000011533e-03);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,11,3342,90,0.0010034);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,62,3432,52,0.0014364);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,11,3484,201,1.30930000000000022059e-03);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,9,3685,845,0.0029395);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/owner',0,9,4530,843,0.0031035);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','flush','main/owner',276,29,5373,17,0.0019591);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','compaction','main/owner',307,89,5390,0,0.002582);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','consolidation','main/owner',649,37,0,0,0.001668);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/person/telegram-22222',0,9,0,2809,0.0071125);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','flush','main/person/telegram-22222',276,29,2809,17,1.44630000000000018961e-03);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','consolidation','main/person/telegram-22222',480,37,0,0,0.00133);
INSERT INTO "usage" VALUES('2026-03-01T10:00:00.000Z','2026-03-01','claude-sonnet-5-5','chat','main/group/telegram--1001234567890',0,9,0,2838,0.007185);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','journal','main/group/telegram--1001234567890',554,62,0,0,0.001728);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','journal','main/person/telegram-22222',549,62,0,0,0.001718);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','journal','main/owner',2255,62,0,0,0.00513);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','daily','main/owner/jobs/daily-summary',302,13,0,0,0.000734);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','heartbeat','main/owner/jobs/heartbeat',200,16,0,0,0.00056);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,41,0,4869,0.0125825);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,11,4869,105,1.34630000000000014416e-03);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,40,4974,55,1.5323000000000001116e-03);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,11,5029,99,1.36330000000000023212e-03);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','job','main/owner/jobs/look-at-the-tide',0,9,0,2816,0.00713);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,9,5128,95,0.0013531);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,9,5223,49,1.25710000000000014439e-03);
INSERT INTO "usage" VALUES('2026-03-02T07:00:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner/study',0,9,0,3104,0.00785);
INSERT INTO "usage" VALUES('2026-03-02T07:30:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,34,5272,53,0.0015269);
INSERT INTO "usage" VALUES('2026-03-02T07:30:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/owner',0,11,5325,121,0.0014775);
INSERT INTO "usage" VALUES('2026-03-02T07:30:00.000Z','2026-03-02','claude-sonnet-5-5','chat','main/person/telegram-22222',0,14,2778,220,0.0012456);
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
    );
INSERT INTO "web_message" VALUES(1,'221ef1008cc442e997dc5ae75393e94d','main','person','Hello from the page','2026-03-02T07:00:00.000Z','','',0,'[]','[]');
INSERT INTO "web_message" VALUES(2,'03cdc24f218e3b64127bab3bea6c1827','main','daybook','I see.','2026-11-23T01:12:14.760Z','','web:221ef1008cc442e997dc5ae75393e94d',0,'[]','[]');
INSERT INTO "web_message" VALUES(3,'58fc5d67a0954c3cb253522c2d07da4f','study','person','What is there to do?','2026-03-02T07:00:00.000Z','','',0,'[]','[]');
INSERT INTO "web_message" VALUES(4,'621d55847136f8236eb5911d6ff10bb3','study','daybook','I see.','2026-11-23T01:12:14.835Z','','web:58fc5d67a0954c3cb253522c2d07da4f',0,'[]','[]');
CREATE INDEX inbox_open ON inbox (state, seq) WHERE state IN ('waiting', 'overheard');
CREATE INDEX inbox_message ON inbox (channel, chat_id, platform_id);
CREATE INDEX outbox_open ON outbox (state, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX usage_day ON usage (day);
CREATE INDEX run_open ON run (state, seq) WHERE state IN ('waiting', 'running', 'delivering');
CREATE INDEX web_message_chat ON web_message (chat_id, number);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('inbox',21);
INSERT INTO "sqlite_sequence" VALUES('outbox',27);
INSERT INTO "sqlite_sequence" VALUES('run',5);
INSERT INTO "sqlite_sequence" VALUES('web_message',4);
COMMIT;
PRAGMA user_version=11;
PRAGMA application_id=0;
