"""Word-for-word translation, the poor baseline that a model has to beat."""

import re
from functools import cache
from itertools import zip_longest

from transformer_jax.data.synthetic.english import present_participle, third_person
from transformer_jax.data.synthetic.german import determiner_form
from transformer_jax.data.synthetic.words import (
    ADJECTIVES,
    BENEFICIARY,
    COMPANIONS,
    CONJUNCTIONS,
    CONTROLS,
    DEGREES,
    DETERMINERS,
    LOCATIONS,
    MANNERS,
    NOUNS,
    OCCASIONS,
    PLACES,
    PRONOUNS,
    REPORTS,
    TIMES,
    VERBS,
    WEATHER,
)

_FUNCTION_WORDS = {
    "der": "the", "ein": "a an", "nicht": "not", "können nicht": "cannot",
    "sein": "be am are is was were been", "haben": "have has had", "tun": "do does did",
    "werden": "will", "würde": "would", "können": "can could", "sollen": "should",
    "wollen": "want wants wanted", "mögen": "like", "erlaubt": "allowed",
    "und": "and", "aber": "but", "dass": "that", "zu": "to", "von": "of",
    "mehr": "more", "als": "than", "wie": "as", "es": "it",
    "wer": "who", "wen": "whom", "was": "what",
}  # fmt: skip


@cache
def _dictionary() -> dict[str, str]:
    """English words, in any form, to a German citation form; articles and "be" have one each."""
    words: dict[str, str] = {}
    for german, english in _FUNCTION_WORDS.items():
        words |= dict.fromkeys(english.split(), german)
    for noun in NOUNS:
        words |= dict.fromkeys(filter(None, (noun.english, noun.english_plural)), noun.german)
    for adjective in ADJECTIVES.values():
        words |= dict.fromkeys((adjective.english, adjective.english_comparative), adjective.german)
    for verb in (*VERBS, *WEATHER, *CONTROLS, *(verb for verb, _ in REPORTS)):
        base, past, participle, particle = verb.english
        for form in (base, past, participle, third_person(base), present_participle(base)):
            words.setdefault(form, verb.german.infinitive)
        if particle:
            words.setdefault(particle, verb.german.prefix)
        for slot in verb.slots:
            words.setdefault(slot.english, slot.german)
    for pronoun in PRONOUNS.values():
        words.setdefault(pronoun.english.lower(), pronoun.german["nom"])
        words.setdefault(pronoun.english_object, pronoun.german["acc"])
    for determiner in DETERMINERS.values():
        for form in filter(None, (determiner.english, determiner.english_plural)):
            gender = "m" if determiner.english else "plural"
            words.setdefault(form, determiner_form(determiner, gender, "nom"))
    adverbs = (*TIMES, *PLACES, *(adverb for adverb, _ in MANNERS))
    slots = (*LOCATIONS, *COMPANIONS, BENEFICIARY, *OCCASIONS)
    phrases = [row[:2] for row in (*adverbs, *slots, *CONJUNCTIONS, *DEGREES)]
    phrases += [opening.split("/") for _, row in REPORTS for opening in row if "/" in opening]
    for english, german in phrases:
        *first, last = german.split()
        for word, translation in zip_longest(english.lower().split(), first, fillvalue=last):
            words.setdefault(word, translation)
    return words


def word_for_word(english: str) -> str:
    """Puts a German citation form for each English word, in the English order."""
    dictionary = _dictionary()
    words: list[str] = re.findall(r"\w+|[^\w\s]", english)
    translated = [dictionary.get(word.lower(), word) for word in words]
    line = re.sub(r" ([,.?])", r"\1", " ".join(translated))
    return line[0].upper() + line[1:]
