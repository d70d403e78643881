"""English: sentences as phrase-structure trees with Penn Treebank labels."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

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
    is_question_word,
)
from transformer_jax.data.synthetic.words import WHAT, WHO, Adverb, Pronoun, doubled

# A tree: (label, child, ...); a leaf is a word.
Tree = tuple

_DETERMINER_TAGS = (
    dict.fromkeys(("my", "your", "his", "her", "our", "their"), "PRP$")
    | dict.fromkeys(("two", "three", "four"), "CD")
    | {"which": "WDT", "many": "JJ"}
)
_MODALS = ("can", "should", "would", "will")
_PAST = {"have": "had", "do": "did", "want": "wanted"}


def third_person(base: str) -> str:
    if base in ("be", "have"):
        return {"be": "is", "have": "has"}[base]
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return base + "es"
    return base[:-1] + "ies" if re.search("[^aeiou]y$", base) else base + "s"


def present_participle(base: str) -> str:
    if base == "lie":
        return "lying"
    return (base[:-1] if re.search("[^e]e$", base) and base != "be" else doubled(base)) + "ing"


@cache
def _finite(base: str, past_form: str, past: bool, person: int, plural: bool) -> Tree:
    """A finite verb with its tag."""
    if base in _MODALS:
        return "MD", "could" if base == "can" and past else base
    if past:
        if base == "be":
            return "VBD", "were" if plural or person == 2 else "was"
        return "VBD", past_form
    if person == 3 and not plural:
        return "VBZ", third_person(base)
    if base == "be":
        return "VBP", "am" if person == 1 and not plural else "are"
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
        first, rest = "be", [("VBG", present_participle(verb.base))]
    else:
        first, rest = verb.base, []
    if (inverted or clause.negated) and first not in ("be", *_MODALS):
        first, rest = "do", [("VB", first), *rest]
    past_form = _PAST.get(first, verb.past)
    return [_finite(first, past_form, past, person, plural), *rest]


def _tagged(word: str) -> Tree:
    return {"to": ("TO", "to"), "allowed": ("VBN", "allowed")}.get(word, ("VB", word))


def _nominal(phrase: Nominal, subject: bool = False) -> Tree:
    if isinstance(phrase, Pronoun):
        word = phrase.english if subject else phrase.english_object
        return "NP", ("WP" if phrase in (WHO, WHAT) else "PRP", word)
    if isinstance(phrase, Coordination):
        left, right = (_nominal(part, subject) for part in phrase)
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
        of = ("PP", ("IN", "of"), _nominal(phrase.possessor))
        tree = ("NP", tree, of)
    if phrase.relative is not None:
        tree = ("NP", tree, _relative(phrase.relative))
    return tree


def _relative(clause: Clause) -> Tree:
    by_subject = isinstance(clause.subject, Relative)
    gap = clause.subject if by_subject else clause.complements[0].phrase
    assert isinstance(gap, Relative)
    if gap.head.noun.kind in ("person", "relative"):
        pronoun = ("WP", "who" if by_subject else "whom")
    else:
        pronoun = ("WDT", "that")
    return "SBAR", ("WHNP", pronoun), _clause(clause)


def _prepositional(complement: Complement) -> Tree:
    """A complement with its preposition, if it has one in English."""
    phrase = _nominal(complement.phrase)
    if not complement.english:
        return phrase
    for word in reversed(complement.english.split()):
        phrase = ("PP", ("TO" if word == "to" else "IN", word), phrase)
    return phrase


def _adverbial(adverbial: Adverb | Complement) -> Tree:
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


def _predicate(predicate: Predicate) -> Tree:
    adjective = ("JJ", predicate.adjective.english)
    if predicate.comparison:
        assert predicate.compared is not None
        compared = _nominal(predicate.compared, subject=True)
        if predicate.comparison == "as":
            return "ADJP", ("RB", "as"), adjective, ("PP", ("IN", "as"), compared)
        words = predicate.adjective.english_comparative.split()
        more = [("RBR", "more"), adjective] if len(words) > 1 else [("JJR", words[0])]
        return "ADJP", *more, ("PP", ("IN", "than"), compared)
    degree = [("RB", predicate.degree[0])] if predicate.degree else []
    conjoined = [("CC", "and"), ("JJ", predicate.conjoined.english)] if predicate.conjoined else []
    return "ADJP", *degree, adjective, *conjoined


def _subordinate(subordinate: Subordinate) -> Tree:
    clause = subordinate.clause
    if subordinate.order == "infinitive":
        verb_phrase = _verb_phrase(clause, [("VB", clause.verb.english.base)])
        return "S", ("VP", ("TO", "to"), verb_phrase)
    word = subordinate.english
    if word in ("why", "where", "when"):
        return "SBAR", ("WHADVP", ("WRB", word)), _clause(clause)
    return "SBAR", ("IN", word), _clause(clause)


def _verb_phrase(clause: Clause, chain: Sequence[Tree]) -> Tree:
    """Nests a chain of verbs: (VP (MD can) (RB not) (VP (VB see) (NP ...)))."""
    rest: list[Tree] = []
    after = 0  # where a particle goes: "calls up the man", but "calls him up"
    for index, complement in enumerate(clause.complements):
        fronted = index == 0 and clause.front == "object"
        if fronted or isinstance(complement.phrase, Relative):
            continue
        if not rest and isinstance(complement.phrase, Pronoun) and not complement.english:
            after = 1
        rest.append(_prepositional(complement))
    if clause.verb.english.particle:
        rest.insert(after, ("PRT", ("RP", clause.verb.english.particle)))
    if clause.predicate:
        rest.append(_predicate(clause.predicate))
    if clause.manner:
        rest.append(_adverbial(clause.manner))
    if clause.place and clause.front != "place":
        rest.append(_adverbial(clause.place))
    time = clause.time
    adverb = time if isinstance(time, Adverb) and time.before_verb else None
    if time and not adverb and clause.front != "time":
        rest.append(_adverbial(time))
    if clause.subordinate and clause.front != "subordinate":
        rest.append(_subordinate(clause.subordinate))
    before = [_adverbial(adverb)] if adverb and clause.front != "time" else []

    before = [("RB", "not"), *before] if clause.negated else before

    *outer, main = chain
    if outer:
        tree: Tree = ("VP", main, *rest)
    elif clause.predicate:  # "is not old"
        tree = ("VP", main, *before, *rest)
    else:
        tree = ("VP", *before, main, *rest)
    for position, verb in reversed(list(enumerate(outer))):
        inserted = before if position == 0 else []
        tree = ("VP", verb, *inserted, ("S", tree) if tree[1][0] == "TO" else tree)
    return tree


def _clause(clause: Clause) -> Tree:
    """A declarative clause; a relative pronoun as its subject is left out."""
    phrase = _verb_phrase(clause, _chain(clause, inverted=False))
    front: list[Tree] = []
    if clause.front == "time" and clause.time:
        front = [_adverbial(clause.time)]
    elif clause.front == "place" and clause.place:
        front = [_adverbial(clause.place)]
    elif clause.front == "subordinate" and clause.subordinate:
        front = [_subordinate(clause.subordinate)]
    if front and front[0][0] in ("PP", "SBAR"):
        front.append((",", ","))
    if isinstance(clause.subject, Relative):
        return "S", phrase
    return "S", *front, _nominal(clause.subject, subject=True), phrase


def _question(sentence: Sentence) -> Tree:
    clause = sentence.clause
    mark = (".", "?")
    if not sentence.adverb and clause.front == "subject" and is_question_word(clause):
        subject = _nominal(clause.subject, subject=True)
        verbs = _verb_phrase(clause, _chain(clause, inverted=False))
        return "SBARQ", ("WHNP", *subject[1:]), ("SQ", verbs), mark
    finite, *rest = _chain(clause, inverted=True)
    subject = _nominal(clause.subject, subject=True)
    if rest:
        body: Tree = ("SQ", finite, subject, _verb_phrase(clause, rest))
    else:  # the copula
        body = ("SQ", finite, subject, *_verb_phrase(clause, [finite])[2:])
    if sentence.adverb:
        return "SBARQ", ("WHADVP", ("WRB", sentence.adverb[0])), body, mark
    if clause.front == "object":
        asked = _nominal(clause.complements[0].phrase)
        return "SBARQ", ("WHNP", *asked[1:]), body, mark
    return *body, mark


def english_tree(sentence: Sentence) -> Tree:
    """The phrase-structure tree, with Penn Treebank labels; its leaves are the English words."""
    if sentence.question:
        return _question(sentence)
    tree = _clause(sentence.clause)
    if sentence.second is not None and sentence.conjunction:
        comma = [(",", ",")] if sentence.conjunction[0] == "but" else []
        second = _clause(sentence.second)
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
