"""The lexicon: the tables of `nouns.py` and `lexicon.py`, parsed."""

import re
from typing import NamedTuple

from transformer_jax.data.synthetic import lexicon, nouns


class Noun(NamedTuple):
    english: str
    english_plural: str | None  # None: a mass noun
    german: str
    gender: str  # "m", "f", "n"
    genitive: str
    german_plural: str | None
    kind: str

    @property
    def weak(self) -> bool:
        return self.gender == "m" and self.genitive.endswith("n")


class Adjective(NamedTuple):
    english: str
    english_comparative: str
    german: str
    german_comparative: str
    german_stem: str


class EnglishVerb(NamedTuple):
    base: str
    past: str
    participle: str
    particle: str | None = None


class GermanVerb(NamedTuple):
    prefix: str
    infinitive: str  # without the prefix
    third: str
    participle: str  # without the prefix
    auxiliary: str
    reflexive: bool


class Slot(NamedTuple):
    """What a verb or an adverbial asks for: prepositions ("" for none), case, nouns."""

    english: str
    german: str
    case: str
    nouns: tuple[Noun, ...]


class Verb(NamedTuple):
    english: EnglishVerb
    german: GermanVerb
    subjects: tuple[Noun, ...]
    slots: tuple[Slot, ...]
    flags: str


class Determiner(NamedTuple):
    english: str | None
    english_plural: str | None
    german: str
    declension: str  # "der", "dieser", "ein", "none"
    adjectives: str  # the endings of a following adjective: "weak", "mixed", "strong"


class Pronoun(NamedTuple):
    english: str
    english_object: str
    german: dict[str, str]  # "nom", "acc", "dat", "reflexive"
    person: int
    plural: bool


class Modal(NamedTuple):
    english: str
    infinitive: str
    present: str
    past: str | None


class Adverb(NamedTuple):
    english: str
    german: str
    tense: str = ""
    before_verb: bool = False
    frontable: bool = True


def _rows(table: str) -> list[list[str]]:
    lines = filter(None, map(str.strip, table.splitlines()))
    return [[column.strip() for column in line.split("|")] for line in lines]


def _or_none(word: str) -> str | None:
    return None if word == "-" else word


def _noun(kind: str, english: str, german: str) -> Noun:
    singular, plural = english.split()
    article, nominative, genitive, german_plural = german.split()
    gender = {"der": "m", "die": "f", "das": "n"}[article]
    ending = genitive.removeprefix("-")
    return Noun(
        singular, _or_none(plural), nominative, gender, ending, _or_none(german_plural), kind
    )


NOUNS = tuple(_noun(kind, *row) for kind, table in nouns.NOUNS.items() for row in _rows(table))
_BY_NAME = {noun.english: (noun,) for noun in NOUNS} | {
    kind: tuple(noun for noun in NOUNS if noun.kind == kind) for kind in nouns.NOUNS
}
_BY_NAME["human"] = tuple(  # those who act
    noun for noun in _BY_NAME["person"] + _BY_NAME["relative"] if noun.english != "baby"
)


def nouns_named(names: str) -> tuple[Noun, ...]:
    """Of kinds and single nouns, those meant, in order and once each."""
    return tuple(dict.fromkeys(noun for name in names.split() for noun in _BY_NAME[name]))


def doubled(word: str) -> str:
    """Doubles the final consonant of a short closed syllable: swim -> swimm, big -> bigg."""
    closed = re.fullmatch(r"(be)?[^aeiou]*[aeiou][^aeiouwxy]", word)
    return word + word[-1] if closed else word


def _english_verb(text: str) -> EnglishVerb:
    forms = text.split()
    particle = forms.pop().removeprefix("+") if forms[-1].startswith("+") else None
    if len(forms) == 1:
        base = forms[0]
        if base.endswith("e"):
            past = base + "d"
        elif base.endswith("y") and base[-2] not in "aeiou":
            past = base[:-1] + "ied"
        else:
            past = doubled(base) + "ed"
        forms += [past, past]
    base, past, participle = forms
    return EnglishVerb(base, past, participle, particle)


def _german_verb(text: str) -> GermanVerb:
    words = text.split()
    reflexive, auxiliary = "sich" in words, "sein" if "ist" in words else "haben"
    infinitive, third, participle = (word for word in words if word not in ("sich", "ist"))
    prefix, _, stem = infinitive.rpartition("-")
    return GermanVerb(prefix, stem, third, participle, auxiliary, reflexive)


