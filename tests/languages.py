"""A sentence in each language in which Daybook has sentences of its own: as a person would say it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.languages.codes import Language

SAID: Mapping[Language, str] = {
    Language.ENGLISH: "The dentist is at nine, and my bike was in the cellar",
    Language("de"): "Der Zahnarzt ist um neun, und mein Rad steht nicht im Keller",
    Language("es"): "El dentista es a las nueve y mi bici está en el sótano",
    Language("fr"): "Le dentiste est à neuf heures et mon vélo est dans la cave",
    Language("it"): "Il dentista è alle nove e la mia bici è in cantina",
    Language.CHINESE: "牙医约在九点，我的自行车在地下室",
    Language.JAPANESE: "歯医者は九時で、自転車は地下室にあります",
}
