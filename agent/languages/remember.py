"""Detects requests to remember something (SPEC 6) in six languages. Pure.

Imperatives at the beginning of a clause count, and requests as questions. Questions about the past, reports, negations,
quotations and code do not. If in doubt it counts: a superfluous entry costs less than a missing one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_FLAGS = re.IGNORECASE


@dataclass(frozen=True)
class RememberPhrases:
    """One language's patterns.

    asks      an imperative; with a question mark it is a question about the past
    requests  a request, with a question mark or without
    refuses   a negation: cancels the request that follows it, or, alone, an earlier one
    """

    asks: re.Pattern[str]
    requests: re.Pattern[str]
    refuses: re.Pattern[str]


def _language(asks: str, requests: str, refuses: str, before: str = "", *, spaced: bool = True) -> RememberPhrases:
    """`before`: words that may precede the imperative."""
    if not spaced:
        return RememberPhrases(re.compile(asks), re.compile(requests), re.compile(refuses))
    joint = r"^|[,;:–—(-]|\s(?:and|but|so|then|also|und|aber|et|mais|alors|y|pero)\s"
    start = rf"(?:{joint})[\W_]{{0,4}}(?:(?:{before})[\s,]{{1,4}}){{0,6}}"
    return RememberPhrases(
        re.compile(rf"{start}(?P<ask>{asks})", _FLAGS),
        re.compile(rf"{start}(?P<ask>{requests})", _FLAGS),
        re.compile(refuses, _FLAGS),
    )


_OBJECT = (
    r"(?:\s+(?:this|that|it|these|those|the following|my|our|the|a|an|i|we|for|to|down|in|into|somewhere|please)\b"
    r"|\s*[:,–—-])"
)
_ENGLISH = _language(
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
)
_GERMAN = _language(
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
)
_FRENCH = _language(
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
)
_SPANISH = _language(
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
)
_NOT_ZH = r"(?:不要|别|別|不用|不必|无需|無需|没必要|不需要|请勿|勿|不想让?你|不许|甭)"
_WRITE_ZH = (
    r"(?:记住|記住|记下|記下|记一下|記一下|记得|記得|记着|記著|记录|記錄|牢记|牢記"
    r"|写下|寫下|写进|存下|存到|保存|备忘|備忘)"
)
_START_ZH = (
    r"(?:^|[,，。、;；:：!！\s]|请你?|請你?|帮我|幫我|给我|麻烦你?"
    r"|一定要|务必|你?要|你?得|可要|也|再|然后|还有|就|顺便|daybook)"
)
_BETWEEN_ZH = r"(?:再|帮我|给我|替我|你|去|费心|特意){0,6}"
_CHINESE = _language(
    asks=rf"{_START_ZH}(?P<ask>{_WRITE_ZH}|写下来|(?:把|将).{{1,40}}?(?:{_WRITE_ZH}|写下来|记|存))(?!了吗|了嗎|了没)"
    r"|(?P<forget>(?:别|別|不要|勿|莫|不能|可别)(?:再)?忘)",
    requests=rf"(?:能不能|能否|可不可以|可以|能|会不会|麻烦你?)(?:请|帮我|给我|替我|你|也){{0,3}}"
    rf"(?:把.{{1,40}}?(?:帮我|给我|替我|也){{0,2}})?(?P<ask>{_WRITE_ZH}|写下来)(?!.{{0,30}}(?:什么|什麼|谁|誰|哪|多少|几))|(?:我)?(?:想|要|希望|需要)你(?P<want>{_WRITE_ZH})",
    refuses=rf"{_NOT_ZH}{_BETWEEN_ZH}(?:把.{{0,20}}?{_BETWEEN_ZH})?(?:记(?!得)|記(?!得)|写|寫|保存|存|{_WRITE_ZH})"
    r"|(?<![别別要勿莫能])忘(?:了|掉|记)(?:它|这|那|吧|我说)",
    spaced=False,
)
_KEEP_JA = r"(?:覚え|おぼえ|憶え)"
_DO_JA = r"(?:ください|下さい|くれ|ほしい|欲しい|もらえ|いただ|頂|ちょうだい|頂戴|ね|よ|な(?!い|く|か)|おい|おき|おけ)"
_CHINESE_OR_KANA = r"(?:記憶|記録|メモ|暗記|保存)"
_JAPANESE = _language(
    asks=rf"(?P<ask>{_KEEP_JA}(?:て(?:{_DO_JA}|て(?:{_DO_JA}|[。！!、,：:\s]|$)|[。！!、,：:\s]|$)|と(?:いて|け)|なさい)"
    rf"|{_CHINESE_OR_KANA}(?:を)?(?:して|し|っ|取って|とって)(?:{_DO_JA}|と(?:いて|け)|[。！!、,：:\s]|$)"
    r"|(?:書き留め|書きとめ|控え)て(?!い|る|た|ない)|書いて(?:おいて|おけ|といて)|書いといて|忘れ(?:ないで|ないよう|るな(?!ら)|ないでね)|お忘れなく)"
    r"(?!.{0,4}(?:と(?:言|いっ|頼|書)|って(?:言|いっ|頼)))(?!(?:いて|て|)?(?:い|る|た)(?:ますか|る[？?]))",
    requests=rf"(?P<ask>{_KEEP_JA}て(?:おいて)?(?:もらえ|くれ(?:ます|る|ない)|いただけ|ほしい|欲しい)"
    rf"|{_CHINESE_OR_KANA}(?:して|しておいて)(?:もらえ|くれ(?:ます|る|ない)|いただけ|ほしい))",
    refuses=rf"(?:{_KEEP_JA}(?:て(?:おか|か)?)?|(?:{_CHINESE_OR_KANA}(?:を)?し(?:て(?:おか)?)?)|書(?:か|いておか))(?:なくて|ないで|なくても|ないように|る必要)"
    rf"|{_KEEP_JA}る(?:な(?!ら)|必要(?:は|が)?な)|忘れて(?:ください|くれ|いい|よい|ね|。|$)",
    spaced=False,
)
REMEMBER_PHRASES = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _CHINESE, _JAPANESE)


_LONGEST = 2_000
"""Characters read from each end, so that a long paste cannot hold up a turn."""

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>.*?$"
    r"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|»[^«»\n]*«|「[^「」\n]*」|『[^『』\n]*』|《[^《》\n]*》"
    r'|"[^"\n]*"|(?<!\w)‘[^‘’\n]*’(?!\w)|(?<!\w)\'[^\'\n]*\'(?!\w)',
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…\"”»」)]*|[.!?。！？]+")
_REPORTED = re.compile(
    r"(?:\b(?:said|says|tell|told|asked|wrote|writes|replied|sagte|sagt|schrieb|meinte|dijo|dice|escribió"
    r"|a dit|dit|disait|écrit)|[说說写寫道喊])\W*\Z",
    _FLAGS,
)
_CONFIRMS = re.compile(
    r"[,，、]\s*(?:please|pls|ok|okay|will you|would you|could you|can you|right|yes|ja|bitte|gut|klar|oui|vale"
    r"|por favor|sí|d['’]accord|s['’]il (?:te|vous) plaît|hein|stp|svp|好吗|好嗎|好不好|可以吗|可以嗎|行吗|ね)"
    r"\s*[?？]+",
    _FLAGS,
)
_INSTEAD = re.compile(
    r"\b(?:but|instead|rather|aber|sondern|mais|plutôt|sino|pero)\b|而是|但是?|不过|でも|けど|だけど", _FLAGS
)
_TAKES_BACK_WITHIN = 60
"""A refusal of at most so many characters cancels earlier requests ("Actually, don't remember that"); a longer one is
about something else."""


@lru_cache(maxsize=64)
def asks_to_remember(text: str) -> bool:
    if len(text) > 2 * _LONGEST:
        text = f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"
    is_asked = False
    for sentence in _SENTENCE.findall(_QUOTED.sub(" … ", text)):
        if _is_request(sentence.strip()):
            is_asked = True
        elif len(sentence) <= _TAKES_BACK_WITHIN and any(one.refuses.search(sentence) for one in REMEMBER_PHRASES):
            is_asked = False
    return is_asked


def _is_request(sentence: str) -> bool:
    is_question = sentence.rstrip('"”»」)').endswith(("?", "？")) or sentence.startswith("¿")
    past = is_question and not _CONFIRMS.search(sentence)
    for language in REMEMBER_PHRASES:
        patterns = (language.requests,) if past else (language.asks, language.requests)
        for pattern in patterns:
            for match in pattern.finditer(sentence):
                if not _is_refused(sentence, match, language):
                    return True
    return False


def _is_refused(sentence: str, match: re.Match[str], language: RememberPhrases) -> bool:
    """Refused in the same clause, or reported speech."""
    at = next((match.start(name) for name, found in match.groupdict().items() if found is not None), match.start())
    before = _INSTEAD.split(sentence[:at])[-1]
    if _REPORTED.search(before) or language.refuses.search(before) or language.refuses.search(match.group()):
        return True
    clause = re.split(r"[,，、:：;；–—]", sentence[at:], maxsplit=1)[0]
    refusal = language.refuses.search(before[-12:] + clause)
    return refusal is not None and refusal.start() <= len(before[-12:]) + 2
