"""The corpus: distinct pairs of realized sentences, and their splits."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from transformer_jax.data.synthetic.derivation import Grammar
from transformer_jax.data.synthetic.english import Tree, english_tree, leaves
from transformer_jax.data.synthetic.german import german_words
from transformer_jax.data.synthetic.structure import Sentence


class Pair(NamedTuple):
    english: str
    german: str


def text(words: Sequence[str]) -> str:
    """Words and marks as written: a mark joins the word before it, commas give way to marks."""
    line = " ".join(words).replace("can not", "cannot")
    line = re.sub(r"( ,)+", ",", line)
    line = re.sub(r",? ([.?])$", r"\1", line)
    return line[0].upper() + line[1:]


def realize(sentence: Sentence) -> Pair:
    return Pair(text(leaves(english_tree(sentence))), text(german_words(sentence)))


def sentences(seed: int) -> Iterator[tuple[Sentence, Pair]]:
    """Endless distinct sentences, no English and no German twice, of 3 to 16 English words."""
    grammar = Grammar(seed)
    english: set[str] = set()
    german: set[str] = set()
    while True:
        sentence = grammar.sentence()
        pair = realize(sentence)
        fits = 3 <= len(pair.english.split()) <= 16
        if fits and pair.english not in english and pair.german not in german:
            english.add(pair.english)
            german.add(pair.german)
            yield sentence, pair


def generate(seed: int, number: int) -> list[Pair]:
    """The first `number` pairs of the corpus that `seed` names."""
    return [pair for _, pair in islice(sentences(seed), number)]


@cache
def splits(
    seed: int = 0, train: int = 20_000, dev: int = 500, test: int = 500
) -> dict[str, list[Pair]]:
    """Disjoint "train", "dev" and "test" pairs: no sentence of either language is in two."""
    pairs = generate(seed, dev + test + train)
    return {"train": pairs[dev + test :], "dev": pairs[:dev], "test": pairs[dev : dev + test]}


@cache
def trees(
    seed: int = 0, train: int = 20_000, dev: int = 500, test: int = 500
) -> dict[str, list[str]]:
    """The trees of the English sides of `splits`, in the same order, in brackets, one a line."""
    bracketed = [
        _bracketed(english_tree(sentence))
        for sentence, _ in islice(sentences(seed), dev + test + train)
    ]
    return {
        "train": bracketed[dev + test :],
        "dev": bracketed[:dev],
        "test": bracketed[dev : dev + test],
    }


def _bracketed(tree: Tree) -> str:
    children = (child if isinstance(child, str) else _bracketed(child) for child in tree[1:])
    return f"({tree[0]} {' '.join(children)})"
