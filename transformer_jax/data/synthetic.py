"""The embedded corpus: English-German sentence pairs from a small grammar.

One derivation draws a language-neutral structure (`Clause`, `NounPhrase`, ...); `english_tree`
and `german_words` realize it. English comes out as a phrase-structure tree with Penn labels, whose
leaves are the sentence; German as topological fields (prefield, left bracket, middle field, right
bracket, postfield), which is where verb second, verb-final clauses, separable verbs and the place
of "nicht" are decided. Every English sentence has one German translation: where an English word
has two ("when": "als" or "wenn"; "eat": "essen" or "fressen"), the sentence itself decides.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from transformer_jax.data import lexicon


class Pair(NamedTuple):
    english: str
    german: str


# A phrase-structure tree: (label, child, ...); a leaf is a word.
Tree = tuple


# --- The lexicon, parsed -------------------------------------------------------------------------


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

    def filled(self, phrase: "Nominal") -> "Complement":
        return Complement(self.english, self.german, self.case, phrase)


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


NOUNS = tuple(_noun(kind, *row) for kind, table in lexicon.NOUNS.items() for row in _rows(table))
_BY_NAME = {noun.english: (noun,) for noun in NOUNS} | {
    kind: tuple(noun for noun in NOUNS if noun.kind == kind) for kind in lexicon.NOUNS
}
_BY_NAME["human"] = tuple(  # those who act
    noun for noun in _BY_NAME["person"] + _BY_NAME["relative"] if noun.english != "baby"
)


def _nouns(names: str) -> tuple[Noun, ...]:
    """Of kinds and single nouns, those meant, in order and once each."""
    return tuple(dict.fromkeys(noun for name in names.split() for noun in _BY_NAME[name]))


def _double(word: str) -> str:
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
            past = _double(base) + "ed"
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
    government, nouns = text.split(":")
    *prepositions, case = government.split()
    english, _, german = prepositions[0].partition("/") if prepositions else ("", "", "")
    return Slot(english.replace("_", " "), german, case, _nouns(nouns))


def _verb(english: str, german: str, subjects: str = "", slots: str = "", flags: str = "") -> Verb:
    return Verb(
        _english_verb(english),
        _german_verb(german),
        _nouns(subjects or "human"),
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
        more = _double(positive).removesuffix("e") + "er"
    words = german.split()
    stem = words[2] if len(words) > 2 else words[0].removesuffix("e")
    return Adjective(
        positive, more, words[0], words[1] if len(words) > 1 else words[0] + "er", stem
    )


def _pronoun(english: str, german: str, number: str) -> Pronoun:
    cases: dict[str, str] = dict(
        zip(("nom", "acc", "dat", "reflexive"), german.split(), strict=True)
    )
    person, grammatical_number = number.split()
    nominative, accusative = english.split()
    return Pronoun(nominative, accusative, cases, int(person), grammatical_number == "plural")


def _determiner(english: str, german: str, endings: str) -> Determiner:
    singular, plural = english.split()
    declension, adjectives = endings.split()
    return Determiner(_or_none(singular), _or_none(plural), german, declension, adjectives)


def _modal(english: str, infinitive: str, present: str, past: str) -> Modal:
    return Modal(english, infinitive, present.split()[0], _or_none(past))


def _government(english: str, german: str, nouns: str) -> Slot:
    preposition, case = german.split()
    return Slot(english, preposition, case, _nouns(nouns))


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
    (),
    (),
    "be",
)
IT = Pronoun("it", "it", {"nom": "es", "acc": "es", "dat": "ihm", "reflexive": "sich"}, 3, False)
WHO = Pronoun(
    "who", "whom", {"nom": "wer", "acc": "wen", "dat": "wem", "reflexive": "sich"}, 3, False
)
WHAT = Pronoun("what", "what", {"nom": "was", "acc": "was"}, 3, False)

_FITTING: dict[Noun, list[Adjective]] = {noun: [] for noun in NOUNS}
for _row in _rows(lexicon.ADJECTIVES):
    for _fit in _nouns(_row[2]):
        _FITTING[_fit].append(ADJECTIVES[_row[0].split()[0]])


# --- The structure -------------------------------------------------------------------------------


class NounPhrase(NamedTuple):
    determiner: Determiner | None
    adjectives: tuple[Adjective, ...]
    noun: Noun
    plural: bool = False
    possessor: "NounPhrase | None" = None  # English "of", German genitive
    relative: "Clause | None" = None


class Relative(NamedTuple):
    """The relative pronoun that stands for `head` in a relative clause."""

    head: NounPhrase


class Coordination(NamedTuple):
    left: NounPhrase
    right: NounPhrase


Nominal = NounPhrase | Pronoun | Relative | Coordination


class Complement(NamedTuple):
    """A noun phrase with its case and prepositions ("" for none)."""

    english: str
    german: str
    case: str
    phrase: Nominal


class Predicate(NamedTuple):
    """What follows the copula."""

    adjective: Adjective
    degree: tuple[str, str] | None = None
    conjoined: Adjective | None = None
    comparison: str = ""  # "", "than", "as"
    compared: Nominal | None = None


class Subordinate(NamedTuple):
    english: str  # the conjunction; "" for an infinitive with "to"
    german: str
    clause: "Clause"
    order: str = "final"  # or "infinitive"


class Clause(NamedTuple):
    subject: Nominal
    verb: Verb
    complements: tuple[Complement, ...] = ()  # in the English order
    predicate: Predicate | None = None
    time: Adverb | Complement | None = None
    manner: Adverb | None = None
    place: Adverb | Complement | None = None
    tense: str = "present"  # "past", "future"
    modal: Modal | None = None
    progressive: bool = False
    negated: bool = False
    front: str = "subject"  # what stands first: "time", "place", "object", "subordinate"
    subordinate: Subordinate | None = None


class Sentence(NamedTuple):
    """One main clause, or two joined by a conjunction; a question may begin with an adverb."""

    clause: Clause
    conjunction: tuple[str, str] | None = None
    second: Clause | None = None
    question: bool = False
    adverb: tuple[str, str] | None = None  # "why", "warum"


def agreement(phrase: Nominal) -> tuple[int, bool]:
    """The person, and whether plural, to which a verb agrees."""
    if isinstance(phrase, NounPhrase):
        return 3, phrase.plural
    if isinstance(phrase, Pronoun):
        return phrase.person, phrase.plural
    if isinstance(phrase, Relative):
        return 3, phrase.head.plural
    return 3, True


def has_relative(phrase: Nominal) -> bool:
    return isinstance(phrase, NounPhrase) and phrase.relative is not None


# --- German morphology ---------------------------------------------------------------------------

# Endings in the order masculine, feminine, neuter, plural.
_GENDERS = ("m", "f", "n", "plural")
_DIESER = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
_DER = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
_CONTRACTIONS = {
    ("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur",
    ("von", "dem"): "vom", ("in", "das"): "ins", ("an", "das"): "ans",
}  # fmt: skip


def determiner_form(determiner: Determiner, gender: str, case: str) -> str:
    """`gender` is "m", "f", "n" or "plural"."""
    column = _GENDERS.index(gender)
    if determiner.declension == "der":
        return _DER[case][column]
    if determiner.declension == "none" or (
        determiner.declension == "ein" and (case, gender) in _BARE_EIN
    ):
        return determiner.german
    return determiner.german + _DIESER[case][column]


_BARE_EIN = {("nom", "m"), ("nom", "n"), ("acc", "n")}


def adjective_ending(declension: str, gender: str, case: str) -> str:
    """`declension` is that of the determiner before it: "weak", "mixed" or "strong" (none)."""
    strong = _DIESER[case][_GENDERS.index(gender)]
    if declension == "mixed":
        declension = "strong" if (case, gender) in _BARE_EIN else "weak"
    if declension == "weak":
        nominative = case == "nom" or (case == "acc" and gender in ("f", "n"))
        return "e" if nominative and gender != "plural" else "en"
    return "en" if case == "gen" and gender in ("m", "n") else strong


def noun_form(noun: Noun, plural: bool, case: str) -> str:
    if plural:
        assert noun.german_plural is not None
        return noun.german_plural + (
            "n" if case == "dat" and noun.german_plural[-1] not in "ns" else ""
        )
    if case == "gen" or (noun.weak and case != "nom"):
        return noun.german + noun.genitive
    return noun.german


_IRREGULAR = {
    "haben": ("habe", "hast", "hat", "haben"),
    "sein": ("bin", "bist", "ist", "sind"),
    "werden": ("werde", "wirst", "wird", "werden"),
    "war": ("war", "warst", "war", "waren"),
}


@cache
def german_present(infinitive: str, third: str, person: int, plural: bool) -> str:
    """The finite form; a third person without -t (kann, weiß, konnte) is also the first."""
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][3 if plural else person - 1]
    if plural:
        return third + "n" if third.endswith("te") else infinitive
    if person == 3:
        return third
    if not third.endswith("t"):
        return third if person == 1 else third + ("t" if third[-1] in "sß" else "st")
    if person == 1:
        if infinitive.endswith("eln"):
            return infinitive[:-3] + "le"
        return infinitive[:-1] + ("" if infinitive.endswith("en") else "e")
    stem = third[:-1]
    if infinitive.endswith("ten") and not third.endswith("et"):
        return third + "st"  # hält, hältst
    return stem + ("t" if stem[-1] in "sßzx" else "st")


# --- German syntax -------------------------------------------------------------------------------


class Fields(NamedTuple):
    """The topological fields of a German clause.

    A verb-second clause has its finite verb alone in `left`, after exactly one constituent in
    `prefield` (none in a yes-no question). A verb-final clause has its conjunction or relative
    pronoun in `left` and its finite verb last in `right`.
    """

    prefield: list[str]
    left: list[str]
    middle: list[str]
    right: list[str]
    postfield: list[str]


def german_nominal(phrase: Nominal, case: str, negated: bool = False) -> list[str]:
    """A noun phrase in `case`; `negated` turns "ein" and no article into "kein"."""
    if isinstance(phrase, Pronoun):
        return [phrase.german[case]]
    if isinstance(phrase, Coordination):
        return [*german_nominal(phrase.left, case), "und", *german_nominal(phrase.right, case)]
    if isinstance(phrase, Relative):
        gender = "plural" if phrase.head.plural else phrase.head.noun.gender
        word = _DER[case][_GENDERS.index(gender)]
        return ["denen" if (word, case) == ("den", "dat") else word]
    noun, determiner = phrase.noun, phrase.determiner
    gender = "plural" if phrase.plural else noun.gender
    if negated and is_indefinite(phrase):
        determiner = DETERMINERS["no"]
    words = [] if determiner is None else [determiner_form(determiner, gender, case)]
    declension = "strong" if determiner is None else determiner.adjectives
    for adjective in phrase.adjectives:
        words.append(adjective.german_stem + adjective_ending(declension, gender, case))
    words.append(noun_form(noun, phrase.plural, case))
    if phrase.possessor is not None:
        words += german_nominal(phrase.possessor, "gen")
    return words


_INDEFINITE = [None] + [DETERMINERS[word] for word in ("a", "many", "some", "two", "three", "four")]


def is_indefinite(phrase: Nominal) -> bool:
    return isinstance(phrase, NounPhrase) and (
        phrase.determiner is None or phrase.determiner is DETERMINERS["a"]
    )


def _relative(phrase: Nominal) -> list[str]:
    """The relative clause of a noun phrase, between commas."""
    if not isinstance(phrase, NounPhrase) or phrase.relative is None:
        return []
    return [",", *_flat(german_fields(phrase.relative, "final")), ","]


def _complement(complement: Complement, negated: bool = False) -> list[str]:
    words = german_nominal(complement.phrase, complement.case, negated and not complement.german)
    if not complement.german:
        return words
    definite = isinstance(complement.phrase, NounPhrase) and (
        complement.phrase.determiner is DETERMINERS["the"]
    )
    contraction = _CONTRACTIONS.get((complement.german, words[0])) if definite else None
    return [contraction, *words[1:]] if contraction else [complement.german, *words]


def _adverbial(adverbial: Adverb | Complement | None) -> list[str]:
    if adverbial is None:
        return []
    return adverbial.german.split() if isinstance(adverbial, Adverb) else _complement(adverbial)


def _predicate(predicate: Predicate) -> tuple[list[str], list[str]]:
    """The adjective, and the compared phrase, which may stand behind the right bracket."""
    adjective = predicate.adjective
    if predicate.comparison:
        assert predicate.compared is not None
        compared = german_nominal(predicate.compared, "nom")
        if predicate.comparison == "than":
            return [adjective.german_comparative], ["als", *compared]
        return ["so", adjective.german], ["wie", *compared]
    words = [predicate.degree[1]] if predicate.degree else []
    words.append(adjective.german)
    return words + (["und", predicate.conjoined.german] if predicate.conjoined else []), []


def _verb_complex(clause: Clause, order: str) -> tuple[str, list[str]]:
    """The finite verb (in an infinitive clause, nothing) and the other verb forms, in order."""
    verb = clause.verb.german
    person, plural = agreement(clause.subject)
    infinitive = verb.prefix + verb.infinitive
    if order == "infinitive":
        return "", [f"{verb.prefix}zu{verb.infinitive}"] if verb.prefix else ["zu", infinitive]
    if clause.modal:
        modal = clause.modal
        third = modal.past if clause.tense == "past" else modal.present
        assert third is not None
        return german_present(modal.infinitive, third, person, plural), [infinitive]
    if clause.tense == "future":
        return german_present("werden", "wird", person, plural), [infinitive]
    if clause.tense == "past":
        if verb.infinitive == "sein":
            return german_present("war", "war", person, plural), []
        auxiliary = german_present(verb.auxiliary, "", person, plural)
        return auxiliary, [verb.prefix + verb.participle]
    finite = german_present(verb.infinitive, verb.third, person, plural)
    if order == "final":
        return verb.prefix + finite, []
    return finite, [verb.prefix] if verb.prefix else []


def german_fields(clause: Clause, order: str, first: list[str] | None = None) -> Fields:
    """Lays a clause out; `order` is "second", "first", "final" or "infinitive".

    `first` is what opens the clause from outside: a question adverb or a conjunction. Without it,
    a verb-final clause is a relative clause and begins with its pronoun.
    """
    finite, rest = _verb_complex(clause, order)
    prefield: list[str] = []
    left = list(first or ())
    postfield: list[str] = []

    # Full noun phrases bring their relative clauses: after a subject at once, else at the end.
    subject = german_nominal(clause.subject, "nom") + _relative(clause.subject)
    pronouns: list[str] = []
    reflexive: list[str] = []  # before a subject that is no pronoun
    objects: dict[str, list[str]] = {"dat": [], "acc": []}
    prepositional: list[str] = []
    indefinite = False  # an indefinite object follows the manner
    with_kein = isinstance(clause.subject, NounPhrase) and (
        clause.subject.determiner is DETERMINERS["no"]
    )
    for index, complement in enumerate(clause.complements):
        phrase = complement.phrase
        words = _complement(complement, clause.negated)
        if isinstance(phrase, Relative):
            left = words
        elif index == 0 and clause.front == "object":
            prefield = words
        elif complement.german:
            prepositional += words
        elif isinstance(phrase, Pronoun):
            pronouns += words
        else:
            objects[complement.case] += words
            indefinite |= isinstance(phrase, NounPhrase) and (
                complement.case == "acc" and phrase.determiner in _INDEFINITE
            )
            with_kein |= clause.negated and is_indefinite(phrase)
        postfield += _relative(phrase)
    if clause.verb.german.reflexive:
        if isinstance(clause.subject, Pronoun) or (
            clause.front == "subject" and order == "second" and not first
        ):
            pronouns.insert(0, reflexive_pronoun(clause.subject))
        else:
            reflexive = [reflexive_pronoun(clause.subject)]
    time, place = _adverbial(clause.time), _adverbial(clause.place)
    if clause.predicate:
        predicate, compared = _predicate(clause.predicate)
        postfield = compared + postfield
    else:
        predicate = []
    if clause.subordinate:
        inner = german_subordinate(clause.subordinate)
        if clause.front == "subordinate":
            prefield = [*inner, ","]
        else:
            postfield += [",", *inner]

    if order == "infinitive":
        subject = []
    elif isinstance(clause.subject, Relative):
        left, subject = subject, []
    if order == "second":
        if first:
            prefield, left = left, []
        elif clause.front == "subject":
            prefield, subject = subject, []
        elif clause.front == "time":
            prefield, time = time, []
        elif clause.front == "place":
            prefield, place = place, []
    negation = ["nicht"] if clause.negated and not with_kein else []
    manner = clause.manner.german.split() if clause.manner else []
    middle = reflexive + subject + pronouns + time + objects["dat"]
    if indefinite:
        middle += negation + manner + objects["acc"]
    else:
        middle += objects["acc"] + negation + manner
    middle += prepositional + place + predicate
    if order in ("second", "first"):
        return Fields(prefield, [finite], middle, rest, postfield)
    return Fields(prefield, left, middle, [*rest, finite] if finite else rest, postfield)


def reflexive_pronoun(subject: Nominal) -> str:
    return subject.german["reflexive"] if isinstance(subject, Pronoun) else "sich"


def german_subordinate(subordinate: Subordinate) -> list[str]:
    first = [subordinate.german] if subordinate.german else []
    return _flat(german_fields(subordinate.clause, subordinate.order, first))


def _flat(fields: Fields) -> list[str]:
    return [word for field in fields for word in field]


def german_words(sentence: Sentence) -> list[str]:
    """The sentence as words and punctuation marks."""
    if sentence.question:
        adverb = [sentence.adverb[1]] if sentence.adverb else None
        asked = adverb or is_question_word(sentence.clause)
        fields = german_fields(sentence.clause, "second" if asked else "first", adverb)
        return [*_flat(fields), "?"]
    words = _flat(german_fields(sentence.clause, "second"))
    if sentence.second is not None and sentence.conjunction:
        comma = [","] if sentence.conjunction[1] == "aber" else []
        words += [*comma, sentence.conjunction[1]]
        words += _flat(german_fields(sentence.second, "second"))
    return [*words, "."]


def is_question_word(clause: Clause) -> bool:
    """Whether the clause begins with "who", "what" or "which ..."."""
    phrase = clause.complements[0].phrase if clause.front == "object" else clause.subject
    return phrase in (WHO, WHAT) or (
        isinstance(phrase, NounPhrase) and phrase.determiner is DETERMINERS["which"]
    )


# --- English -------------------------------------------------------------------------------------

_ENGLISH_PRESENT = {"be": ("am", "are", "is"), "have": ("have", "have", "has"),
                    "do": ("do", "do", "does")}  # fmt: skip
_AUXILIARIES = ("be", "can", "should", "would", "will")
_MODAL_PAST = {"can": "could"}
_PAST = {"have": "had", "do": "did", "want": "wanted"}


def _third(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return base + "es"
    return base[:-1] + "ies" if re.search("[^aeiou]y$", base) else base + "s"


def _ing(base: str) -> str:
    if base == "lie":
        return "lying"
    return (base[:-1] if re.search("[^e]e$", base) and base != "be" else _double(base)) + "ing"


@cache
def english_finite(base: str, past_form: str, past: bool, person: int, plural: bool) -> Tree:
    """A finite verb with its tag."""
    if base in ("can", "should", "would", "will"):
        return "MD", _MODAL_PAST.get(base, base) if past else base
    if past:
        if base == "be":
            return "VBD", "were" if plural or person == 2 else "was"
        return "VBD", past_form
    if person == 3 and not plural:
        return "VBZ", _ENGLISH_PRESENT[base][2] if base in _ENGLISH_PRESENT else _third(base)
    if base == "be":
        return "VBP", "are" if plural else _ENGLISH_PRESENT["be"][person - 1]
    return "VBP", base


def _chain(clause: Clause, inverted: bool) -> list[Tree]:
    """The verbs of a clause as tagged words, the finite one first."""
    verb = clause.verb.english
    person, plural = agreement(clause.subject)
    past = clause.tense == "past"
    if clause.modal:
        words: list[str] = clause.modal.english.split()
        first, rest = words[0], [_tagged(word) for word in words[1:]]
        rest.append(("VB", verb.base))
    elif clause.tense == "future":
        first, rest = "will", [("VB", verb.base)]
    elif clause.progressive:
        first, rest = "be", [("VBG", _ing(verb.base))]
    else:
        first, rest = verb.base, []
    if (inverted or clause.negated) and first not in _AUXILIARIES:
        first, rest = "do", [("VB", first), *rest]
    past_form = _PAST.get(first, verb.past)
    return [english_finite(first, past_form, past, person, plural), *rest]


def _tagged(word: str) -> Tree:
    return {"to": ("TO", "to"), "allowed": ("VBN", "allowed")}.get(word, ("VB", word))


def english_nominal(phrase: Nominal, subject: bool = False) -> Tree:
    if isinstance(phrase, Pronoun):
        word = phrase.english if subject else phrase.english_object
        return "NP", ("WP" if phrase in (WHO, WHAT) else "PRP", word)
    if isinstance(phrase, Coordination):
        left, right = (english_nominal(part, subject) for part in phrase)
        return "NP", left, ("CC", "and"), right
    assert isinstance(phrase, NounPhrase)
    noun, determiner = phrase.noun, phrase.determiner
    words: list[Tree] = [("JJ", adjective.english) for adjective in phrase.adjectives]
    if phrase.plural:
        assert noun.english_plural is not None
        words.append(("NNS", noun.english_plural))
    else:
        words.append(("NN", noun.english))
    if determiner is not None:
        word = determiner.english_plural if phrase.plural else determiner.english
        assert word is not None
        if word == "a" and re.match("[aeiou]", words[0][1]):
            word = "an"
        words.insert(0, (_DETERMINER_TAGS.get(word, "DT"), word))
    tree: Tree = ("NP", *words)
    if phrase.possessor is not None:
        of = ("PP", ("IN", "of"), english_nominal(phrase.possessor))
        tree = ("NP", tree, of)
    if phrase.relative is not None:
        tree = ("NP", tree, _english_relative(phrase.relative))
    return tree


_DETERMINER_TAGS = (
    dict.fromkeys(("my", "your", "his", "her", "our", "their"), "PRP$")
    | dict.fromkeys(("two", "three", "four"), "CD")
    | {"which": "WDT", "many": "JJ"}
)


def _english_relative(clause: Clause) -> Tree:
    by_subject = isinstance(clause.subject, Relative)
    gap = clause.subject if by_subject else clause.complements[0].phrase
    assert isinstance(gap, Relative)
    if gap.head.noun.kind in ("person", "relative"):
        pronoun = ("WP", "who" if by_subject else "whom")
    else:
        pronoun = ("WDT", "that")
    return "SBAR", ("WHNP", pronoun), _english_clause(clause)


def _prepositional(complement: Complement) -> Tree:
    """A complement with its preposition, if it has one in English."""
    phrase = english_nominal(complement.phrase)
    if not complement.english:
        return phrase
    for word in reversed(complement.english.split()):
        phrase = ("PP", ("TO" if word == "to" else "IN", word), phrase)
    return phrase


def _english_adverbial(adverbial: Adverb | Complement) -> Tree:
    if isinstance(adverbial, Complement):
        return _prepositional(adverbial)
    words = adverbial.english.split()
    if len(words) == 1:
        return "ADVP", ("RB", words[0])
    if words[0] in ("on", "in", "at"):
        return "PP", ("IN", words[0]), ("NP", *_phrase_tags(words[1:]))
    return "NP", *_phrase_tags(words)


def _phrase_tags(words: list[str]) -> Iterator[Tree]:
    for word in words:
        tag = {"the": "DT", "this": "DT", "every": "DT", "last": "JJ", "next": "JJ"}.get(word)
        yield tag or ("NNP" if word.istitle() else "NN"), word


def _english_predicate(predicate: Predicate) -> Tree:
    adjective = ("JJ", predicate.adjective.english)
    if predicate.comparison:
        assert predicate.compared is not None
        compared = english_nominal(predicate.compared, subject=True)
        if predicate.comparison == "as":
            return "ADJP", ("RB", "as"), adjective, ("PP", ("IN", "as"), compared)
        words = predicate.adjective.english_comparative.split()
        more = [("RBR", "more"), adjective] if len(words) > 1 else [("JJR", words[0])]
        return "ADJP", *more, ("PP", ("IN", "than"), compared)
    degree = [("RB", predicate.degree[0])] if predicate.degree else []
    conjoined = [("CC", "and"), ("JJ", predicate.conjoined.english)] if predicate.conjoined else []
    return "ADJP", *degree, adjective, *conjoined


def english_subordinate(subordinate: Subordinate) -> Tree:
    clause = subordinate.clause
    if subordinate.order == "infinitive":
        verb_phrase = _verb_phrase(clause, [("VB", clause.verb.english.base)])
        return "S", ("VP", ("TO", "to"), verb_phrase)
    word = subordinate.english
    if word in ("why", "where", "when"):
        return "SBAR", ("WHADVP", ("WRB", word)), _english_clause(clause)
    return "SBAR", ("IN", word), _english_clause(clause)


def _verb_phrase(clause: Clause, chain: Sequence[Tree]) -> Tree:
    """Nests a chain of verbs: (VP (MD can) (RB not) (VP (VB see) (NP ...)))."""
    rest: list[Tree] = []
    for index, complement in enumerate(clause.complements):
        fronted = index == 0 and clause.front == "object"
        if not fronted and not isinstance(complement.phrase, Relative):
            rest.append(_prepositional(complement))
        elif complement.english:  # a stranded preposition
            rest.append(("PP", ("IN", complement.english)))
    if clause.verb.english.particle:  # "calls up the man", but "calls him up"
        after = bool(clause.complements) and isinstance(clause.complements[0].phrase, Pronoun)
        after = after and clause.front != "object" and not clause.complements[0].english
        rest.insert(int(after), ("PRT", ("RP", clause.verb.english.particle)))
    if clause.predicate:
        rest.append(_english_predicate(clause.predicate))
    if clause.manner:
        rest.append(_english_adverbial(clause.manner))
    if clause.place and clause.front != "place":
        rest.append(_english_adverbial(clause.place))
    time = clause.time
    adverb = time if isinstance(time, Adverb) and time.before_verb else None
    if time and not adverb and clause.front != "time":
        rest.append(_english_adverbial(time))
    if clause.subordinate and clause.front != "subordinate":
        rest.append(english_subordinate(clause.subordinate))
    before = [_english_adverbial(adverb)] if adverb and clause.front != "time" else []

    *outer, main = chain
    if before and not outer and main[1] not in ("am", "are", "is", "was", "were"):
        tree: Tree = ("VP", *before, main, *rest)
    elif before and not outer:
        tree = ("VP", main, *before, *rest)
    else:
        tree = ("VP", main, *rest)
    negation: list[Tree] = [("RB", "not")] if clause.negated else []
    if not outer and negation:
        tree = ("VP", main, *negation, *rest)
    for position, verb in reversed(list(enumerate(outer))):
        inserted = [*negation, *before] if position == 0 else []
        tree = ("VP", verb, *inserted, ("S", tree) if tree[1][0] == "TO" else tree)
    return tree


def _english_clause(clause: Clause) -> Tree:
    """A declarative clause; a relative pronoun as its subject is left out."""
    phrase = _verb_phrase(clause, _chain(clause, inverted=False))
    front: list[Tree] = []
    if clause.front == "time" and clause.time:
        front = [_english_adverbial(clause.time)]
    elif clause.front == "place" and clause.place:
        front = [_english_adverbial(clause.place)]
    elif clause.front == "subordinate" and clause.subordinate:
        front = [english_subordinate(clause.subordinate)]
    if front and front[0][0] in ("PP", "SBAR"):
        front.append((",", ","))
    if isinstance(clause.subject, Relative):
        return "S", phrase
    return "S", *front, english_nominal(clause.subject, subject=True), phrase


def _english_question(sentence: Sentence) -> Tree:
    clause = sentence.clause
    mark = (".", "?")
    if not sentence.adverb and clause.front == "subject" and is_question_word(clause):
        subject = english_nominal(clause.subject, subject=True)
        verbs = _verb_phrase(clause, _chain(clause, inverted=False))
        return "SBARQ", ("WHNP", *subject[1:]), ("SQ", verbs), mark
    finite, *rest = _chain(clause, inverted=True)
    subject = english_nominal(clause.subject, subject=True)
    if rest:
        body: Tree = ("SQ", finite, subject, _verb_phrase(clause, rest))
    else:  # the copula
        body = ("SQ", finite, subject, *_verb_phrase(clause, [finite])[2:])
    if sentence.adverb:
        return "SBARQ", ("WHADVP", ("WRB", sentence.adverb[0])), body, mark
    if clause.front == "object":
        asked = english_nominal(clause.complements[0].phrase)
        return "SBARQ", ("WHNP", *asked[1:]), body, mark
    return *body, mark


def english_tree(sentence: Sentence) -> Tree:
    """The phrase-structure tree, with Penn Treebank labels; its leaves are the English words."""
    if sentence.question:
        return _english_question(sentence)
    tree = _english_clause(sentence.clause)
    if sentence.second is not None and sentence.conjunction:
        comma = [(",", ",")] if sentence.conjunction[0] == "but" else []
        second = _english_clause(sentence.second)
        return "S", tree, *comma, ("CC", sentence.conjunction[0]), second, (".", ".")
    return *tree, (".", ".")


def leaves(tree: Tree) -> list[str]:
    words: list[str] = []
    for child in tree[1:]:
        if isinstance(child, str):
            words.append(child)
        else:
            words += leaves(child)
    return words


def text(words: Sequence[str]) -> str:
    """Words and marks as written: a mark joins the word before it, commas give way to marks."""
    line = " ".join(words).replace("can not", "cannot")
    line = re.sub(r"( ,)+", ",", line)
    line = re.sub(r",? ([.?])$", r"\1", line)
    return line[0].upper() + line[1:]


def realize(sentence: Sentence) -> Pair:
    return Pair(text(leaves(english_tree(sentence))), text(german_words(sentence)))


# --- The derivation ------------------------------------------------------------------------------

_HUMAN = ("person", "relative")
_HUMANS = _BY_NAME["human"]
_PARENTS = _nouns("father mother grandfather grandmother")
_OWN_PEOPLE = _nouns(lexicon.OWN_PEOPLE)
_PASSING = [ADJECTIVES[word] for word in lexicon.PASSING.split()]
_COLORS = {ADJECTIVES[color] for color in lexicon.COLORS.split()}
_ABSOLUTE = {ADJECTIVES[word] for word in lexicon.ABSOLUTE.split()}
_POSSESSIVES = [DETERMINERS[word] for word in ("my", "your", "his", "her", "our", "their")]
_SETTINGS = ("room", "building", "outdoors", "barrier", "furniture", "event")
_SEXLESS = ("child", "baby")


class Grammar:
    """Draws sentences; every decision comes from one stream of random numbers."""

    def __init__(self, seed: int):
        # random() alone is the same on every Python version; choice() is not promised to be.
        self.random: Callable[[], float] = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def choose(self, options: Sequence[Any]) -> Any:
        return options[int(self.random() * len(options))]

    # Phrases

    def noun_phrase(
        self,
        nouns: Sequence[Noun],
        definite: bool = False,
        relative: float = 0.0,
        plural: bool = False,
    ) -> NounPhrase:
        """A phrase with one of `nouns`, and with the given chance of a relative clause."""
        noun = self.choose(nouns)
        mass = noun.english_plural is None
        plural = (
            not mass
            and noun.kind != "cause"
            and (plural or self.chance(0.08 if noun.kind in _SETTINGS else 0.3))
        )
        determiner = self.determiner(noun, plural, definite)
        plural = plural and not (noun in _PARENTS and determiner in _POSSESSIVES)
        adjectives = self.attributes(noun)
        phrase = NounPhrase(determiner, adjectives, noun, plural)
        if self.chance(0.04) and noun.kind in _OWNED and determiner is DETERMINERS["the"]:
            owner = self.noun_phrase(_HUMANS, definite=True)
            phrase = phrase._replace(possessor=owner._replace(adjectives=owner.adjectives[:1]))
        elif self.chance(relative) and not mass:
            phrase = phrase._replace(relative=self.relative_clause(phrase))
        return phrase

    def determiner(self, noun: Noun, plural: bool, definite: bool) -> Determiner | None:
        draw = self.random()
        if noun.kind == "relative" and draw < 0.75:
            return self.choose(_POSSESSIVES)
        unowned = ("cause", "event", "plant", "outdoors", "building", "barrier")
        if noun.kind in unowned or (noun.kind == "person" and noun not in _OWN_PEOPLE):
            possessive, this = 0.0, 0.12
        else:
            possessive, this = 0.14, 0.08
        if noun.english_plural is None:
            draw = self.random()
            if noun.kind == "cause" or definite or draw < 0.4:
                return DETERMINERS["the"]
            return None if draw < 0.85 else self.choose(_POSSESSIVES)
        draw = self.random()
        if draw < possessive:
            return self.choose(_POSSESSIVES)
        draw = self.random()
        if draw < this:
            return DETERMINERS["this"]
        if definite or draw < 0.55 or noun.kind == "relative":
            return DETERMINERS["the"]
        if not plural:
            return DETERMINERS["every" if draw > 0.96 else "a"]
        names = ("two", "three", "four", "many", "some", "all")
        return None if draw < 0.75 else DETERMINERS[self.choose(names)]

    def attributes(self, noun: Noun) -> tuple[Adjective, ...]:
        fitting = _FITTING[noun]
        if not fitting or not self.chance(0.36):
            return ()
        first = self.choose(fitting)
        if first not in _COLORS and self.chance(0.12):
            colors = [adjective for adjective in fitting if adjective in _COLORS]
            return (first, self.choose(colors)) if colors else (first,)
        return (first,)

    def subject(self, nouns: Sequence[Noun], relative: float = 0.06) -> Nominal:
        human = nouns[0].kind in _HUMAN
        if human and self.chance(0.36):
            return PRONOUNS[self.choose(_PRONOUN_NAMES)]
        if human and self.chance(0.06):
            left = self.noun_phrase(_HUMANS, definite=True)
            right = self.noun_phrase(_HUMANS, definite=True)
            if left.noun is not right.noun:
                return Coordination(left, right)
        definite = self.chance(0.6)
        phrase = self.noun_phrase(nouns, definite, relative)
        if phrase.determiner is DETERMINERS["the"] and self.chance(0.03) and not phrase.possessor:
            return phrase._replace(determiner=DETERMINERS["no"])
        return phrase

    def complement(
        self,
        slot: Slot,
        subject: Nominal,
        definite: bool,
        relative: float = 0.0,
        plural: bool = False,
    ) -> Complement:
        nouns = slot.nouns
        if any(noun.kind == "person" for noun in nouns[:1]) and self.chance(0.25):
            options = [name for name in _PRONOUN_NAMES if self.distinct(name, subject)]
            return slot.filled(PRONOUNS[self.choose(options)])
        taken = subject.noun if isinstance(subject, NounPhrase) else None
        nouns = nouns if taken not in nouns else [noun for noun in nouns if noun is not taken]
        if slot.german:
            relative = 0.0
        return slot.filled(self.noun_phrase(nouns, definite, relative, plural))

    def distinct(self, name: str, subject: Nominal) -> bool:
        """Whether an object pronoun is surely someone other than the subject."""
        if not isinstance(subject, Pronoun):
            return True
        same = {"I": "I we", "we": "I we"}.get(subject.english, subject.english)
        return name not in same.split()

    # Clauses

    def clause(
        self, subject: Nominal | None = None, tense: str | None = None, plain: bool = False
    ) -> Clause:
        """A declarative clause; one that is `plain` leaves room for another.

        `subject`, if given, is human; so are the subjects of verbs for "habit".
        """
        if self.chance(0.16):
            return self.copula(subject, tense, passing=tense is not None)
        of_any, of_humans = _VERBS_IN.get(tense, (VERBS, _HUMAN_VERBS))
        verb = self.choose(of_any if subject is None else of_humans)
        if subject is None:
            subject = self.subject(verb.subjects, 0.0 if plain else 0.09)
        return self.predication(subject, verb, tense, plain)

    def predication(
        self, subject: Nominal, verb: Verb, tense: str | None = None, plain: bool = False
    ) -> Clause:
        """Fills a verb's slots and the clause's adverbials."""
        negated = self.chance(0.15) and self.is_definite(subject)
        relative = 0.0 if plain or has_relative(subject) else 0.12
        complements: list[Complement] = []
        for slot in verb.slots:
            definite = "state" in verb.flags or (slot.case == "dat" and len(verb.slots) > 1)
            last = len(complements) == len(verb.slots) - 1
            chance = relative if last else 0.0
            plural = "many" in verb.flags
            definite = definite or not last
            complements.append(self.complement(slot, subject, definite, chance, plural))
        if any(not self.is_negatable(complement) for complement in complements):
            negated = False
        if len(complements) == 2:
            first, second = complements
            if isinstance(first.phrase, Pronoun) and first.phrase == second.phrase:
                return self.predication(subject, verb, tense, plain)  # "gives him him"
        if any(has_relative(complement.phrase) for complement in complements):
            plain = True
        clause = Clause(subject, verb, tuple(complements), negated=negated)
        return self.adverbials(self.tensed(clause, tense), plain)

    def is_negatable(self, complement: Complement) -> bool:
        """Whether "not" has one reading beside it: not so with "all" or "two"."""
        return self.is_definite(complement.phrase) or is_indefinite(complement.phrase)

    def is_definite(self, phrase: Nominal) -> bool:
        return not isinstance(phrase, NounPhrase) or phrase.determiner in _DEFINITE

    def tensed(self, clause: Clause, tense: str | None) -> Clause:
        """Chooses tense, modal verb and aspect."""
        flags = clause.verb.flags
        if "state" in flags:
            return clause
        willing = not isinstance(clause.subject, NounPhrase) or (
            clause.subject.noun.kind in (*_HUMAN, "animal")
        )
        no = isinstance(clause.subject, NounPhrase) and (
            clause.subject.determiner is DETERMINERS["no"]
        )
        able = willing and not no and "mishap" not in flags
        if tense is None:
            draw = self.random()
            if draw < 0.22 and able:
                modal = self.choose(tuple(MODALS.values()))
                if clause.negated and modal.english == "would like to":
                    modal = MODALS["want to"]
                past = modal.past is not None and self.chance(0.35)
                return clause._replace(modal=modal, tense="past" if past else "present")
            limits = (("past", 0.5), ("future", 0.62), ("habit", 0.8), ("present", 1.0))
            tense = next(name for name, limit in limits if draw < limit)
            if tense == "present" and _is_momentary(clause.verb):
                tense = "past"
        if tense == "habit":
            return clause
        if tense == "present":
            return clause._replace(progressive=True)
        return clause._replace(tense=tense)

    def adverbials(self, clause: Clause, plain: bool) -> Clause:
        """Adds time, manner and place, and may front one of them."""
        flags, base = clause.verb.flags, clause.verb.english.base
        tense = clause.tense if clause.modal is None or clause.tense == "past" else "future"
        if clause.modal is None and tense == "present":
            tense = "present" if clause.progressive else "habit"
        if "state" not in flags and "be" not in flags:
            suited = [adverb for adverb, verbs in MANNERS if base in verbs]
            free = not clause.negated and not clause.verb.english.particle
            if suited and free and self.chance(0.3):
                clause = clause._replace(manner=self.choose(suited))
        if plain and self.chance(0.6):
            return clause
        if "state" in flags:
            return clause
        limit = 1
        if clause.verb.slots and "for" in flags and self.chance(0.2):
            beneficiary = self.complement(BENEFICIARY, clause.subject, definite=True)
            clause = clause._replace(complements=(*clause.complements, beneficiary))
            limit = 0
        elif "with" in flags and self.chance(0.2):
            company = self.complement(self.choose(COMPANIONS), clause.subject, definite=True)
            clause = clause._replace(place=company)
        elif "in" in flags and self.chance(0.5):
            clause = clause._replace(place=self.place(clause.subject))
        if self.chance(0.8 if tense == "habit" else 0.5):
            clause = clause._replace(time=self.time(clause, tense))
        draw = self.random()
        if clause.time and draw < 0.4:
            time = clause.time
            if not isinstance(time, Adverb) or time.frontable:
                clause = clause._replace(front="time")
        elif clause.place and draw < 0.25 * limit and not clause.negated:
            clause = clause._replace(front="place")
        return clause

    def place(self, subject: Nominal) -> Adverb | Complement:
        human = not isinstance(subject, NounPhrase) or subject.noun.kind in _HUMAN
        if self.chance(0.3):
            return self.choose(PLACES if human else PLACES[:3])
        return self.complement(self.choose(LOCATIONS), subject, definite=self.chance(0.7))

    def time(self, clause: Clause, tense: str) -> Adverb | Complement | None:
        eventful = clause.verb.subjects and clause.verb.subjects[0].kind == "event"
        eventful = eventful or any(
            isinstance(complement.phrase, NounPhrase) and complement.phrase.noun.kind == "event"
            for complement in clause.complements
        )
        if tense in ("past", "future") and not eventful and self.chance(0.3):
            slot = self.choose(OCCASIONS)
            return self.complement(slot, clause.subject, definite=True)
        options = _TIMES_OF[tense]
        if clause.negated:
            options = [adverb for adverb in options if not adverb.before_verb]
        return self.choose(options)

    def copula(self, subject: Nominal | None, tense: str | None, passing: bool = False) -> Clause:
        """A clause with "be": "The dog is tired"; "passing" ones are about someone's state."""
        if subject is None:
            subject = self.subject(_HUMANS if passing else _DESCRIBED, 0.0 if passing else 0.09)
            if isinstance(subject, NounPhrase):
                subject = subject._replace(adjectives=())
        noun = subject.noun if isinstance(subject, NounPhrase) else _PERSON
        fitting = [a for a in _PASSING if a in _FITTING[noun]] if passing else _FITTING[noun]
        adjective = self.choose(fitting)
        predicate = Predicate(adjective)
        draw = self.random()
        if draw < 0.25 and adjective not in _ABSOLUTE:
            predicate = predicate._replace(degree=self.choose(DEGREES))
        elif draw < 0.4 and adjective not in _ABSOLUTE and not (passing or has_relative(subject)):
            alike = [other for other in NOUNS if other.kind == noun.kind and other is not noun]
            alike = [other for other in alike if adjective in _FITTING[other]]
            if alike:
                compared = self.noun_phrase(alike, definite=True)
                compared = compared._replace(adjectives=(), possessor=None)
                comparison = "than" if self.chance(0.7) else "as"
                predicate = Predicate(adjective, comparison=comparison, compared=compared)
        elif draw < 0.5:
            other = self.choose(fitting)
            if other is not adjective and _is_new(adjective, other):
                predicate = predicate._replace(conjoined=other)
        if tense is None:
            tense = "past" if self.chance(0.35) else "present"
        negated = self.is_definite(subject) and not predicate.conjoined and self.chance(0.15)
        tense = "present" if tense == "habit" else tense
        return Clause(subject, BE, predicate=predicate, tense=tense, negated=negated)

    def relative_clause(self, head: NounPhrase) -> Clause:
        """A short clause about `head`, as its subject or as an object."""
        gap = Relative(head)
        draw = self.random()
        tense = "past" if self.chance(0.5) else "present"
        objects = _VERBS_WITH.get(head.noun)
        if draw < 0.55 and objects:
            verb = self.choose(objects)
            if _is_momentary(verb):
                tense = "past"
            subject = self.subject(verb.subjects, relative=0.0)
            if isinstance(subject, NounPhrase):
                subject = subject._replace(adjectives=(), possessor=None)
            clause = Clause(subject, verb, (verb.slots[0].filled(gap),))
            return self.tensed(clause, tense)
        verbs = _VERBS_OF.get(head.noun)
        if draw < 0.75 or not verbs:
            fitting = [a for a in _FITTING[head.noun] if a not in head.adjectives]
            if fitting:
                return Clause(gap, BE, predicate=Predicate(self.choose(fitting)), tense=tense)
        if not verbs:
            return Clause(gap, BE, predicate=Predicate(ADJECTIVES["old"]), tense=tense)
        verb = self.choose(verbs)
        if _is_momentary(verb):
            tense = "past"
        complements = []
        for slot in verb.slots:
            phrase = self.noun_phrase([n for n in slot.nouns if n is not head.noun], definite=True)
            phrase = phrase._replace(adjectives=phrase.adjectives[:1], possessor=None)
            complements.append(slot.filled(phrase))
        return self.tensed(Clause(gap, verb, tuple(complements)), tense)

    # Sentences

    def echo(self, subject: Nominal) -> Nominal | None:
        """A pronoun for a person already named, if English and German agree on one."""
        if isinstance(subject, Pronoun):
            return subject
        if isinstance(subject, Coordination):
            return PRONOUNS["they"]
        assert isinstance(subject, NounPhrase)
        quantified = subject.determiner in (DETERMINERS["every"], DETERMINERS["no"])
        if subject.noun.kind not in _HUMAN or quantified or subject.noun.english in _SEXLESS:
            return None
        if subject.plural:
            return PRONOUNS["they"]
        female = subject.noun.gender == "f" or subject.noun.english == "girl"
        return PRONOUNS["she" if female else "he"]

    def follow_up(self, clause: Clause, tense: str | None) -> Clause:
        """A clause that goes with `clause`: mostly about the same person, sometimes the weather."""
        if self.chance(0.12):
            weather = Clause(IT, self.choose(WEATHER))
            past = tense == "past"
            return weather._replace(
                tense="past" if past else "present", progressive=tense == "present"
            )
        echo = self.echo(clause.subject) if self.chance(0.85) else None
        subject = echo or self.human()
        if self.chance(0.25):
            return self.copula(subject, tense, passing=True)
        follow = self.clause(subject, tense, plain=True)
        return follow._replace(front="subject")

    def sentence(self) -> Sentence:
        draw = self.random()
        if draw < 0.5:
            return Sentence(self.clause())
        if draw < 0.66:
            return Sentence(self.subordination())
        if draw < 0.75:
            return Sentence(self.report())
        if draw < 0.81:
            return Sentence(self.control())
        if draw < 0.87:
            tense = self.choose(("past", "present"))
            main = self.clause(self.human(), tense, plain=True)._replace(front="subject")
            conjunction = self.choose((("and", "und"), ("but", "aber")))
            return Sentence(main, conjunction, self.follow_up(main, tense))
        return self.question()

    def subordination(self) -> Clause:
        english, german, when = self.choose(CONJUNCTIONS)
        tense = when
        if when == "any":
            tense = "past" if self.chance(0.5) else "present"
        main = self.clause(tense=tense, plain=True)
        main = main._replace(front="subject", negated=False)
        if english == "when" and main.verb.english.base == "ask":
            english, german = "because", "weil"
        inner = self.follow_up(main, tense)
        if english in ("when", "before", "while"):
            inner = inner._replace(negated=False, time=None)
        if self.chance(0.35):
            main = main._replace(front="subordinate")
        inner = inner._replace(time=None)
        return main._replace(subordinate=Subordinate(english, german, inner))

    def human(self) -> Nominal:
        return self.subject(_HUMANS, relative=0.0)

    def report(self) -> Clause:
        verb, openings = self.choose(REPORTS)
        negated = openings[0] == "not"
        english, german = self.choose(openings[1:] if negated else openings).split("/")
        subject = self.human()
        if negated and not self.is_definite(subject):
            subject = PRONOUNS["I"]
        tense = self.choose(("present", "future")) if verb.english.base == "hope" else None
        inner = self.clause(tense=tense, plain=True)._replace(front="subject")
        if english in ("why", "where", "when"):
            inner = self.asked_about(english)
        return Clause(
            subject, verb, negated=negated, subordinate=Subordinate(english, german, inner)
        )

    def asked_about(self, adverb: str) -> Clause:
        """A clause without what a question adverb asks for."""
        verb = self.choose({"why": VERBS, "where": _PLACED, "when": _EVENTS}[adverb])
        subject = self.subject(verb.subjects, 0.0)
        clause = self.predication(subject, verb, plain=True)
        clause = clause._replace(front="subject", negated=clause.negated and adverb == "why")
        if adverb == "when":
            return clause._replace(time=None)
        return clause._replace(place=None) if adverb == "where" else clause

    def control(self) -> Clause:
        """ "He tries to find the key"."""
        subject = self.human()
        if not self.is_definite(subject):
            subject = PRONOUNS[self.choose(_PRONOUN_NAMES)]
        verb = self.choose(CONTROLS)
        action = self.choose(_ACTIONS)
        inner = self.predication(subject, action, "habit", plain=True)
        inner = inner._replace(front="subject", time=None, negated=False)
        tense = self.choose(("present", "past"))
        progressive = tense == "present" and verb.english.base in ("try", "plan")
        subordinate = Subordinate("", "", inner, "infinitive")
        return Clause(subject, verb, tense=tense, progressive=progressive, subordinate=subordinate)

    def question(self) -> Sentence:
        draw = self.random()
        clause = self.clause(plain=True)._replace(front="subject", negated=False)
        if draw < 0.4:
            return Sentence(clause, question=True)
        if draw < 0.6:
            adverb = self.choose((("why", "warum"), ("where", "wo"), ("when", "wann")))
            clause = self.asked_about(adverb[0])._replace(negated=False)
            return Sentence(clause, question=True, adverb=adverb)
        if draw < 0.75:
            verb = self.choose(_HUMAN_VERBS)
            return Sentence(
                self.predication(WHO, verb, plain=True)._replace(front="subject", negated=False),
                question=True,
            )
        verb = self.choose(_OBJECT_VERBS)
        subject = self.subject(verb.subjects, 0.0)
        slot = verb.slots[0]
        human = slot.nouns[0].kind in _HUMAN
        asked: Nominal = WHO if human else WHAT
        if self.chance(0.5):
            noun = self.choose(slot.nouns)
            plural = noun.english_plural is not None and self.chance(0.3)
            asked = NounPhrase(DETERMINERS["which"], (), noun, plural)
        clause = Clause(subject, verb, (slot.filled(asked),), front="object")
        return Sentence(self.tensed(clause, None), question=True)


