"""Messages that call no memory up: what people say between other things, and tasks that anybody could be given.

Every second one of a language is for checking: no bar was fitted to it, though the words of small talk were chosen with
all of them in sight.
"""

from __future__ import annotations

_SMALL_TALK = """
    hmm
    lol
    absolutely
    that was funny
    never mind
    haha you got me there
    ok sounds good
    thanks a lot, that really helped
    good morning, how are you?
    see you later then
    wow, I did not expect that
    oh no
    you're welcome
    sure, why not
    that makes sense
    I'm so tired today
    what's up?
    can you hear me?
    sorry, wrong window
    no worries at all
    let me think about it
    hang on a second
    are you there?
    I'm back
    have a nice weekend!
    I was just kidding
    fair enough
    brb
    that's amazing news!
    I don't know what to say
    great, let's go on
    ugh, what a day
    you are the best
    nice weather today, isn't it?
    yes please
    how was your night?

    na gut
    alles klar, danke dir
    das war lustig
    egal, vergiss es
    guten Morgen! Wie geht's?
    ach so, verstehe
    bin gleich wieder da
    keine Ahnung
    genau, sehe ich auch so
    schönes Wochenende!
    das ist ja toll
    Moment mal bitte

    jajaja qué gracioso
    vale, muchas gracias
    buenas noches, hasta mañana
    no importa, olvídalo
    claro que sí
    ¿qué tal estás hoy?
    no me digas
    estoy un poco cansado
    perfecto, seguimos luego
    ya vuelvo

    mdr, trop drôle
    d'accord, merci beaucoup
    bonne nuit, à demain
    laisse tomber
    bien sûr, pas de souci
    ça va ?
    je suis fatigué aujourd'hui
    c'est génial !
    attends une seconde
    je ne sais pas trop

    哈哈哈
    好的，谢谢你
    早上好，你今天怎么样？
    没关系，算了
    真有意思
    我回来了
    嗯嗯，知道了
    太棒了！
    今天好累啊
    晚安，明天见
    等一下
    没错，就是这样

    なるほど
    ありがとうございます、助かりました
    おはよう！元気？
    やっぱりいいや
    笑った
    了解です
    ちょっと待って
    今日は疲れた
    すごいね！
    おやすみなさい、また明日
    そうだね
    ただいま

    obrigado, até amanhã
    va bene, grazie mille
    ладно, спасибо
    как дела?
    ㅋㅋㅋ 진짜 웃겨
    고마워요
    tamam, teşekkürler
    شكرا جزيلا
"""

_TASKS = """
    write a haiku about autumn
    what is 17 times 23?
    translate "the train leaves at noon" into Italian
    explain how photosynthesis works
    write a Python function that reverses a string
    what is the capital of Mongolia?
    summarize the plot of Hamlet in three sentences
    how many feet are in a mile?
    give me ten names for a coffee shop
    convert 72 degrees Fahrenheit to Celsius
    who painted the Mona Lisa?
    make a list of healthy breakfast ideas
    fix the grammar: he go to school every days
    tell me a joke about cats
    what's the difference between TCP and UDP?
    can you write a short story about a dragon who is afraid of fire?
    how do I boil an egg?
    draft a polite email declining an invitation
    calculate the area of a circle with radius 5
    what does the word "ephemeral" mean?
    suggest a good book about the Roman Empire
    explain recursion to a five-year-old
    when did the Second World War end?
    please write a regular expression that matches email addresses
    how tall is Mount Everest?
    compose a poem about the sea and the moon
    which planet is the largest in the solar system?
    rewrite this sentence in a formal tone: the movie was super cool
    what are the benefits of regular exercise?
    generate a random password with 16 characters
    how does a hybrid car work?
    could you explain what an index fund is?
    what is the square root of 144?
    name three famous painters of the Renaissance
    write a thank-you note to a teacher
    why is the sky blue?

    schreib ein Gedicht über den Herbst
    was ist 17 mal 23?
    übersetze "der Zug fährt um zwölf" ins Englische
    erkläre mir den Unterschied zwischen HTTP und HTTPS
    was ist die Hauptstadt von Australien?
    nenne fünf Ideen für ein gesundes Frühstück
    wie funktioniert ein Elektromotor?
    schreibe eine kurze Geschichte über einen Hund und eine Katze
    wie viele Sekunden hat ein Tag?
    kannst du eine Einladung zu einer Gartenparty formulieren?

    escribe un poema sobre el mar
    ¿cuánto es 17 por 23?
    traduce "buenos días a todos" al inglés
    explica cómo funciona un avión
    ¿cuál es la capital de Noruega?
    dame cinco ideas para una cena rápida
    ¿quién escribió Don Quijote?
    resume la historia de Romeo y Julieta
    ¿puedes escribir una carta formal de queja?
    ¿cuántos huesos tiene el cuerpo humano?

    écris un haïku sur l'automne
    combien font 17 fois 23 ?
    traduis « le train part à midi » en anglais
    explique-moi la théorie de la relativité
    quelle est la capitale du Canada ?
    donne-moi trois recettes de soupe
    qui a peint la Joconde ?
    rédige un mail pour refuser une invitation
    comment fonctionne un moteur électrique ?
    invente une histoire courte sur un chat et un dragon

    写一首关于秋天的俳句
    17乘以23等于多少？
    把“火车中午出发”翻译成英文
    解释一下光合作用的原理
    蒙古的首都是哪里？
    给我推荐十个咖啡店的名字
    用Python写一个排序函数
    帮我写一封拒绝邀请的邮件
    太阳系最大的行星是什么？
    讲一个关于猫的笑话
    世界上最高的山是哪座？
    怎么煮鸡蛋？

    秋についての俳句を書いて
    17かける23はいくつ？
    「電車は正午に出発します」を英語に翻訳して
    光合成の仕組みを説明してください
    モンゴルの首都はどこですか？
    健康的な朝食のアイデアを五つ教えて
    猫についての短い物語を書いてください
    富士山の高さは何メートル？
    円の面積の公式は？
    ハムレットのあらすじを要約して

    escreva um poema sobre o outono
    qual è la capitale della Svezia?
    напиши стихотворение об осени
    сколько будет 17 умножить на 23?
    가을에 대한 시를 써줘
    17 곱하기 23은 얼마야?
    sonbahar hakkında bir şiir yaz
    اكتب قصيدة عن الخريف
"""


def _halves(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    groups = [[line.strip() for line in group.split("\n") if line.strip()] for group in text.split("\n\n")]
    tuned = tuple(line for group in groups for line in group[::2])
    return tuned, tuple(line for group in groups for line in group[1::2])


SMALL_TALK, SMALL_TALK_TO_CHECK = _halves(_SMALL_TALK)
TASKS, TASKS_TO_CHECK = _halves(_TASKS)
