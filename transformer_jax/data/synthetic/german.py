"""German: the forms of words, and clauses laid out in topological fields."""

from functools import cache
from typing import NamedTuple

from transformer_jax.data.synthetic.structure import (
    Clause,
    Complement,
    Coordination,
    Nominal,
    NounPhrase,
    Predicate,
    Relative,
    Sentence,
    Subordinate,
    agreement,
    has_determiner,
    is_indefinite,
    is_question_word,
)
from transformer_jax.data.synthetic.words import DETERMINERS, Adverb, Determiner, Noun, Pronoun

# --- Morphology -----------------------------------------------------------------------------------

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
_BARE_EIN = {("nom", "m"), ("nom", "n"), ("acc", "n")}  # "ein" has no ending
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
        with_n = case == "dat" and noun.german_plural[-1] not in "ns"
        return noun.german_plural + ("n" if with_n else "")
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


# --- Syntax ---------------------------------------------------------------------------------------

_INDEFINITE = ("-", "a", "many", "some", "two", "three", "four")


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


def _relative(phrase: Nominal) -> list[str]:
    """The relative clause of a noun phrase, between commas."""
    if not isinstance(phrase, NounPhrase) or phrase.relative is None:
        return []
    return [",", *_flat(german_fields(phrase.relative, "final")), ","]


def _complement(complement: Complement, negated: bool = False) -> list[str]:
    words = german_nominal(complement.phrase, complement.case, negated and not complement.german)
    if not complement.german:
        return words
    contraction = _CONTRACTIONS.get((complement.german, words[0]))
    if contraction and has_determiner(complement.phrase, "the"):
        return [contraction, *words[1:]]
    return [complement.german, *words]


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
    with_kein = has_determiner(clause.subject, "no")
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
            indefinite |= complement.case == "acc" and has_determiner(phrase, *_INDEFINITE)
            with_kein |= clause.negated and is_indefinite(phrase)
        postfield += _relative(phrase)
    if clause.verb.german.reflexive:
        if isinstance(clause.subject, Pronoun):
            pronouns.insert(0, clause.subject.german["reflexive"])
        else:
            reflexive = ["sich"]
    time, place = _adverbial(clause.time), _adverbial(clause.place)
    predicate, compared = _predicate(clause.predicate) if clause.predicate else ([], [])
    postfield = compared + postfield
    if clause.subordinate:
        inner = _subordinate(clause.subordinate)
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


def _subordinate(subordinate: Subordinate) -> list[str]:
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
