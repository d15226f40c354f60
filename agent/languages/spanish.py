"""Spanish: what Daybook says in it, and the words that it understands."""

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

SPANISH = LanguageTable(
    language=Language.SPANISH,
    reminders=ReminderStrings(
        late="Perdona el retraso: esto tocaba {due}.",
        missed="No pude recordarte esto a tiempo:",
        more="y {number} más (mira `/jobs`)",
        done="Hecho",
        in_10_minutes="En 10 minutos",
        in_an_hour="En una hora",
        tomorrow="Mañana",
        is_done="Hecho.",
        again="Te lo recuerdo otra vez {when}.",
        set="Te lo recordaré {when}.",
        set_again="Te lo recordaré cada vez, la próxima {when}.",
        asks_hour="¿A qué hora?",
        what="¿Qué quieres que te recuerde?",
        unclear=(
            "No entiendo cuándo es eso. Dime el día, la hora y qué, por ejemplo «mañana a las 15:00 llamar a Ana» "
            "o «todos los lunes a las 8 sacar la basura»."
        ),
        past="Ya ha pasado: {when}.",
        cancel="Cancelar",
        cancelled="Cancelado: {task}",
        nothing_due="No hay recordatorios para eso.",
        none_about="No tengo ningún recordatorio sobre «{task}».",
        which="¿Cuál?",
        timer="Se acabó el tiempo",
        wake="Hora de levantarse",
    ),
    chat=ChatStrings(
        nothing_said="Sin novedades aquí {day}: ningún mensaje y nada pendiente.",
        undelivered="No pude entregar aquí uno de mis mensajes ({why}). Pregúntame otra vez, o búscalo en `/export`.",
        working="⏳ Estoy trabajando en: {task}",
        login="Para usar **{name}** tienes que iniciar sesión: [{host}]({link})\n\nEl enlace vale una sola vez, "
        "durante una hora. Si el navegador acaba en una página que no puede abrir, porque funciono en otro "
        "ordenador, copia la dirección de esa página y pégala en mi página, en *Estado*, o en `daybook mcp "
        "login {name}` en la terminal.",
        logged_in="Has iniciado sesión en **{name}** ({host}); herramientas: {count}. Pídemelo otra vez.",
        login_failed="No se pudo iniciar sesión en **{name}**: {why}.",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="enviar esto a {target}",
            write="escribir esto en {target}",
            write_common="cambiar {target}, que se lee en todos los chats, también en los de otros",
            write_skill="escribir la habilidad {target}, que valdrá en todos los chats, también en los de otros",
            add_job="añadir esta tarea para {target}",
            remove_job="quitar esta tarea para {target}",
            fetch="abrir {target}",
            search="buscar {target} en la web",
            draw="encargar una imagen a {target}",
            run="ejecutar {target}",
            use_tool="usar la herramienta {target}",
            use_new_tool="usar la herramienta {target} por primera vez; abajo está lo que dice de sí misma",
            use_changed_tool="usar la herramienta {target}, cuya descripción ha cambiado desde su primer uso",
        ),
        question="**¿Puedo {what}?**",
        because="Te pregunto porque he leído texto que no es tuyo: {source}.",
        because_line="Te pregunto porque he leído texto que no es tuyo: {source}, «{line}».",
        private="Contiene una línea de tu memoria privada: «{line}».",
        asked_in="La petición vino de {chat}.",
        good_for="Sin tu sí no hago nada. Vale solo para esto, y tienes 24 horas.",
        yes="Sí",
        no="No",
        done="Aprobado y hecho: {what}.",
        refused="No lo he hecho: {what}.",
        changed="No he hecho nada, porque algo ha cambiado desde que pregunté: {what}.",
        failed="No ha funcionado ({why}): {what}.",
        none_open="No hay nada que espere tu sí.",
        listed="Esto espera tu sí:",
        left_out="[aquí faltan {number} caracteres; el texto entero está en el archivo de abajo]",
        once="Una vez",
        always="Siempre",
        lasting="«Siempre» significa: desde ahora ejecuto sin preguntar lo que empiece por "
        "`{words}`, mientras sus archivos sigan igual.",
        with_network="Quiere usar la red.",
        no_sandbox="En este ordenador no hay aislamiento: puede leer y cambiar todo lo que puedo yo.",
        as_root="Funciono como root, y ahí no hay aislamiento que valga: puede leer y cambiar todo en este ordenador.",
        for_conversation="No lo haré si no dices que sí en 24 horas. Tu sí vale para todo lo que envíe allí en esta "
        "conversación; por las líneas de tu memoria privada volveré a preguntar.",
        for_tool="No lo haré si no dices que sí en 24 horas. Tu sí vale para esta herramienta mientras se describa "
        "así; por las líneas de tu memoria privada volveré a preguntar.",
        started="Aprobado: {what}. Vuelvo con el resultado.",
        allowed="Esto lo ejecuto sin preguntar:",
        ask_again="Volver a preguntar: {words}",
        asks_again="Desde ahora vuelvo a preguntar antes de ejecutar `{words}`.",
    ),
    programs=ProgramStrings(
        ended="`{command}` ha terminado.",
        failed="`{command}` ha terminado con un error (código {code}).",
        late="`{command}` tardaba demasiado y lo he parado.",
        stopped="`{command}` se ha parado.",
        limited="`{command}` usaba demasiada memoria, disco o procesos y lo he parado.",
        refused="No se ha podido iniciar `{command}` ({why}).",
        lost="`{command}` terminó cuando me reiniciaron. Puede estar a medias, y no lo he repetido.",
    ),
    journal=JournalStrings(
        assistant="Asistente",
        left_out="(un extracto; mensajes que no se muestran: {number})",
        gap="(Un hueco: no se puede leer {number} línea de esta conversación.)",
        gaps="(Un hueco: no se pueden leer {number} líneas de esta conversación.)",
        from_here="(Desde aquí, un extracto: el diario lee como mucho {number} tokens de una conversación al día.)",
    ),
    offline=OfflineStrings(
        greeting="¡Hola!",
        offline=(
            "Soy el asistente sin conexión de Daybook: guardo tus notas y las encuentro, pero no hay ningún modelo de "
            "lenguaje conectado. Conecta uno en la página, en Ajustes (`daybook web` la abre), con `daybook init`, o "
            "escribe `ANTHROPIC_API_KEY=…` en `{env}` y vuelve a iniciarme."
        ),
        abilities=(
            "Cuéntame algo y lo anoto; pregúntame y busco en tus notas. «Recuérdame mañana a las 3 llamar a "
            "mamá» pone un recordatorio, «¿Qué tengo que hacer mañana?» los muestra, «¿Qué anoté hoy?» muestra "
            "el diario de hoy."
        ),
        needs_model="Eso no lo puedo hacer sin un modelo de lenguaje. Conecta uno en la página, en Ajustes.",
        welcome="De nada.",
        noted="Anotado en {path}:",
        found="Esto es lo que he encontrado en tus notas:",
        nothing="No he encontrado nada sobre «{query}» en tus notas.",
        today="El registro de hoy, {path}:",
        today_empty="El registro de hoy todavía está vacío.",
        failed="No ha funcionado: {why}",
        no_tool="No puedo hacer eso en este chat.",
        empty="Solo puedo leer texto, y este mensaje no tiene.",
        unseen="He guardado lo que venía con tu mensaje, pero sin un modelo de lenguaje no puedo verlo.",
        command="Envía solo `{command}` y listo.",
    ),
    moments=MomentStrings(
        today="hoy",
        tomorrow="mañana",
        yesterday="ayer",
        dated="el {weekday} {day} de {month}",
        with_year="el {weekday} {day} de {month} de {year}",
        at="{day} a las {time}",
        weekdays="lunes martes miércoles jueves viernes sábado domingo",
        months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    ),
    yes="sí|si|claro",
    no="no|cancela",
    intents=IntentWords(
        greeting="hola|buenos días|buenas|buenas tardes|buenas noches",
        thanks="gracias|muchas gracias|vale",
        help="ayuda|quién eres|qué eres|qué puedes hacer|qué haces",
        remember="recuerda|recuerda que|anota|apunta|no olvides|ten en cuenta|guarda esto",
        today="hoy|de hoy",
        log="registro|diario|notas|anoté|anotado|pasó|pasado|escribí|dije|apunté",
        asking="qué|quién|quiénes|cuándo|dónde|cuál|cuáles|cómo|cuánto|por qué|busca|encuentra|muestra|muéstrame|sabes",
        filler="por favor|he|ha|se|sobre|sabes",
        telltale="el|los|las|es|un|una|mi|y|que|me|tengo|gusta|llama|del|está|mañana",
    ),
    commands=CommandPatterns(
        remind=r"recu[eé]rd[ae](?:me|nos)(?! (?:qu[eé]|qui[eé]n|d[oó]nde|c[oó]mo|cu[aá]l) )",
        forget=r"olv[ií]da(?:te de |te | |(?=lo\Z))(?!que\b)(?:lo de |todo sobre )?",
        undo="des(?:hazlo|haz eso|haz esto|hacer)",
        that="eso|esto|lo",
        please="por favor",
    ),
    remember=RememberPatterns(
        asks=r"(?:recuerd[ae]|recordad)(?:lo|la|los|las)?(?!\s+(?:cuando|cuándo|cómo|qué|quién)\b)(?=[\s:,.!]|$)|recuérd(?:alo|ala|elo)"
        r"|acu[eé]rda(?:te|se)\b|acuérdese\b|(?:anota|anote|apunta|apunte|memoriza|memorice|registra|registre)(?:lo|la|los|las|me)?\b"
        r"|(?:anóta|apúnta|memoríza|guárda|regístra)(?:lo|la|los|las|melo|telo)\b"
        r"|toma(?:d)?\s+nota|tome\s+nota|(?:ten|tenga)(?:lo)?\s+(?:\S+\s+){0,2}?(?:en\s+cuenta|presente|en\s+mente)|tenlo\s+en\s+cuenta"
        r"|guarda\s+(?:\S+\s+){0,8}?(?:en\s+(?:tu|la)\s+memoria|esto|eso)\b|(?:escríbe|escribe)(?:lo)?\s+(?:\S+\s+){0,6}?en\s+tus\s+notas"
        r"|no\s+(?:te\s+|se\s+)?(?:lo\s+)?olvid(?:es|e)\b|(?:que\s+)?no\s+se\s+te\s+olvide\b",
        requests=r"(?:puedes|podrías|puede|podría|quieres)\s+(?:por\s+favor\s+)?(?:recordar(?:\s+que\b|\s+esto|\s+eso|lo\b)"
        r"|anotar|apuntar|memorizar|guardar|acordarte\s+de|tomar\s+nota|tener\s+en\s+cuenta)"
        r"|(?:quiero|necesito|me\s+gustaría)\s+que\s+(?:recuerdes|anotes|apuntes|memorices|te\s+acuerdes)"
        r"|(?:debes|tienes\s+que)\s+(?:recordar|anotar|apuntar|acordarte)",
        refuses=r"\bno\s+(?:(?:me|te|lo|la|los|las|se|hace\s+falta\s+que|quiero\s+que|necesitas?|tienes\s+que|es\s+necesario)\s+)*"
        r"(?:recuerdes?|recordar(?:lo)?|anotes?|anotar(?:lo)?|apuntes?|apuntar(?:lo)?|guardes?|guardar(?:lo)?|memorices?|registres?)\b"
        r"|\b(?:olvida|olvídalo|olvídate)\b(?:\s+(?:eso|esto|lo|de)\b)?",
        before=r"por\s+favor|y|pero|bueno|vale|ok|hola|oye|sí|no|también|entonces|gracias|daybook|importante|por\s+cierto|¡|¿|@\w+",
        confirms="vale|por favor|sí",
        instead="sino|pero",
        reported="dijo|dice|escribió",
        joints="y|pero",
    ),
    common=CommonWords(
        grammar="""
    al como con cual cuando de del donde el en es esta la las lo los mi mis para por que quien se son su sus un una y yo
""",
        small_talk="""
    ahora algo ayer bien buenos días esto estoy favor gracias hacer hay hola hoy mañana más muy nada necesito puede
    puedes quiero recuerda saber ser sí también tengo tiene todo vez aburrido acuerdo adiós ahí así aún bueno buena
    buenas cansado cansada casi chao chévere claro contento creo cuenta cuídate cómo da dale de decir dices dicho
    digas divertido encanta entiendo entonces eres eso espera está estaba estás este estupendo exacto falta fin genial
    gracioso graciosa gran gusta guay hambre hasta hecho horas igual importa increíble jaja jajaja jajajaja juntos
    lindo listo luego mejor mientras minuto mismo momento mucho mucha muchas muchos noche noches nos nunca ojalá
    olvida olvídalo pasa pasado pena pensar perdón perfecto pero poco pronto pues qué raro razón rato rico risa
    seguimos seguro semana siento siempre solo sueño suerte supuesto tal tarde tardes te tiempo tonto triste tu va
    vale vamos ves vida voy vuelvo
""",
    ),
    dates=DateWords(
        months=("enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre"),
        weekdays="lunes, martes, miercoles, jueves, viernes, sabado, domingo",
        numbers="un una, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce",
        day="dia dias",
        week="semana semanas",
        month="mes meses",
        year="ano anos",
        seasons="primavera, verano, otono, invierno",
        parts="principios de|comienzos de|inicios de, mediados de, finales de|fines de",
        ordinals="primer primera, segundo segunda, tercer tercera, cuarto cuarta, quinto quinta",
        last="ultimo ultima",
        weekend="fin de semana",
        week_name="semana",
        past=PastPatterns(
            days=(r"\bhoy\b", r"(?<!antes de )\bayer\b|\banoche\b", r"\banteayer\b|\bantes de ayer\b"),
            weekends=("este fin de semana", "fin de semana pasado"),
            weeks=("esta semana", "semana pasada", ""),
            months=("este mes", "mes pasado", ""),
            years=("este ano", r"\bano pasado", ""),
            ago=r"\bhace ({n}) ({u})\b",
            short_ago=(
                ("hace quince dias", 2, 7),
                ("hace ocho dias", 1, 7),
            ),
        ),
        relations=RelationWords(
            before="antes",
            after="despues tras",
            since="desde",
            until="hasta",
            between="entre",
            from_="de del desde",
            and_="y e",
            to="hasta",
            to_after_from="a al",
            of="de del",
            fillers="el la los las de del al en",
            shortly="poco justo",
            nights="noche vispera",
        ),
        feasts={
            "new_years_day": "ano nuevo, dia de ano nuevo",
            "epiphany": "dia de reyes, los reyes magos, epifania",
            "valentine": "san valentin",
            "labour_day": "dia del trabajo",
            "halloween": "halloween",
            "all_saints": "todos los santos",
            "day_of_the_dead": "dia de muertos, dia de los muertos",
            "christmas_eve": "nochebuena",
            "christmas_day": "dia de navidad",
            "christmas": "navidad, navidades",
            "new_years_eve": "nochevieja",
            "mothers_day": "dia de la madre",
            "thanksgiving": "dia de accion de gracias, accion de gracias",
            "carnival": "carnaval",
            "shrove_tuesday": "martes de carnaval",
            "ash_wednesday": "miercoles de ceniza",
            "palm_sunday": "domingo de ramos",
            "holy_week": "semana santa",
            "good_friday": "viernes santo",
            "easter": "pascua",
            "easter_sunday": "domingo de resurreccion, domingo de pascua",
            "easter_monday": "lunes de pascua",
            "pentecost": "pentecostes",
            "chinese_new_year": "ano nuevo chino",
            "eid_al_adha": "fiesta del cordero",
            "ramadan": "ramadan",
        },
    ),
)
