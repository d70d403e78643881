"""The language-neutral structure of a sentence, which each language realizes."""

from typing import NamedTuple

from transformer_jax.data.synthetic.words import (
    DETERMINERS,
    WHAT,
    WHO,
    Adjective,
    Adverb,
    Determiner,
    Modal,
    Noun,
    Pronoun,
    Slot,
    Verb,
)


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

    @classmethod
    def of(cls, slot: Slot, phrase: Nominal) -> "Complement":
        return cls(slot.english, slot.german, slot.case, phrase)


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
    front: str = "subject"  # or "time", "place", "subordinate", "object" (the first complement)
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


def has_determiner(phrase: Nominal, *names: str) -> bool:
    """Whether it is a noun phrase with one of these English determiners; "-" stands for none."""
    return isinstance(phrase, NounPhrase) and any(
        phrase.determiner is DETERMINERS.get(name) for name in names
    )


def is_indefinite(phrase: Nominal) -> bool:
    """Whether its negation is "kein"."""
    return has_determiner(phrase, "a", "-")


def is_question_word(clause: Clause) -> bool:
    """Whether the clause begins with "who", "what" or "which ..."."""
    phrase = clause.complements[0].phrase if clause.front == "object" else clause.subject
    return phrase in (WHO, WHAT) or has_determiner(phrase, "which")