def _is_momentary(verb: Verb) -> bool:
    """Whether it has no present progressive."""
    return "point" in verb.flags or "mishap" in verb.flags


def _is_new(first: Adjective, second: Adjective) -> bool:
    """Whether two adjectives may describe the same thing at once."""
    return not any({first.english, second.english} <= group for group in _CONTRARIES) and not (
        first in _COLORS and second in _COLORS
    )


_CONTRARIES = [
    set(group.split())
    for group in (
        "old young new modern", "big small", "beautiful ugly", "good bad", "clever stupid",
        "happy sad", "sick healthy strong", "strong weak", "rich poor", "fast slow",
        "expensive cheap", "heavy light", "long short", "hot cold warm", "clean dirty",
        "empty full", "quiet loud", "dark bright", "interesting boring", "difficult easy",
        "brave shy", "hungry thirsty sick",
    )
]  # fmt: skip
_PRONOUN_NAMES = tuple(PRONOUNS)
_DEFINITE = [DETERMINERS[word] for word in ("the", "this")] + _POSSESSIVES
_PERSON = _BY_NAME["man"][0]
_OWNED = ("animal", "text", "clothes", "toy", "thing", "furniture", "car", "room", "mail")
_DESCRIBED = tuple(noun for noun in NOUNS if _FITTING[noun] and noun.kind != "cause")
_HUMAN_VERBS = tuple(v for v in VERBS if {"person", "relative"} <= {n.kind for n in v.subjects})
_EVENTS = tuple(verb for verb in VERBS if "state" not in verb.flags)
_PLACED = tuple(verb for verb in VERBS if "in" in verb.flags or "for" in verb.flags)
_HUMAN_EVENTS = tuple(verb for verb in _HUMAN_VERBS if "state" not in verb.flags)
_ACTIONS = tuple(verb for verb in _HUMAN_EVENTS if not _is_momentary(verb))
_VERBS_IN: dict[str | None, tuple[Sequence[Verb], Sequence[Verb]]] = {
    "past": (_EVENTS, _HUMAN_EVENTS),
    "present": (
        tuple(verb for verb in VERBS if not _is_momentary(verb)),
        tuple(verb for verb in _HUMAN_VERBS if not _is_momentary(verb)),
    ),
}
_VERBS_OF = {noun: tuple(v for v in VERBS if noun in v.subjects) for noun in NOUNS}
_OBJECT_VERBS = tuple(v for v in VERBS if len(v.slots) == 1 and not v.slots[0].german
                      and not v.slots[0].english)  # fmt: skip
