"""English: what Daybook says in it, and the words that it understands."""

from __future__ import annotations

from agent.languages.codes import Language
from agent.languages.table import (
    ApprovalStrings,
    ChatStrings,
    CommandPatterns,
    CommonWords,
    DateWords,
    EffectStrings,
    IntentWords,
    JournalStrings,
    LanguageTable,
    MomentStrings,
    OfflineStrings,
    PastPatterns,
    ProgramStrings,
    RelationWords,
    RememberPatterns,
    ReminderStrings,
)

_OBJECT = (
    r"(?:\s+(?:this|that|it|these|those|the following|my|our|the|a|an|i|we|for|to|down|in|into|somewhere|please)\b"
    r"|\s*[:,–—-])"
)

ENGLISH = LanguageTable(
    language=Language.ENGLISH,
    reminders=ReminderStrings(
        late="Sorry, I'm late: this was due {due}.",
        missed="I couldn't remind you of this in time:",
        more="and {number} more (see `/jobs`)",
        done="Done",
        in_10_minutes="In 10 minutes",
        in_an_hour="In an hour",
        tomorrow="Tomorrow",
        is_done="Done.",
        again="I'll remind you again {when}.",
        set="I'll remind you {when}.",
        set_again="I'll remind you again and again, next {when}.",
        asks_hour="At what time?",
        what="What should I remind you of?",
        unclear=(
            "I don't understand when that is. Say the day and the hour, and what, as in “tomorrow at 15:00 call Ann” "
            "or “every weekday at 8 vitamins”."
        ),
        past="{when} is already past.",
        cancel="Cancel",
        cancelled="Cancelled: {task}",
        nothing_due="No reminders are set for that.",
        none_about="I have no reminder about “{task}”.",
        which="Which one?",
        timer="Time is up",
        wake="Time to get up",
    ),
    chat=ChatStrings(
        nothing_said="It was quiet here {day}: no messages, and nothing is due.",
        undelivered="I couldn't deliver one of my messages here ({why}). Ask me again, or look it up with `/export`.",
        working="⏳ Working on: {task}",
        login="To use **{name}** I need you to log in: [{host}]({link})\n\nThe link works once, within an hour. "
        "If your browser ends on a page that it can't open, because I run on another computer, copy that "
        "page's address and paste it on my page under *Status*, or at `daybook mcp login {name}` in the "
        "terminal.",
        logged_in="You are logged in to **{name}** at {host}; it has {count} tools. Ask me again for what you wanted.",
        login_failed="The login to **{name}** did not work: {why}.",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="send this to {target}",
            write="write this to {target}",
            write_common="change {target}, which is read in every chat, including other people's",
            write_skill="write the skill {target}, which is used in every chat, including other people's",
            add_job="add this job for {target}",
            remove_job="remove this job for {target}",
            fetch="open {target}",
            search="search the web for {target}",
            draw="have a picture made at {target}",
            run="run {target}",
            use_tool="use the tool {target}",
            use_new_tool="use the tool {target} for the first time; below is what it says of itself",
            use_changed_tool="use the tool {target}, which is described differently than when you first used it",
        ),
        question="**May I {what}?**",
        because="I'm asking because I've read text that isn't yours: {source}.",
        because_line="I'm asking because I've read text that isn't yours: {source}, “{line}”.",
        private="It contains a line from your private memory: “{line}”.",
        asked_in="The request came from {chat}.",
        good_for="I won't do it unless you say yes. Your yes is for this only, and you have 24 hours.",
        yes="Yes",
        no="No",
        done="Approved and done: {what}.",
        refused="Not done: {what}.",
        changed="I did nothing, because something has changed since I asked: {what}.",
        failed="That didn't work ({why}): {what}.",
        none_open="Nothing is waiting for your yes.",
        listed="Waiting for your yes:",
        left_out="[{number} characters are left out here; the whole text is in the file below]",
        once="Once",
        always="Always",
        lasting="“Always” means: from now on I run anything that begins with `{words}` without "
        "asking, as long as its files stay as they are.",
        with_network="It wants to use the network.",
        no_sandbox="There is no sandbox on this computer: it can read and change everything that I can.",
        as_root="I run as root, so there is no sandbox that holds: it can read and change everything on this computer.",
        for_conversation="I won't do it unless you say yes within 24 hours. Your yes counts for all that "
        "I send there in this conversation; lines of your private memory I ask about "
        "again.",
        for_tool="I won't do it unless you say yes within 24 hours. Your yes counts for this tool as long as it "
        "describes itself like this; lines of your private memory I ask about again.",
        started="Approved: {what}. I'll come back with the result.",
        allowed="I run these without asking:",
        ask_again="Ask again: {words}",
        asks_again="From now on I ask again before I run `{words}`.",
    ),
    programs=ProgramStrings(
        ended="`{command}` has ended.",
        failed="`{command}` has ended with an error (exit code {code}).",
        late="`{command}` took too long, so I ended it.",
        stopped="`{command}` was stopped.",
        limited="`{command}` used too much memory, disk or processes, so I ended it.",
        refused="`{command}` could not be started ({why}).",
        lost="`{command}` ended when I was restarted. It may be half done, and I haven't run it again.",
    ),
    journal=JournalStrings(
        assistant="Assistant",
        left_out="(an extract; messages not shown: {number})",
        gap="(A gap: {number} line of this conversation can't be read.)",
        gaps="(A gap: {number} lines of this conversation can't be read.)",
        from_here="(From here on an extract: the journal reads at most {number} tokens of a conversation per day.)",
    ),
    offline=OfflineStrings(
        greeting="Hello!",
        offline=(
            "I'm Daybook's offline assistant: I keep your notes and find them again, but no language model is "
            "connected. Connect one on the page under Settings (`daybook web` opens it), with `daybook init`, or by "
            "putting `ANTHROPIC_API_KEY=…` into `{env}` and starting me again."
        ),
        abilities=(
            "Tell me something and I note it; ask me and I look through your notes. “Remind me tomorrow at 3 to "
            "call mum” sets a reminder, “What’s due tomorrow?” lists them, “What did I note today?” shows "
            "today’s log."
        ),
        needs_model="I can't do that without a language model. Connect one on the page under Settings.",
        welcome="You're welcome.",
        noted="Noted in {path}:",
        found="Here's what I found in your notes:",
        nothing="I found nothing about “{query}” in your notes.",
        today="Today's log, {path}:",
        today_empty="Today's log is still empty.",
        failed="That didn't work: {why}",
        no_tool="I can't do that in this chat.",
        empty="I can only read text, and this message has none.",
        unseen="I've kept what came with your message, but I can't look at it without a language model.",
        command="Send `{command}` on its own, and it's done.",
    ),
    moments=MomentStrings(
        today="today",
        tomorrow="tomorrow",
        yesterday="yesterday",
        dated="on {weekday} {day} {month}",
        with_year="on {weekday} {day} {month} {year}",
        at="{day} at {time}",
        weekdays="Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        months="January February March April May June July August September October November December",
    ),
    yes="yes|y|yep|yeah|sure|ok|okay|do it|👍",
    no="no|n|nope|cancel|stop|👎",
    intents=IntentWords(
        greeting="hi|hello|hey|hi there|hello there|good morning|good afternoon|good evening|good day",
        thanks="thanks|thank you|thank you very much|thanks a lot|ok|okay|👍",
        help="help|start|who are you|what are you|what can you do|what do you do|how do i connect a model",
        remember="remember|please remember|note|please note|don't forget|do not forget|keep in mind|make a note"
        "|write down|jot down|save this|can you remember|could you remember|can you note|could you note",
        today="today|today's|todays",
        log="log|daybook|diary|notes|noted|note|entries|happened|write|wrote|written|said|tell|told",
        asking="who|what|what's|where|which|whose|why|how|when|find|search|look up|look for|tell me|show|show me|list"
        "|do you know|do you remember",
        filler="did|you|me|please|about|from|so far|have|happen",
        telltale="the|is|a|my|i|and|of|to|that|it|was|at",
    ),
    commands=CommandPatterns(
        remind=r"(?:(?:can|could|would|will) you (?:please )?)?"
        r"(?:remind (?:me|us)(?: please)?|do(?:n.t| not) let me forget)"
        r"(?! (?:what|who|whom|whose|where|why|which|how)\b)",
        forget=r"forget (?!to\b|me\b)(?:about |all about |everything (?:about|on) )?",
        undo=r"undo(?: (?:it|that|this|the last (?:one|thing|change)))?|take (?:it|that) back",
        that="it|that|this",
        please="please",
    ),
    remember=RememberPatterns(
        asks=r"remember(?!\s+(?:when|nothing|none|the (?:time|day|days)|how (?:we|you)|me\b)"
        r"|\s+what\s+(?:i|we|you|he|she|they)\s+(?:said|told|did|talked|discussed|agreed|wanted|asked))\b"
        r"|memori[sz]e\b|keep(?:\s+(?:this|that|it|in))?\s+in\s+(?:mind|memory)|bear(?:\s+(?:this|that|it))?\s+in\s+mind"
        r"|(?:don['’]?t|do not|never|don['’]?t you|do not ever|don['’]?t ever)\s+(?:you\s+|ever\s+|please\s+)?forget\b"
        rf"|(?:note|jot|log|record|store|save)(?:{_OBJECT}|\s+(?:down|that)\b)"
        r"|(?:write|put|jot|take|note|get)\s+(?:\S+\s+){0,8}?down\b|(?:make|take|keep)\s+(?:a\s+)?(?:\w+\s+)?(?:note|record)\b"
        r"|(?:add|put|save|commit|write|store)\s+(?:\S+\s+){1,12}?(?:to|in|into)\s+(?:your\s+|the\s+|my\s+)?"
        r"(?:memory|notes?|log|daybook|diary|file)\b",
        requests=r"(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|just\s+|kindly\s+)*"
        r"(?:remember(?!\s+(?:what|when|who|whom|whose|where|why|how|which|if|whether|anything|something"
        r"|me\b|the (?:time|day)))"
        r"(?=\s+\S)|memori[sz]e|note|make\s+a\s+note|keep\s+(?:\w+\s+)?in\s+mind|write\s+(?:\S+\s+){0,8}?down"
        r"|jot|save|store|record)"
        r"|(?:i\s+(?:want|need|['’]?d\s+like|would\s+like)\s+you\s+to|you\s+(?:should|must|need\s+to|have\s+to)"
        r"|make\s+sure\s+(?:to|you|that\s+you)|be\s+sure\s+to|try\s+to)\s+(?:always\s+|also\s+)?"
        r"(?:remember|memori[sz]e|note|keep\s+in\s+mind|write\s+(?:\S+\s+){0,8}?down)",
        refuses=r"\b(?:don['’]?t|do not|doesn['’]?t|never|not|no need|needn['’]?t|no reason|nothing|stop|without)"
        r"(?:\s+(?:you|have|need|needs|want|to|please|ever|bother|actually|for|even))*\s+"
        r"(?:remember|remembering|memori[sz]e|note|noting|save|saving|store|storing|log|logging|record|keep|keeping"
        r"|write|writing|put)\b"
        r"|\bforget\s+(?:it|that|this|what|about|everything)\b",
        before=r"please|pls|just|also|and|but|so|then|oh|ok|okay|hey|hi|hello|well|now|btw|by the way|yes|yeah|no"
        r"|actually|always|daybook|kindly|thanks|thank you|perhaps|maybe|by the way|one more thing|important|fyi|first"
        r"|finally|@\w+",
        confirms="please|pls|ok|okay|will you|would you|could you|can you|right|yes",
        instead="but|instead|rather",
        reported="said|says|tell|told|asked|wrote|writes|replied",
        joints="and|but|so|then|also",
    ),
    common=CommonWords(
        grammar="""
    a about am an and any are at be been but by can did do does for from had has have he her his how i if in is it its
    me my of on or our she so that the their them there they this to was we were what when where which who why will with
    you your
""",
        small_talk="""
    again all already also always another answer anything ask back because before best better bit call check come
    could day days does doing done each else even ever every everything find fine first found get getting give go goes
    going good got great happen happened hello help here hey hi hope idea into just keep know last later least let
    like list little long look looking made make many maybe mean might mine more morning most much must need never new
    next nice night no nothing now off ok okay old once one only other out over people per please possible quick quite
    ready really remember remind right said same say see send set should show since some something soon still sure
    take talk tell than thank thanks then these thing things think this those time today tomorrow tonight too try two
    under until up use used very via want wants way week weeks well went were while would write wrong year years yes
    yesterday yet absolutely actually afternoon agree agreed ah aha amazing anyway anyways awesome away awful bad
    bored boring brb btw busy bye care catch cheers congrats congratulations cool course crazy crying damn dear
    definitely didn doesn don dude easy enough evening evenings exactly excited exhausted fair feel feeling feels
    forget forgot forever fun funny gonna goodbye gosh gotcha guess guys haha hahaha hang hard hear heard hell
    hilarious hmm honestly hungry hurry hurts indeed interesting isn joke joking kid kidding lately laugh laughing
    leave lmao lol lot lots love loved lovely luck lucky mad matter mind minute moment mood nah nap neat nervous
    nevertheless nope obviously oh omg oops ouch perfect perfectly pity pleasure point pretty problem proud rather
    real rest rofl sad scary second seconds seriously shit sick silly simply sleep sleepy slept smart sorry sound
    sounds speak stay stop strange stuff stupid super surprise surprised surprising sweet terrible thx till tired true
    truly trust typo ugh uh understand understood unfortunately upset wait waiting wake wanna wasn weather weekend
    weird welcome whatever whoa wish won wonder wonderful words worries worry wow wtf ya yay yeah yep yo yup
""",
    ),
    dates=DateWords(
        months=(
            "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, "
            "september sept sep, october oct, november nov, december dec"
        ),
        weekdays="monday mon, tuesday tue, wednesday wed, thursday thu, friday fri, saturday sat, sunday sun",
        numbers="a an one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve",
        day="day days",
        week="week weeks",
        month="month months",
        year="year years",
        seasons="spring springtime, summer summertime, autumn fall, winter wintertime",
        parts="early|beginning of|start of, mid|middle of, late|end of",
        ordinals="first 1st, second 2nd, third 3rd, fourth 4th, fifth 5th",
        last="last",
        weekend="weekend",
        week_name="week",
        past=PastPatterns(
            days=(
                r"\btoday\b|\btonight\b|\bthis morning\b",
                r"(?<!before )\byesterday\b|\blast night\b",
                "day before yesterday",
            ),
            weekends=(r"\bthis weekend\b", r"\b(?:last|past) weekend\b"),
            weeks=(r"\bthis week\b", r"\b(?:last|past|previous) week\b", r"\bweek before last\b"),
            months=(r"\bthis month\b", r"\b(?:last|past) month\b", r"\bmonth before last\b"),
            years=(r"\bthis year\b", r"\b(?:last|past) year\b", r"\byear before last\b"),
            ago=r"{whole}\b({n}) ({u}) ago\b",
            short_ago=(
                (r"\b(?:a )?fortnight ago\b", 2, 7),
                ("half a year ago", 6, 30),
            ),
        ),
        relations=RelationWords(
            before="before",
            after="after",
            since="since",
            until="until till",
            between="between",
            from_="from",
            and_="and",
            to="to until till through",
            of="of",
            fillers="the on in of my our this last past at",
            shortly="shortly right just soon",
            nights="night evening eve",
            weekends="weekend",
        ),
        feasts={
            "new_years_day": "new year s day, new years day",
            "new_year": "new year",
            "epiphany": "epiphany",
            "valentine": "valentine s day, valentines day",
            "st_patrick": "st patrick s day, st patricks day, saint patrick s day",
            "april_fools": "april fools day, april fool s day",
            "golden_week": "golden week",
            "independence_day": "independence day",
            "bastille_day": "bastille day",
            "halloween": "halloween",
            "all_saints": "all saints day, all saints",
            "day_of_the_dead": "day of the dead",
            "st_martin": "st martin s day",
            "st_nicholas": "st nicholas day",
            "christmas_eve": "christmas eve",
            "christmas_day": "christmas day",
            "boxing_day": "boxing day",
            "christmas": "christmas, xmas",
            "new_years_eve": "new year s eve, new years eve",
            "mothers_day": "mother s day, mothers day",
            "memorial_day": "memorial day",
            "fathers_day": "father s day, fathers day",
            "us_labor_day": "labor day",
            "thanksgiving": "thanksgiving, thanksgiving day",
            "black_friday": "black friday",
            "shrove_tuesday": "shrove tuesday, mardi gras",
            "ash_wednesday": "ash wednesday",
            "palm_sunday": "palm sunday",
            "holy_week": "holy week",
            "good_friday": "good friday",
            "easter": "easter",
            "easter_sunday": "easter sunday",
            "easter_monday": "easter monday",
            "ascension": "ascension day",
            "pentecost": "pentecost, whitsun",
            "whit_monday": "whit monday",
            "chinese_new_year": "chinese new year, lunar new year, spring festival",
            "lantern_festival": "lantern festival",
            "dragon_boat_festival": "dragon boat festival",
            "mid_autumn": "mid autumn festival, moon festival",
            "ramadan": "ramadan, ramazan, ramadhan",
            "eid_al_fitr": "eid al fitr, eid ul fitr",
            "eid_al_adha": "eid al adha, eid ul adha",
        },
    ),
)
