"""Words that say nothing about which memory a message calls for: more than those too common to search for (`words`)."""

from __future__ import annotations

from agent.memory.words import fold

_WORDS = """
    again all already also always another answer anything ask back because before best better bit call check come could
    day days does doing done each else even ever every everything find fine first found get getting give go goes going
    good got great happen happened hello help here hey hi hope idea into just keep know last later least let like list
    little long look looking made make many maybe mean might mine more morning most much must need never new next nice
    night no nothing now off ok okay old one only other out over people per please possible quick quite ready really
    remember remind right said same say see send set should show since some something soon still sure take talk tell
    than thank thanks then these thing things think this those time today tomorrow tonight too try two under until up
    use used very via want wants way week weeks well went were while would write wrong year years yes yesterday yet
    alles bitte danke dann doch etwas gerade gern gibt gut habe hallo heute hier immer ja jetzt kann kannst keine mach
    machen mal mehr morgen muss nein nochmal nur sag sagen schon schreib sehr sein sollte sonst viel vielleicht waren
    wäre weil weiter weißt wenn werden wieder will wird wissen wollen würde zeit
    ahora algo ayer bien buenos días esto estoy favor gracias hacer hay hola hoy mañana más muy nada necesito no puede
    puedes quiero recuerda saber ser sí también tengo tiene todo vez ya
    aujourd bien bonjour cela ça ceci comment demain déjà faire fait faut hier hui ici jamais juste maintenant merci moi
    non oui peux peut plus quoi rappelle rien salut savoir sais sans si suis tout très veux voilà
    一下 今天 你们 你好 你的 什么 可以 哪里 怎么 我们 我的 时候 明天 昨天 是谁 现在 知道 记得 请问 谢谢
    から した して この その です ます まで ください 今日 何か 明日 昨日
"""


def is_small_talk(term: str) -> bool:
    """`term` as `words.terms` gives it."""
    return term in _SMALL_TALK


_SMALL_TALK = frozenset(fold(_WORDS).split())
