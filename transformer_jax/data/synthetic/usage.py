"""Usage: which words go together, and which phrases may stand for or beside each other."""

from transformer_jax.data.synthetic import lexicon
from transformer_jax.data.synthetic.structure import (
    Coordination,
    Nominal,
    NounPhrase,
    has_determiner,
    is_indefinite,
)
from transformer_jax.data.synthetic.words import (
    ADJECTIVES,
    DETERMINERS,
    FITTING,
    NOUNS,
    PRONOUNS,
    TIMES,
    VERBS,
    Adjective,
    Pronoun,
    Verb,
    nouns_named,
)

# Nouns, by kind

HUMAN = ("person", "relative")
OWNED = ("animal", "text", "clothes", "toy", "thing", "furniture", "car", "room", "mail")
SETTINGS = ("room", "building", "outdoors", "barrier", "furniture", "event")
UNOWNED = ("cause", "event", "plant", "outdoors", "building", "barrier")
HUMANS = nouns_named("human")
MAN = nouns_named("man")[0]
PARENTS = nouns_named("father mother grandfather grandmother")
OWN_PEOPLE = nouns_named(lexicon.OWN_PEOPLE)
DESCRIBED = tuple(noun for noun in NOUNS if FITTING[noun] and noun.kind != "cause")

# Adjectives

PASSING = tuple(ADJECTIVES[word] for word in lexicon.PASSING.split())
COLORS = {ADJECTIVES[word] for word in lexicon.COLORS.split()}
ABSOLUTE = {ADJECTIVES[word] for word in lexicon.ABSOLUTE.split()}
_CONTRARIES = [
    set(group.split())
    for group in (
        "old young new modern", "big small", "beautiful ugly", "good bad", "clever stupid",
        "happy sad", "sick healthy strong", "strong weak", "rich poor", "fast slow",
        "expensive cheap", "heavy light", "long short", "hot cold warm", "clean dirty",
        "empty full", "quiet loud", "dark bright", "interesting boring", "difficult easy",
        "brave shy", "hungry thirsty sick", lexicon.COLORS,
    )
]  # fmt: skip


def are_compatible(first: Adjective, second: Adjective) -> bool:
    """Whether two adjectives may describe the same thing at once."""
    return not any({first.english, second.english} <= group for group in _CONTRARIES)


# Verbs


def is_momentary(verb: Verb) -> bool:
    """Whether it has no present progressive."""
    return "point" in verb.flags or "mishap" in verb.flags


HUMAN_VERBS = tuple(v for v in VERBS if set(HUMAN) <= {noun.kind for noun in v.subjects})
EVENTS = tuple(verb for verb in VERBS if "state" not in verb.flags)
PLACED = tuple(verb for verb in VERBS if "in" in verb.flags or "for" in verb.flags)
VERBS_IN: dict[str | None, tuple[Verb, ...]] = {  # a tense that is not here takes every verb
    "past": EVENTS,
    "present": tuple(verb for verb in VERBS if not is_momentary(verb)),
}
HUMAN_VERBS_IN = {
    tense: tuple(verb for verb in verbs if verb in HUMAN_VERBS) for tense, verbs in VERBS_IN.items()
}
ACTIONS = tuple(verb for verb in HUMAN_VERBS_IN["past"] if not is_momentary(verb))
VERBS_OF = {noun: tuple(v for v in VERBS if noun in v.subjects) for noun in NOUNS}
OBJECT_VERBS = tuple(  # with one complement, which has no preposition
    v for v in VERBS if len(v.slots) == 1 and not v.slots[0].german and not v.slots[0].english
)
VERBS_WITH = {noun: tuple(v for v in OBJECT_VERBS if noun in v.slots[0].nouns) for noun in NOUNS}

TIMES_OF = {
    tense: tuple(adverb for adverb in TIMES if adverb.tense == tense)
    for tense in ("past", "present", "future", "habit")
}

# Phrases

_POSSESSIVE_NAMES = ("my", "your", "his", "her", "our", "their")
POSSESSIVES = tuple(DETERMINERS[name] for name in _POSSESSIVE_NAMES)


def is_definite(phrase: Nominal) -> bool:
    return not isinstance(phrase, NounPhrase) or has_determiner(
        phrase, "the", "this", *_POSSESSIVE_NAMES
    )


def is_negatable(phrase: Nominal) -> bool:
    """Whether "not" has one reading beside it: not so with "all" or "two"."""
    return is_definite(phrase) or is_indefinite(phrase)


def is_a(phrase: Nominal, *kinds: str) -> bool:
    """Whether a subject is of these kinds, which include the human ones."""
    return not isinstance(phrase, NounPhrase) or phrase.noun.kind in kinds


def differs(name: str, subject: Nominal) -> bool:
    """Whether the pronoun `name`, as an object, is surely someone other than the subject."""
    if not isinstance(subject, Pronoun):
        return True
    if subject.english in ("I", "we"):
        return name not in ("I", "we")
    return name != subject.english


def echo(subject: Nominal) -> Nominal | None:
    """A pronoun for a person already named, if English and German agree on one."""
    if isinstance(subject, Pronoun):
        return subject
    if isinstance(subject, Coordination):
        return PRONOUNS["they"]
    assert isinstance(subject, NounPhrase)
    if not is_a(subject, *HUMAN) or subject.noun.english in ("child", "baby"):
        return None
    if has_determiner(subject, "every", "no"):
        return None
    if subject.plural:
        return PRONOUNS["they"]
    female = subject.noun.gender == "f" or subject.noun.english == "girl"
    return PRONOUNS["she" if female else "he"]