_VERBS_WITH = {noun: tuple(v for v in _OBJECT_VERBS if noun in v.slots[0].nouns) for noun in NOUNS}
_VERBS_WITH = {noun: verbs for noun, verbs in _VERBS_WITH.items() if verbs}
_TIMES_OF = {
    tense: [adverb for adverb in TIMES if adverb.tense == tense]
    for tense in ("past", "present", "future", "habit")
}


# --- The corpus ----------------------------------------------------------------------------------


def sentences(seed: int) -> Iterator[tuple[Sentence, Pair]]:
    """Endless distinct sentences, no English and no German twice, of 3 to 16 English words."""
    grammar = Grammar(seed)
    english: set[str] = set()
    german: set[str] = set()
    while True:
        sentence = grammar.sentence()
        pair = realize(sentence)
        long = not 3 <= len(pair.english.split()) <= 16
        if long or pair.english in english or pair.german in german:
            continue
        english.add(pair.english)
        german.add(pair.german)
        yield sentence, pair


def generate(seed: int, number: int) -> list[Pair]:
    """The first `number` pairs of the corpus that `seed` names."""
    return [pair for _, (_, pair) in zip(range(number), sentences(seed), strict=False)]


def splits(
    seed: int = 0, train: int = 20_000, dev: int = 500, test: int = 500
) -> dict[str, list[Pair]]:
    """Disjoint "train", "dev" and "test" pairs: no sentence of either language is in two."""
    pairs = generate(seed, dev + test + train)
    return {"train": pairs[dev + test :], "dev": pairs[:dev], "test": pairs[dev : dev + test]}


