"""Words that say nothing about which memory is relevant: greetings, thanks, laughter, praise."""

from __future__ import annotations

import re

from agent.languages.terms import fold, is_unspaced

_WORDS = """
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
    ahora algo ayer bien buenos días esto estoy favor gracias hacer hay hola hoy mañana más muy nada necesito puede
    puedes quiero recuerda saber ser sí también tengo tiene todo vez aburrido acuerdo adiós ahí así aún bueno buena
    buenas cansado cansada casi chao chévere claro contento creo cuenta cuídate cómo da dale de decir dices dicho
    digas divertido encanta entiendo entonces eres eso espera está estaba estás este estupendo exacto falta fin genial
    gracioso graciosa gran gusta guay hambre hasta hecho horas igual importa increíble jaja jajaja jajajaja juntos
    lindo listo luego mejor mientras minuto mismo momento mucho mucha muchas muchos noche noches nos nunca ojalá
    olvida olvídalo pasa pasado pena pensar perdón perfecto pero poco pronto pues qué raro razón rato rico risa
    seguimos seguro semana siento siempre solo sueño suerte supuesto tal tarde tardes te tiempo tonto triste tu va
    vale vamos ves vida voy vuelvo
    aujourd bonjour cela ça ceci comment demain déjà faire fait faut hui ici jamais juste maintenant merci moi non oui
    peux peut plus quoi rappelle rien salut savoir sais sans si suis tout très veux voilà accord ai alors aller allez
    après arrive as attends avant avec beau beaucoup belle bientôt bof bon bonne bonsoir bravo car chance chouette
    coucou crois dac désolé dire dis doute drôle encore ennuie enfin envie es étais était excellent exactement fatigué
    fatiguée faim fou génial grave gros heure heures heureux hein hop idée importe incroyable instant jour journée
    laisse là malade matin mdr même merde mieux mignon moins mort nickel nuit ouais ouf ouah parfait pareil parle
    passe pense peu peur plaisir plaît pourtant pouvoir près prêt problème propos ptdr puis quand raison rendors
    reviens rigole rire sens sera sérieux seconde semaine sinon soir soirée sommeil sort souci sympa tant tard temps
    tête toi toujours tomber trop trouve vais vas venir vérité viens vite vois voir vrai vraiment vu end zut
    一下 今天 你们 你好 你的 什么 可以 哪里 怎么 我们 我的 时候 明天 昨天 是谁 现在 知道 记得 请问 谢谢 哈哈 嗯嗯 好的
    早上 晚上 中午 下午 早安 晚安 再见 拜拜 没事 没关 关系 算了 没错 就是 这样 那样 怎样 样子 太好 真的 真是 有趣 有意
    意思 好笑 搞笑 开心 高兴 难过 好累 累了 累啊 好困 困了 无聊 厉害 太棒 棒了 不错 可能 应该 也许 当然 其实 但是 因为
    所以 如果 而且 然后 还有 还是 或者 已经 正在 马上 等等 等一 等下 回来 来了 走了 去了 明白 理解 懂了 对不 不起 抱歉
    不好 不要 不用 不行 没有 不是 不会 不能 不知 想要 觉得 感觉 喜欢 希望 一点 有点 一些 有些 非常 特别 比较 最近 刚才
    刚刚 以后 以前 之前 之后 见面 加油 恭喜 随便 无所 所谓 天气 心情 吃饭 睡觉 睡了 起床 周末 大家 自己 事情 东西 问题
    天啊 真棒
    から した して この その です ます まで ください 今日 何か 明日 昨日 大丈 丈夫 元気 最高 本当 面白 疲れ 了解 一緒
    時間 残念 綺麗 可愛 嬉し 楽し 眠い 天気 週末 今朝 今夜 今晩 今週 昨夜 笑っ 笑い 草草 失礼 承知 お願 願い 感謝 気分
    気持 全然 多分 絶対 確か 確認 先日 後で 少々 少し
"""
_HIRAGANA = re.compile("[\u3041-\u309f]")
_HAN_PARTICLES = frozenset(
    "的了是我你您他她它们們吗嗎呢吧啊呀哦嘛啦么什谁誰哪几這这那在不就和也很还還又再才把被让讓给跟没沒从從而但"
)
"""Characters that join words: a pair with one is seldom a word."""


def is_small_talk(term: str) -> bool:
    """True for a small word or a pair with a particle; `term` as from `terms.terms`."""
    if term in _SMALL_TALK:
        return True
    is_grammar = _HIRAGANA.search(term) is not None or not _HAN_PARTICLES.isdisjoint(term)
    return is_grammar and is_unspaced(term)


def is_small_word(term: str) -> bool:
    """True only for a listed word, not for a pair with a particle."""
    return term in _SMALL_TALK


_SMALL_TALK = frozenset(fold(_WORDS).split())
