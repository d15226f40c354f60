"""French: what Daybook says in it, and the words that it understands."""

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

FRENCH = LanguageTable(
    language=Language.FRENCH,
    reminders=ReminderStrings(
        late="Désolé du retard : c'était prévu {due}.",
        missed="Je n'ai pas pu te rappeler ça à temps :",
        more="et {number} de plus (voir `/jobs`)",
        done="C'est fait",
        in_10_minutes="Dans 10 minutes",
        in_an_hour="Dans une heure",
        tomorrow="Demain",
        is_done="C'est fait.",
        again="Je te le rappellerai {when}.",
        set="Je te le rappellerai {when}.",
        set_again="Je te le rappellerai à chaque fois, la prochaine fois {when}.",
        asks_hour="À quelle heure ?",
        what="Qu'est-ce que je dois te rappeler ?",
        unclear=(
            "Je ne comprends pas quand c'est. Dis-moi le jour, l'heure et quoi, par exemple « demain à 15 h "
            "appeler Anne » ou « tous les lundis à 8 h les poubelles »."
        ),
        past="C'est déjà passé : {when}.",
        cancel="Annuler",
        cancelled="Annulé : {task}",
        nothing_due="Aucun rappel n'est prévu.",
        none_about="Je n'ai aucun rappel pour « {task} ».",
        which="Lequel ?",
        timer="Le temps est écoulé",
        wake="C'est l'heure de se lever",
    ),
    chat=ChatStrings(
        nothing_said="Rien à signaler ici {day} : aucun message, et rien à faire.",
        undelivered="Un de mes messages n'est pas arrivé ici ({why}). Repose ta question, ou cherche dans `/export`.",
        working="⏳ Je travaille sur : {task}",
        login="Pour utiliser **{name}**, connecte-toi : [{host}]({link})\n\nLe lien sert une seule fois, pendant "
        "une heure. Si ton navigateur arrive sur une page qu'il ne peut pas ouvrir, parce que je tourne "
        "sur un autre ordinateur, copie l'adresse de cette page et colle-la sur ma page, sous *État*, ou "
        "dans `daybook mcp login {name}` au terminal.",
        logged_in="Tu es connecté à **{name}** ({host}) ; outils : {count}. Redemande-moi ce que tu voulais.",
        login_failed="La connexion à **{name}** n'a pas marché : {why}.",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="envoyer ceci à {target}",
            write="écrire ceci dans {target}",
            write_common="modifier {target}, qui est lu dans toutes les discussions, même celles des autres",
            write_skill="écrire la compétence {target}, qui servira partout, même dans les discussions des autres",
            add_job="ajouter cette tâche pour {target}",
            remove_job="supprimer cette tâche pour {target}",
            fetch="ouvrir {target}",
            search="chercher {target} sur le web",
            draw="faire faire une image par {target}",
            run="exécuter {target}",
            use_tool="utiliser l’outil {target}",
            use_new_tool="utiliser l’outil {target} pour la première fois ; ce qu’il dit de lui-même est ci-dessous",
            use_changed_tool="utiliser l’outil {target}, dont la description a changé depuis sa première utilisation",
        ),
        question="**Je peux {what} ?**",
        because="Je te le demande parce que j'ai lu un texte qui n'est pas de toi : {source}.",
        because_line="Je te le demande parce que j'ai lu un texte qui n'est pas de toi : {source}, « {line} ».",
        private="On y trouve une ligne de ta mémoire privée : « {line} ».",
        asked_in="La demande vient de {chat}.",
        good_for="Sans ton oui, je ne fais rien. Il ne vaut que pour ça, et tu as 24 heures.",
        yes="Oui",
        no="Non",
        done="Accepté et fait : {what}.",
        refused="Pas fait : {what}.",
        changed="Je n'ai rien fait, car quelque chose a changé depuis ma question : {what}.",
        failed="Ça n'a pas marché ({why}) : {what}.",
        none_open="Rien n'attend ton oui.",
        listed="En attente de ton oui :",
        left_out="[{number} caractères sont omis ici ; le texte entier est dans le fichier ci-dessous]",
        once="Une fois",
        always="Toujours",
        lasting="« Toujours » veut dire : désormais, j'exécute sans demander tout ce qui commence par "
        "`{words}`, tant que ses fichiers ne changent pas.",
        with_network="Il veut utiliser le réseau.",
        no_sandbox="Il n'y a pas de bac à sable sur cet ordinateur : il peut lire et modifier tout ce que je peux.",
        as_root="Je tourne en root, aucun bac à sable n'y tient : il peut tout lire et modifier sur cet ordinateur.",
        for_conversation="Je ne le ferai pas sans ton oui dans les 24 heures. Ton oui vaut pour tout ce "
        "que j’envoie là-bas dans cette conversation ; pour les lignes de ta mémoire "
        "privée, je redemanderai.",
        for_tool="Je ne le ferai pas sans ton oui dans les 24 heures. Ton oui vaut pour cet outil tant qu’il se "
        "décrit ainsi ; pour les lignes de ta mémoire privée, je redemanderai.",
        started="Accepté : {what}. Je reviens avec le résultat.",
        allowed="J'exécute ceci sans demander :",
        ask_again="Redemander : {words}",
        asks_again="Désormais, je redemande avant d'exécuter `{words}`.",
    ),
    programs=ProgramStrings(
        ended="`{command}` est terminé.",
        failed="`{command}` s'est terminé avec une erreur (code {code}).",
        late="`{command}` a pris trop de temps, je l'ai arrêté.",
        stopped="`{command}` a été arrêté.",
        limited="`{command}` a utilisé trop de mémoire, de disque ou de processus, je l'ai arrêté.",
        refused="Impossible de lancer `{command}` ({why}).",
        lost="`{command}` s'est terminé quand j'ai redémarré. Il est peut-être à "
        "moitié fait, et je ne l'ai pas relancé.",
    ),
    journal=JournalStrings(
        assistant="Assistant",
        left_out="(un extrait ; messages non affichés : {number})",
        gap="(Il manque quelque chose : {number} ligne de cette conversation est illisible.)",
        gaps="(Il manque quelque chose : {number} lignes de cette conversation sont illisibles.)",
        from_here="(À partir d'ici, un extrait : le journal lit au plus {number} tokens d'une conversation par jour.)",
    ),
    offline=OfflineStrings(
        greeting="Bonjour !",
        offline=(
            "Je suis l'assistant hors ligne de Daybook : je garde tes notes et je les retrouve, mais aucun modèle de "
            "langage n'est connecté. Pour en connecter un : sur la page, sous Réglages (`daybook web` l'ouvre), avec "
            "`daybook init`, ou en mettant `ANTHROPIC_API_KEY=…` dans `{env}` avant de me redémarrer."
        ),
        abilities=(
            "Dis-moi quelque chose et je le note ; pose une question et je cherche dans tes notes. « "
            "Rappelle-moi d'appeler maman demain à 15 h » crée un rappel, « Qu'est-ce que j'ai à faire demain ? "
            "» les montre, « Qu'est-ce que j'ai noté aujourd'hui ? » montre le journal du jour."
        ),
        needs_model=(
            "Je ne peux pas faire cela sans modèle de langage. Tu peux en connecter un sur la page, dans les réglages."
        ),
        welcome="De rien.",
        noted="Noté dans {path} :",
        found="Voici ce que j'ai trouvé dans tes notes :",
        nothing="Je n'ai rien trouvé sur « {query} » dans tes notes.",
        today="Le journal du jour, {path} :",
        today_empty="Le journal du jour est encore vide.",
        failed="Ça n'a pas marché : {why}",
        no_tool="Je ne peux pas faire ça dans cette discussion.",
        empty="Je ne sais lire que du texte, et ce message n'en a pas.",
        unseen="J'ai gardé ce qui accompagnait ton message, mais je ne peux pas le regarder sans modèle de langage.",
        command="Envoie juste `{command}`, et c'est fait.",
    ),
    moments=MomentStrings(
        today="aujourd'hui",
        tomorrow="demain",
        yesterday="hier",
        dated="le {weekday} {day} {month}",
        with_year="le {weekday} {day} {month} {year}",
        at="{day} à {time}",
        weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        first="1er",
    ),
    yes="oui",
    no="non|annule",
    intents=IntentWords(
        greeting="bonjour|bonsoir|salut|coucou",
        thanks="merci|merci beaucoup|merci bien|d'accord",
        help="aide|qui es-tu|qui êtes-vous|que peux-tu faire|que sais-tu faire|que fais-tu",
        remember="souviens-toi|rappelle-toi|note que|note|notez|retiens|n'oublie pas|garde en tête",
        today="aujourd'hui|du jour",
        log="journal|notes|noté|passé|écrit|dit|jour",
        asking="qui|que|qu'est-ce que|quoi|quand|où|quel|quelle|quels|quelles|pourquoi|comment|combien|cherche|trouve"
        "|montre|montre-moi|est-ce que|sais-tu",
        filler="s'il te plaît|ai-je|s'est-il|qu|ai|je|est|il|le|sur|moi|ce",
        telltale="le|les|est|une|mon|ma|tu|et|ne|pas|suis|aime|des|du|demain",
    ),
    commands=CommandPatterns(
        remind=r"rappel(?:le|lez)[- ](?:moi|nous)(?! (?:ce que|ce qui|qui|o[uù]|comment|quel|quelle)\b)",
        forget=r"oubli(?:e|ez) (?!pas\b|de\b|que\b)(?:tout sur )?",
        undo="annule(?:z)? (?:[çc]a|cela)|défais (?:[çc]a|cela)",
        that="[çc]a|cela",
        please="s'il te pla[iî]t|s'il vous pla[iî]t",
    ),
    remember=RememberPatterns(
        asks=r"(?:souviens[-\s]toi|souvenez[-\s]vous|rappelle[-\s]toi|rappelez[-\s]vous)(?!\s+(?:quand|comment|pas)\b)"
        r"|(?:retiens|retenez|mémorise|mémorisez|enregistre|enregistrez|note|notez|inscris|inscrivez)(?:[-\s](?:le|la|les|ça|cela))?"
        r"(?!\s+pas\b)(?=[\s:,.!]|$)"
        r"|(?:prends|prenez)\s+(?:bonne\s+|en\s+)?note\b"
        r"|(?:garde|gardez)(?:[-\s]\S+)?\s+(?:\S+\s+){0,4}?(?:en\s+tête|en\s+mémoire|à\s+l['’]esprit)"
        r"|(?:écris|écrivez|mets|mettez)[-\s](?:le|la|les|ça|cela)\b(?!\s+pas\b)"
        r"|n?['’]?\s?(?:oublie|oubliez)\s+(?:pas|jamais|surtout pas)\b|ne\s+l['’](?:oublie|oubliez)\s+pas\b",
        requests=r"(?:peux|pourrais|veux|voudrais|pouvez|pourriez)[-\s](?:tu|vous)\s+(?:\S+\s+){0,3}?"
        r"(?:te\s+souvenir\s+(?:que|de)|vous\s+souvenir\s+(?:que|de)|te\s+rappeler\s+(?:que|de)|noter|retenir|mémoriser|enregistrer)\b"
        r"(?!\s+(?:quand|où|comment|qui|quoi|ce\s+que|quel))"
        r"|tu\s+(?:dois|devrais)\s+(?:retenir|noter|te\s+(?:souvenir|rappeler))|je\s+(?:veux|voudrais)\s+que\s+tu\s+"
        r"(?:te\s+(?:souviennes|rappelles)|retiennes|notes)",
        refuses=r"\bn(?:e|['’])\s*(?:(?:te|vous|le|la|les|l['’])\s*)*"
        r"(?:souviens|souvenez|rappelle|rappelez|retiens|retenez|note|notez|enregistre|enregistrez|mémorise|garde|écris)\b"
        r"|\b(?:pas\s+besoin|inutile|sans)\s+(?:de\s+|d['’])?(?:\S+\s+){0,2}?(?:noter|retenir|souvenir|rappeler|enregistrer|mémoriser)\b"
        r"|\b(?:retiens|note|enregistre|mémorise|notez)(?:[-\s](?:le|ça|cela))?\s+pas\b|\boublie\s+(?:ça|cela|ce)\b|\boublie[-\s]le\b",
        before=r"s['’]il\s+(?:te|vous)\s+plaît|stp|svp|et|mais|alors|donc|aussi|bon|ok|oui|non|salut|bonjour|merci|daybook|important"
        r"|au\s+fait|surtout|@\w+",
        confirms="oui|d['’]accord|s['’]il (?:te|vous) plaît|hein|stp|svp",
        instead="mais|plutôt",
        reported="a dit|dit|disait|écrit",
        joints="et|mais|alors",
    ),
    common=CommonWords(
        grammar="""
    au aux avec ce ces dans des du elle est et je le les ma mes mon nous où ou par pas pour qu quand que quel quelle qui
    sa ses son sur ta tes ton tu une vous
""",
        small_talk="""
    aujourd bonjour cela ça ceci comment demain déjà faire fait faut hui ici jamais juste maintenant merci moi non oui
    peux peut plus quoi rappelle rien salut savoir sais sans si suis tout très veux voilà accord ai alors aller allez
    après arrive as attends avant avec beau beaucoup belle bientôt bof bon bonne bonsoir bravo car chance chouette
    coucou crois dac désolé dire dis doute drôle encore ennuie enfin envie es étais était excellent exactement fatigué
    fatiguée faim fou génial grave gros heure heures heureux hein hop idée importe incroyable instant jour journée
    laisse là malade matin mdr même merde mieux mignon moins mort nickel nuit ouais ouf ouah parfait pareil parle
    passe pense peu peur plaisir plaît pourtant pouvoir près prêt problème propos ptdr puis quand raison rendors
    reviens rigole rire sens sera sérieux seconde semaine sinon soir soirée sommeil sort souci sympa tant tard temps
    tête toi toujours tomber trop trouve vais vas venir vérité viens vite vois voir vrai vraiment vu end zut
""",
    ),
    dates=DateWords(
        months=("janvier, fevrier, mars, avril, mai, juin, juillet, aout, septembre, octobre, novembre, decembre"),
        weekdays="lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche",
        numbers="un une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze",
        day="jour jours",
        week="semaine semaines",
        month="mois",
        year="an ans",
        seasons="printemps, ete, automne, hiver",
        parts="debut, mi, fin",
        ordinals="premier premiere, deuxieme seconde, troisieme, quatrieme, cinquieme",
        last="dernier derniere",
        weekend="week-? ?end",
        week_name="semaine",
        past=PastPatterns(
            days=(
                "aujourd.?hui",
                r"(?<!avant-)(?<!avant )\bhier (?:soir|matin|apres)|^hier\b.{0,3}$",
                r"\bavant-? ?hier\b",
            ),
            weekends=("ce week-? ?end", "week-? ?end dernier"),
            weeks=("cette semaine", "semaine (?:derniere|passee)", ""),
            months=("ce mois", "mois (?:dernier|passe)", ""),
            years=("cette annee", r"\b(?:an|annee) (?:dernier|derniere|passee)", ""),
            ago=r"\bil y a ({n}) ({u})\b",
            short_ago=(
                (r"\bil y a quinze jours\b", 2, 7),
                (r"\bil y a huit jours\b", 1, 7),
            ),
        ),
        relations=RelationWords(
            before="avant",
            after="apres",
            since="depuis partir",
            until="jusqu",
            between="entre",
            from_="de du depuis",
            and_="et",
            to="jusqu",
            to_after_from="a au",
            of="de du d",
            fillers="le la les l de du d en a au aux",
            shortly="peu juste",
            nights="veille",
            weekends="week-end",
        ),
        feasts={
            "new_years_day": "nouvel an, jour de l an",
            "epiphany": "epiphanie",
            "valentine": "saint valentin, st valentin",
            "labour_day": "fete du travail",
            "bastille_day": "fete nationale",
            "halloween": "halloween",
            "all_saints": "toussaint",
            "christmas_eve": "reveillon de noel, veille de noel",
            "christmas_day": "jour de noel",
            "christmas": "noel",
            "new_years_eve": "saint sylvestre, st sylvestre, reveillon du nouvel an, reveillon",
            "mothers_day_french": "fete des meres",
            "fathers_day": "fete des peres",
            "thanksgiving": "action de graces, action de grace",
            "carnival": "carnaval",
            "shrove_tuesday": "mardi gras",
            "ash_wednesday": "mercredi des cendres",
            "palm_sunday": "dimanche des rameaux",
            "holy_week": "semaine sainte",
            "good_friday": "vendredi saint",
            "easter": "paques",
            "easter_monday": "lundi de paques",
            "ascension": "jeudi de l ascension, l ascension",
            "pentecost": "pentecote",
            "whit_monday": "lundi de pentecote",
            "chinese_new_year": "nouvel an chinois",
            "eid_al_fitr": "aid el fitr",
            "eid_al_adha": "aid el kebir",
            "ramadan": "ramadan",
        },
    ),
)
