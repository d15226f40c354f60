"""German: what Daybook says in it, and the words that it understands."""

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

GERMAN = LanguageTable(
    language=Language.GERMAN,
    reminders=ReminderStrings(
        late="Entschuldige die Verspätung: Das war {due} fällig.",
        missed="Daran konnte ich dich nicht rechtzeitig erinnern:",
        more="und {number} weitere (siehe `/jobs`)",
        done="Erledigt",
        in_10_minutes="In 10 Minuten",
        in_an_hour="In einer Stunde",
        tomorrow="Morgen",
        is_done="Erledigt.",
        again="Ich erinnere dich {when} noch einmal.",
        set="Ich erinnere dich {when}.",
        set_again="Ich erinnere dich regelmäßig, das nächste Mal {when}.",
        asks_hour="Um wie viel Uhr?",
        what="Woran soll ich dich erinnern?",
        unclear=(
            "Ich verstehe nicht, wann das ist. Sag mir Tag und Uhrzeit und woran, zum Beispiel „morgen um 15 Uhr "
            "Anna anrufen“ oder „jeden Werktag um 8 Vitamine“."
        ),
        past="{when} ist schon vorbei.",
        cancel="Abbrechen",
        cancelled="Abgesagt: {task}",
        nothing_due="Dafür sind keine Erinnerungen gestellt.",
        none_about="Ich habe keine Erinnerung an „{task}“.",
        which="Welche meinst du?",
        timer="Die Zeit ist um",
        wake="Zeit zum Aufstehen",
    ),
    chat=ChatStrings(
        nothing_said="Hier war es {day} ruhig: keine Nachrichten, und nichts ist fällig.",
        undelivered="Eine Nachricht von mir kam hier nicht an ({why}). Frag noch mal, oder schau in `/export` nach.",
        working="⏳ Ich arbeite an: {task}",
        login="Für **{name}** musst du dich anmelden: [{host}]({link})\n\nDer Link gilt einmal und eine Stunde "
        "lang. Landet dein Browser auf einer Seite, die er nicht öffnen kann, weil ich auf einem anderen "
        "Rechner laufe: Kopiere die Adresse dieser Seite und füge sie auf meiner Seite unter *Status* ein, "
        "oder bei `daybook mcp login {name}` im Terminal.",
        logged_in="Du bist bei **{name}** angemeldet ({host}); Werkzeuge: {count}. Frag mich jetzt noch mal.",
        login_failed="Die Anmeldung bei **{name}** hat nicht geklappt: {why}.",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="das an {target} schicken",
            write="das in {target} schreiben",
            write_common="{target} ändern (wird in jedem Chat gelesen, auch bei anderen)",
            write_skill="den Skill {target} schreiben (gilt dann in jedem Chat, auch bei anderen)",
            add_job="diesen Auftrag für {target} anlegen",
            remove_job="diesen Auftrag für {target} löschen",
            fetch="{target} öffnen",
            search="im Web nach {target} suchen",
            draw="bei {target} ein Bild machen lassen",
            run="{target} ausführen",
            use_tool="das Werkzeug {target} benutzen",
            use_new_tool="das Werkzeug {target} zum ersten Mal benutzen; unten steht, was es über sich sagt",
            use_changed_tool="das Werkzeug {target} benutzen, das anders beschrieben ist als bei der ersten Benutzung",
        ),
        question="**Darf ich {what}?**",
        because="Ich frage, weil ich Text gelesen habe, der nicht von dir ist: {source}.",
        because_line="Ich frage, weil ich Text gelesen habe, der nicht von dir ist: {source}, „{line}“.",
        private="Darin steht eine Zeile aus deinem privaten Gedächtnis: „{line}“.",
        asked_in="Die Bitte kam aus {chat}.",
        good_for="Ohne dein Ja mache ich nichts. Es gilt nur hierfür, und du hast 24 Stunden Zeit.",
        yes="Ja",
        no="Nein",
        done="Erlaubt und erledigt: {what}.",
        refused="Nicht gemacht: {what}.",
        changed="Ich habe nichts gemacht, weil sich seit meiner Frage etwas geändert hat: {what}.",
        failed="Das hat nicht geklappt ({why}): {what}.",
        none_open="Gerade wartet nichts auf dein Ja.",
        listed="Das wartet auf dein Ja:",
        left_out="[{number} Zeichen sind hier ausgelassen; der ganze Text steht in der Datei unten]",
        once="Einmal",
        always="Immer",
        lasting="„Immer“ heißt: Was mit `{words}` beginnt, führe ich ab jetzt ohne Frage aus, "
        "solange die Dateien darin so bleiben.",
        with_network="Es will ins Netz.",
        no_sandbox="Auf diesem Rechner gibt es keine Sandbox: Es kann alles lesen und ändern, was ich kann.",
        as_root="Ich laufe als root, da hält keine Sandbox: Es kann auf diesem Rechner alles lesen und ändern.",
        for_conversation="Ohne dein Ja innerhalb von 24 Stunden tue ich es nicht. Dein Ja gilt für alles, "
        "was ich in diesem Gespräch dorthin schicke; bei Zeilen aus deinem privaten "
        "Gedächtnis frage ich wieder.",
        for_tool="Ohne dein Ja innerhalb von 24 Stunden tue ich es nicht. Dein Ja gilt für dieses Werkzeug, solange "
        "es sich so beschreibt; bei Zeilen aus deinem privaten Gedächtnis frage ich wieder.",
        started="Erlaubt: {what}. Ich melde mich mit dem Ergebnis.",
        allowed="Das führe ich ohne Frage aus:",
        ask_again="Wieder fragen: {words}",
        asks_again="Ab jetzt frage ich wieder, bevor ich `{words}` ausführe.",
    ),
    programs=ProgramStrings(
        ended="`{command}` ist fertig.",
        failed="`{command}` ist mit einem Fehler zu Ende gegangen (Exit-Code {code}).",
        late="`{command}` hat zu lange gedauert, ich habe es beendet.",
        stopped="`{command}` wurde angehalten.",
        limited="`{command}` hat zu viel Speicher, Platz oder Prozesse gebraucht, ich habe es beendet.",
        refused="`{command}` ließ sich nicht starten ({why}).",
        lost="`{command}` endete, als ich neu gestartet wurde. Es ist vielleicht nur halb fertig, "
        "und ich habe es nicht noch einmal ausgeführt.",
    ),
    journal=JournalStrings(
        assistant="Assistent",
        left_out="(ein Auszug; nicht gezeigte Nachrichten: {number})",
        gap="(Eine Lücke: {number} Zeile dieses Gesprächs ist nicht lesbar.)",
        gaps="(Eine Lücke: {number} Zeilen dieses Gesprächs sind nicht lesbar.)",
        from_here="(Ab hier ein Auszug: Das Tagebuch liest höchstens {number} Token eines Gesprächs am Tag.)",
    ),
    offline=OfflineStrings(
        greeting="Hallo!",
        offline=(
            "Ich bin Daybooks Offline-Assistent: Ich bewahre deine Notizen auf und finde sie wieder, aber es ist kein "
            "Sprachmodell verbunden. Verbinden kannst du eins auf der Seite unter Einstellungen (`daybook web` öffnet "
            "sie), mit `daybook init`, oder du schreibst `ANTHROPIC_API_KEY=…` in `{env}` und startest mich neu."
        ),
        abilities=(
            "Erzähl mir etwas, und ich notiere es; frag mich, und ich sehe in deinen Notizen nach. „Erinnere "
            "mich morgen um 15 Uhr an den Zahnarzt“ stellt eine Erinnerung, „Was steht morgen an?“ zeigt sie, "
            "„Was habe ich heute notiert?“ zeigt das heutige Protokoll."
        ),
        needs_model="Das kann ich ohne Sprachmodell nicht. Verbinde eines auf der Seite unter Einstellungen.",
        welcome="Gern geschehen.",
        noted="Notiert in {path}:",
        found="Das habe ich in deinen Notizen gefunden:",
        nothing="Zu „{query}“ habe ich in deinen Notizen nichts gefunden.",
        today="Das heutige Protokoll, {path}:",
        today_empty="Das heutige Protokoll ist noch leer.",
        failed="Das hat nicht geklappt: {why}",
        no_tool="Das kann ich in diesem Chat nicht.",
        empty="Ich kann nur Text lesen, und in dieser Nachricht ist keiner.",
        unseen="Was bei deiner Nachricht dabei war, habe ich aufgehoben; ansehen kann ich es ohne Sprachmodell nicht.",
        command="Schick nur `{command}`, dann ist es erledigt.",
    ),
    moments=MomentStrings(
        today="heute",
        tomorrow="morgen",
        yesterday="gestern",
        dated="am {weekday} ({day}. {month})",
        with_year="am {weekday} ({day}. {month} {year})",
        at="{day} um {time}",
        weekdays="Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        months="Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    ),
    yes="ja|jawohl|ja bitte",
    no="nein|abbrechen",
    intents=IntentWords(
        greeting="hallo|moin|servus|guten morgen|guten tag|guten abend|grüß gott",
        thanks="danke|danke schön|danke sehr|vielen dank",
        help="hilfe|wer bist du|was bist du|was kannst du|was machst du",
        remember="merk dir|merke dir|bitte merk dir|bitte merke dir|notier|notiere|bitte notiere|vergiss nicht"
        "|denk daran|schreib auf|schreib dir auf|behalte|kannst du dir merken|könntest du dir merken",
        today="heute|heutige|heutigen|heutiges",
        log="protokoll|tagebuch|notizen|notiert|eingetragen|passiert|geschrieben|erzählt|gesagt|los",
        asking="wer|was|wann|wo|woher|wohin|wem|wen|welche|welcher|welches|welchen|warum|wieso|wie|such|suche|finde|zeig"
        "|zeige|zeig mir|weißt du",
        filler="bitte|mal|habe|hast|ich|du|ist|über|bisher",
        telltale="nicht|und|der|die|das|ein|eine|einen|mein|meine|dir|mir|hat|mag|heißt|morgen|ist|ich|von|zum|um",
    ),
    commands=CommandPatterns(
        remind=r"(?:erinnere? (?:mich|uns)|lass mich nicht vergessen)(?: bitte)?"
        r"(?! (?:was|wer|wem|wen|wo|warum|wie|welche[rsmn]?)\b)",
        forget=r"vergiss (?!nicht\b|nie\b)(?:bitte )?(?:alles (?:über|zu) |das mit )?",
        undo=r"(?:mach|mache) (?:das|es) (?:bitte )?(?:wieder )?rückgängig|rückgängig(?: machen)?"
        r"|nimm (?:das|es) (?:bitte )?zurück",
        that="das|es|dies",
        please="bitte",
    ),
    remember=RememberPatterns(
        asks=r"(?:merke?n?|merkt)(?:['’]s)?\s+(?:dir|euch|sie\s+sich)\b(?!\s+(?:(?:das|es|dies|bitte|jetzt|alles|hier|davon)\s+)*"
        r"(?:nicht|nichts|nie)\b)"
        r"|(?:notiere?n?|speichere?n?|protokolliere?)(?!\s+(?:(?:das|es|dies|dir|bitte|sie|jetzt|alles|davon)\s+)*(?:nicht|nichts)\b)\b"
        r"|(?:schreibe?n?|halte?n?)\s+(?!(?:\S+\s+){0,4}?(?:nicht|nichts)\b)(?:\S+\s+){0,10}?(?:auf|fest)\b"
        r"|behalte?n?\s+(?!(?:\S+\s+){0,3}?nicht\b)(?:\S+\s+){0,6}?(?:im\s+kopf|in\s+erinnerung|im\s+gedächtnis|im\s+hinterkopf)"
        r"|denke?n?\s+(?:sie\s+)?(?:bitte\s+|immer\s+)*(?:daran|dran)\b"
        r"|vergiss(?:t)?\s+(?:\S+\s+){0,5}?(?:nicht|nie)\b|vergessen\s+sie\s+(?:\S+\s+){0,5}?(?:nicht|nie)\b|nicht\s+vergessen\b",
        requests=r"(?:kannst|könntest|würdest|magst|willst|sollst|solltest|musst)\s+du\s+(?:dir\s+)?(?:\S+\s+){0,12}?"
        r"(?:merken|notieren|aufschreiben|speichern|festhalten)\b|du\s+(?:sollst|solltest|musst)\s+dir\s+(?:\S+\s+){0,12}?merken\b"
        r"|(?:können|könnten|würden)\s+sie\s+sich\s+(?:\S+\s+){0,12}?merken\b|merkst\s+du\s+dir\b"
        r"|ich\s+(?:möchte|will|hätte\s+gern)\W+dass\s+du\s+dir\s+(?:\S+\s+){0,12}?merkst\b",
        refuses=r"\b(?:merke?n?|notiere?n?|schreibe?n?|speichere?n?|behalte?n?|merken|aufschreiben)\b"
        r"(?:\s+(?:dir|euch|sich|sie|das|es|dies|bitte|jetzt|alles|hier|davon|mir))*\s+(?:nicht|nichts|nie)\b"
        r"|\b(?:nicht|nichts|nie)\s+(?:\S+\s+){0,2}?(?:merken|notieren|aufschreiben|speichern|festhalten)\b"
        r"|\bvergiss\s+(?:das|es|was)\b(?!.{0,200}\b(?:nicht|nie)\b)",
        before=r"bitte|und|aber|also|ach|ok|okay|hallo|hey|ja|nein|mal|daybook|wichtig|übrigens|danke|dann|jetzt|noch\s+was|@\w+",
        confirms="ja|bitte|gut|klar",
        instead="aber|sondern",
        reported="sagte|sagt|schrieb|meinte",
        joints="und|aber",
    ),
    common=CommonWords(
        grammar="""
    aber als am auch auf aus bei bin bist da das dass dem den der des die du ein eine einen einer er es für habe hat ich
    ihr im in ist mein meine meinen mir mit nach nicht noch oder sie sind und uns von vor wann war was wer wie wir wo zu
""",
        small_talk="""
    alles bitte danke dann doch etwas gerade gern gibt gut habe hallo heute hier immer ja jetzt kann kannst keine mach
    machen mal mehr morgen muss nein nochmal nur sag sagen schon schreib sehr sein sollte sonst viel vielleicht waren
    wäre weil weiter weißt wenn werden wieder will wird wissen wollen würde zeit abend ach achso ahnung bald bescheid
    bis blöd dachte dir egal eigentlich einfach endlich ernst fertig feierabend finde frage freue freut ganz geht
    gehen genau gefällt geschlafen gestern gleich glaube glück grüße gute guten guter gutes halt hast hoffe hunger hm
    hör ihm ihn kein klar klasse klingt komisch komm kommt krass kurz langweilig lass lieb liebe los lust lustig macht
    meinst melde mensch moin müde na nacht natürlich nee nett nichts passt prima quatsch recht richtig ruhe ruhig
    sache sachen schade schlafen schlimm schlecht schön schöne schönen schönes schöner servus sicher sieht so spaß
    spät später stimmt tag tage tja toll traurig tschüss tschau verdammt vergiss verstanden verstehe wahr warte warten
    weiß wetter wirklich witzig woche wochenende wohl wunderbar zurück zusammen
""",
    ),
    dates=DateWords(
        months=(
            "januar jan janner, februar feb, marz maerz, april apr, mai, juni jun, juli jul, august "
            "aug, september sept sep, oktober okt, november nov, dezember dez"
        ),
        weekdays="montag, dienstag, mittwoch, donnerstag, freitag, samstag sonnabend, sonntag",
        numbers="ein eine einem einer, zwei, drei, vier, funf, sechs, sieben, acht, neun, zehn, elf, zwolf",
        day="tag tage tagen",
        week="woche wochen",
        month="monat monate monaten",
        year="jahr jahre jahren",
        seasons="fruhling fruhjahr, sommer, herbst, winter",
        parts="anfang|beginn, mitte, ende",
        ordinals=(
            "erste ersten erstes erster, zweite zweiten zweites zweiter, dritte dritten drittes "
            "dritter, vierte vierten viertes vierter, funfte funften funftes"
        ),
        last="letzte letzten letztes letzter",
        weekend="wochenende",
        week_name="woche",
        past=PastPatterns(
            days=(r"\bheute\b", r"\bgestern\b", r"\bvorgestern\b"),
            weekends=("diese[sn]? wochenende", r"\bletzte[sn]? wochenende"),
            weeks=("diese[rn]? woche", r"\bletzte[rn]? woche", r"\bvorletzte[rn]? woche"),
            months=("diese[nrm]? monat", r"\bletzte[nr]? monat", "vorletzte[nr]? monat"),
            years=("diese[sm]? jahr", r"\bletzte[ns]? jahr", "vorletzte[ns]? jahr"),
            ago=r"\bvor ({n}) ({u})\b",
            short_ago=(
                (r"\bvor acht tagen\b", 1, 7),
                ("vor einem halben jahr", 6, 30),
            ),
        ),
        relations=RelationWords(
            before="vor",
            after="nach",
            since="seit ab",
            until="bis",
            between="zwischen",
            from_="von vom",
            and_="und",
            to="bis",
            of="vom von",
            fillers="in dem den der des die das am im zum letzten letztem letzter letztes vom",
            shortly="kurz gleich",
            nights="abend nacht",
            weekends="wochenende",
        ),
        feasts={
            "new_years_day": "neujahr, neujahrstag",
            "epiphany": "heilige drei konige, dreikonigstag",
            "valentine": "valentinstag",
            "labour_day": "tag der arbeit",
            "german_unity": "tag der deutschen einheit",
            "halloween": "halloween",
            "all_saints": "allerheiligen",
            "st_martin": "martinstag",
            "st_nicholas": "nikolaustag",
            "christmas_eve": "heiligabend, heiliger abend, heiligen abend",
            "christmas": "weihnachten, weihnachtsfest, weihnachtstage",
            "new_years_eve": "silvester, silvesterabend",
            "mothers_day": "muttertag",
            "carnival": "karneval, fasching, fastnacht",
            "shrove_tuesday": "faschingsdienstag",
            "shrove_monday": "rosenmontag",
            "ash_wednesday": "aschermittwoch",
            "palm_sunday": "palmsonntag",
            "holy_week": "karwoche",
            "good_friday": "karfreitag",
            "easter": "ostern, osterfest, ostertage, osterfeiertage",
            "easter_sunday": "ostersonntag",
            "easter_monday": "ostermontag",
            "ascension": "christi himmelfahrt, himmelfahrt, vatertag",
            "pentecost": "pfingsten",
            "whit_monday": "pfingstmontag",
            "chinese_new_year": "chinesisches neujahr, chinesische neujahr, chinesischen neujahr",
            "mid_autumn": "mondfest",
            "eid_al_fitr": "zuckerfest, ramadanfest",
            "eid_al_adha": "opferfest",
            "ramadan": "ramadan",
        },
    ),
)