@cache
def _dictionary() -> dict[str, str]:
    """English words, in any form, to a German citation form; articles and "be" have one each."""
    words = {"the": "der", "a": "ein", "an": "ein", "cannot": "können nicht", "not": "nicht"}
    words |= dict.fromkeys(["be", "am", "are", "is", "was", "were", "been"], "sein")
    words |= dict.fromkeys(["do", "does", "did"], "tun")
    words |= dict.fromkeys(["have", "has", "had"], "haben")
    words |= {"will": "werden", "would": "würde", "could": "können", "allowed": "erlaubt"}
    words |= {"can": "können", "should": "sollen", "want": "wollen", "wants": "wollen"}
    words |= {"wanted": "wollen", "and": "und", "but": "aber", "to": "zu", "of": "von"}
    words |= {"more": "mehr", "than": "als", "as": "wie", "it": "es", "that": "dass"}
    words |= {"who": "wer", "whom": "wen", "what": "was", "like": "mögen"}
    for noun in NOUNS:
        words |= dict.fromkeys(filter(None, (noun.english, noun.english_plural)), noun.german)
    for adjective in ADJECTIVES.values():
        words |= dict.fromkeys((adjective.english, adjective.english_comparative), adjective.german)
    for verb in (*VERBS, *WEATHER, *CONTROLS, *(verb for verb, _ in REPORTS)):
        base, past, participle, particle = verb.english
        for form in (base, past, participle, _third(base), _ing(base)):
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
    slots = (*LOCATIONS, *COMPANIONS, BENEFICIARY, *OCCASIONS)
    rows = [(adverb.english, adverb.german) for adverb in (*TIMES, *PLACES)]
    rows += [(adverb.english, adverb.german) for adverb, _ in MANNERS]
    rows += [slot[:2] for slot in slots] + [row[:2] for row in CONJUNCTIONS] + list(DEGREES)
    rows += [tuple(opening.split("/")) for _, row in REPORTS for opening in row if "/" in opening]
    for english, german in rows:
        for position, word in enumerate(english.lower().split()):
            words.setdefault(word, german.split()[min(position, len(german.split()) - 1)])
    return words


def word_for_word(english: str) -> str:
    """Puts a German citation form for each English word, in the English order."""
    dictionary = _dictionary()
    words: list[str] = re.findall(r"\w+|[^\w\s]", english)
    translated = [dictionary.get(word.lower(), word) for word in words]
    line = re.sub(r" ([,.?])", r"\1", " ".join(translated))
    return line[0].upper() + line[1:]
