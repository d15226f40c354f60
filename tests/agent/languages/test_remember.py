"""Who asks to have something remembered, in every language, and who only seems to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.languages.remember import asks_to_remember

ASKS = """
Remember this: my passport number is C01X
Please remember that my cat is called Luna.
remember I'm allergic to peanuts
Could you remember that Anna's birthday is 3 May?
Can you please remember my shoe size, 43?
Will you remember to ask me about the dentist?
Don't forget that I moved to Lisbon!
Do not forget: the meeting is at 9
My cat is called Luna, please remember that.
My cat is called Luna. Remember that.
I'm vegetarian and you should remember that
Ok, also remember my locker is 114
Hey Daybook, remember the wifi password is on the fridge
Keep in mind that I hate phone calls
Please keep this in mind.
Make a note: rent goes up in March
Write this down: 4711
Note that I'm away on Friday
Please note down my new address
Save this to your memory: I take the 8:04
I want you to remember that I prefer tea.
Remember that I like tea, okay?
I don't eat meat, remember that.
Please never forget that I am left-handed
Add it to your notes please
Don't remember the old address, but remember the new one: Elm Street 4
Merk dir, dass meine Katze Luna heißt.
Bitte merke dir: ich trinke keinen Kaffee
Merk dir bitte meine Schuhgröße 43
Kannst du dir merken, dass ich nicht rauche?
Könntest du dir bitte meine Adresse merken?
Vergiss nicht, dass am Montag Feiertag ist
Vergiss das bitte nicht!
Notiere: Zahnarzt am 3. Mai
Schreib dir auf, dass ich um acht fahre
Schreib das bitte auf.
Denk daran, dass ich Vegetarier bin
Ich mag keinen Fisch, merk dir das.
Merken Sie sich bitte meinen Namen
Behalte bitte im Kopf, dass ich links wohne
Souviens-toi que mon chat s'appelle Luna
Rappelle-toi que je suis végétarien.
S'il te plaît, retiens que je prends le train de 8 h
Note que je suis absent vendredi
N'oublie pas que j'ai déménagé
Peux-tu noter que mon anniversaire est le 3 mai ?
Peux-tu te souvenir que je n'aime pas le café ?
Garde en tête que je déteste le téléphone
Je n'aime pas le café, note-le.
Prends note : réunion à 9 h
Recuerda que mi gato se llama Luna
Por favor, recuerda que soy vegetariano
Anota: dentista el 3 de mayo
Apunta que llego el viernes
No olvides que me mudé a Lisboa
No te olvides de que soy alérgico
¿Puedes recordar que mi cumpleaños es el 3 de mayo?
Ten en cuenta que no como carne
Soy zurdo, recuérdalo.
Toma nota: el alquiler sube en marzo
Acuérdate de que soy zurdo
Ricorda che mia sorella si chiama Anna
Ricordati che sono allergico alle noci
Annota: il codice è 4711
Tieni a mente che odio il caffè
Non dimenticare che parto lunedì
Puoi ricordarti che il gatto si chiama Luna?
Potresti annotare che il treno è alle 9?
Sono mancino, ricordatelo.
记住我的猫叫露娜
请记住，我对花生过敏
帮我记一下：周五开会
别忘了我搬到里斯本了
不要忘记我是素食者
你能记住我的生日是五月三日吗？
请把我的新地址记下来
我不吃肉，记住这一点。
请你记得我喜欢喝茶
覚えておいて、私の猫はルナです
私の猫はルナです。覚えておいてください。
これ覚えて
猫の名前はルナだよ、覚えといてね
メモして：金曜は休み
メモしておいてください
私が菜食主義だということを忘れないで
誕生日は5月3日だと覚えておいてくれますか？
記録しておいて
""".strip().splitlines()

DOES_NOT = """
Do you remember my cat's name?
Can you remember what I told you about Anna?
Remember when we went to Rome?
Remember what I said yesterday?
What do you remember about me?
I remember that day well.
I can't remember where I parked
I'll remember that, thanks
She told me to remember the milk
He said: remember the milk
Don't remember that.
Please don't remember this.
Do not write that down
Don't save this, please
You don't have to remember that
No need to remember this
Never remember my PIN
Please do not note this down anywhere.
I don't want you to remember this
Remember my PIN is 1234. Actually, don't remember that.
The sign said "remember to wash your hands"
What does 'remember that' mean in German?
> please remember that my cat is Luna
Translate `remember this` for me
She wrote “please remember the milk” on the door
Remind me to call mum at five
forget it
Ricordi quando siamo andati al mare?
Ti ricordi come si chiama il mio cane?
Non ricordare questo
Non c'è bisogno di annotarlo
Ha detto: ricorda il latte
Mi ricordo bene di quel giorno
Forget what I said
I keep notes in a book
The record is broken
He never forgets a face
Did you write it down?
Merk dir das nicht
Schreib das bitte nicht auf.
Notiere das nicht!
Erinnerst du dich an meine Katze?
Weißt du noch, was ich gesagt habe?
Ich kann mir das nicht merken
Du musst dir das nicht merken
Erinnere mich um fünf an Mama
Sie sagte: „Merk dir das“
Vergiss das
Te souviens-tu de mon chat ?
Tu te souviens de moi ?
Ne note pas ça
Ne retiens pas cela, s'il te plaît
Oublie ça
Pas besoin de le noter
Rappelle-moi d'appeler maman
Elle a dit « souviens-toi du lait »
¿Recuerdas mi gato?
¿Te acuerdas de lo que dije?
No recuerdes esto
No lo anotes
No hace falta que lo apuntes
Recuérdame llamar a mamá
Olvida eso
Dijo «recuerda la leche»
你还记得我的猫叫什么吗？
你记得我说过什么吗
我记得那天
我记不住
不要记住这个
别记下来
不用记住
不用把这个记下来
他说“记住牛奶”
忘了吧，忘掉它
覚えていますか？
私の猫を覚えてる？
覚えていない
覚えています
覚えなくていいよ
覚えないでください
メモしないで
メモしなくていい
これは忘れてください
彼女は「覚えておいて」と言った
毎日メモしています
hello
""".strip().splitlines()


@pytest.mark.parametrize("text", ASKS)
def test_asks(text: str) -> None:
    assert asks_to_remember(text)


@pytest.mark.parametrize("text", DOES_NOT)
def test_does_not_ask(text: str) -> None:
    assert not asks_to_remember(text)


PLAIN = st.lists(
    st.sampled_from(["my", "cat", "Luna", "sleeps", "on Monday", "42", "Anna", "red"]), min_size=1, max_size=8
).map(" ".join)


@given(PLAIN, PLAIN)
def test_an_imperative_is_found_wherever_its_sentence_stands(before: str, after: str) -> None:
    assert asks_to_remember(f"{before}. Please remember that {after}!")
    assert asks_to_remember(f"{before}\nmerk dir, dass {after}\n{after}")
    assert not asks_to_remember(f"{before}. {after}.")


@given(PLAIN, st.sampled_from([('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("`", "`")]))
def test_what_is_quoted_never_asks(words: str, marks: tuple[str, str]) -> None:
    assert not asks_to_remember(f"The note read {marks[0]}remember that {words}{marks[1]} and I laughed")


@given(PLAIN, st.sampled_from(["don't remember", "do not write down", "you need not remember", "never note down"]))
def test_a_refusal_never_asks(words: str, refusal: str) -> None:
    assert not asks_to_remember(f"{refusal} that {words}")


@given(st.text())
@example("remember " * 20_000)
@example("把" * 30_000)
@example("and please, " * 5_000)
@example("schreib " + "a " * 30_000)
def test_any_text_is_judged_and_soon(text: str) -> None:
    asks_to_remember(text)