def _slot(text: str) -> Slot:
    government, names = text.split(":")
    *prepositions, case = government.split()
    english, _, german = prepositions[0].partition("/") if prepositions else ("", "", "")
    return Slot(english.replace("_", " "), german, case, nouns_named(names))


def _verb(english: str, german: str, subjects: str = "", slots: str = "", flags: str = "") -> Verb:
    return Verb(
        _english_verb(english),
        _german_verb(german),
        nouns_named(subjects or "human"),
        tuple(_slot(slot) for slot in slots.split(";") if slot),
        flags,
    )


def _adjective(english: str, german: str) -> Adjective:
    positive, *comparative = english.split()
    syllables = len(re.findall("[aeiouy]+", positive.removesuffix("e")))
    if comparative:
        more = comparative[0]
    elif syllables > 1:
        more = f"more {positive}"
    else:
        more = doubled(positive).removesuffix("e") + "er"
    words = german.split()
    stem = words[2] if len(words) > 2 else words[0].removesuffix("e")
    return Adjective(
        positive, more, words[0], words[1] if len(words) > 1 else words[0] + "er", stem
    )


def _pronoun(english: str, german: str, number: str) -> Pronoun:
    names = ("nom", "acc", "dat", "reflexive")
    cases: dict[str, str] = dict(zip(names, german.split(), strict=True))
    person, grammatical_number = number.split()
    nominative, accusative = english.split()
    return Pronoun(nominative, accusative, cases, int(person), grammatical_number == "plural")


def _determiner(english: str, german: str, endings: str) -> Determiner:
    singular, plural = english.split()
    declension, adjectives = endings.split()
    return Determiner(_or_none(singular), _or_none(plural), german, declension, adjectives)


def _modal(english: str, infinitive: str, present: str, past: str) -> Modal:
    return Modal(english, infinitive, present, _or_none(past))


def _government(english: str, german: str, names: str) -> Slot:
    preposition, case = german.split()
    return Slot(english, preposition, case, nouns_named(names))


VERBS = tuple(_verb(*row) for row in _rows(lexicon.VERBS))
ADJECTIVES = {row[0].split()[0]: _adjective(*row[:2]) for row in _rows(lexicon.ADJECTIVES)}
DETERMINERS = {
    determiner.english or determiner.english_plural: determiner
    for determiner in (_determiner(*row) for row in _rows(lexicon.DETERMINERS))
}
PRONOUNS = {row[0].split()[0]: _pronoun(*row) for row in _rows(lexicon.PRONOUNS)}
MODALS = {row[0]: _modal(*row) for row in _rows(lexicon.MODALS)}
TIMES = tuple(
    Adverb(english, german, tense.split()[0], "*" in tense, "-" not in tense)
    for english, german, tense in _rows(lexicon.TIMES)
)
MANNERS = tuple(
    (Adverb(english, german), verbs.split()) for english, german, verbs in _rows(lexicon.MANNERS)
)
PLACES = tuple(Adverb(english, german) for english, german in _rows(lexicon.PLACES))
LOCATIONS = tuple(_government(*row) for row in _rows(lexicon.LOCATIONS))
COMPANIONS = tuple(_government(*row) for row in _rows(lexicon.COMPANIONS))
BENEFICIARY = _government(*_rows(lexicon.BENEFICIARIES)[0])
OCCASIONS = tuple(_government(*row) for row in _rows(lexicon.OCCASIONS))
CONJUNCTIONS = tuple(tuple(row) for row in _rows(lexicon.CONJUNCTIONS))
REPORTS = tuple((_verb(*row[:2]), row[2].split()) for row in _rows(lexicon.REPORTS))
CONTROLS = tuple(_verb(*row) for row in _rows(lexicon.CONTROLS))
WEATHER = tuple(_verb(*row) for row in _rows(lexicon.WEATHER))
DEGREES = tuple(tuple(row) for row in _rows(lexicon.DEGREES))
BE = Verb(
    EnglishVerb("be", "was", "been"),
    GermanVerb("", "sein", "ist", "gewesen", "sein", False),
    subjects=(),
    slots=(),
    flags="",
)
IT = _pronoun("it it", "es es ihm sich", "3 singular")
WHO = _pronoun("who whom", "wer wen wem sich", "3 singular")
WHAT = Pronoun("what", "what", {"nom": "was", "acc": "was"}, 3, False)

# The adjectives that may describe a noun.
FITTING: dict[Noun, list[Adjective]] = {noun: [] for noun in NOUNS}
for _row in _rows(lexicon.ADJECTIVES):
    for _fit in nouns_named(_row[2]):
        FITTING[_fit].append(ADJECTIVES[_row[0].split()[0]])
