"""Constituency parsing as translation (section 6.3): a sentence in, its tree out.

The source is the words with a space between, cut into subwords. The target is the tree as
`text.linearise` writes it, where every label is one id: `[NP]` opens, `[/NP]` closes, and a
part-of-speech tag stands for its word. The authors' code cut the labels into word pieces like any
text, out of a target vocabulary of 2^9 that had room for each as one piece.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32

from transformer_jax.batch import UNK
from transformer_jax.data import synthetic
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.data.sources import Pairs
from transformer_jax.errors import InputError
from transformer_jax.scoring.bracket import evalb
from transformer_jax.tasks import vocabulary as vocabularies
from transformer_jax.tasks.task import SPLITS, Output, Scored
from transformer_jax.text import tree as trees
from transformer_jax.text.linearise import linearise, restore
from transformer_jax.text.subword import Subword, one_line

# A symbol that no tree has: it says that the treebank has the label as a tag too.
_BOTH = "="


def check(data: Mapping[str, Any]) -> None:
    """Finds out now what in `config.data` cannot work."""
    if data["corpus"] not in ("trees", "synthetic"):
        raise InputError(f"data.corpus is {data['corpus']!r}: give 'trees' or 'synthetic'")
    if not 0 <= data["more"]["share"] < 1:
        raise InputError(f"data.more.share is {data['more']['share']}: give 0 or more, under 1")
    if bool(data["more"]["trees"]) != bool(data["more"]["share"]):
        raise InputError(
            f"data.more.trees is {data['more']['trees']!r} and data.more.share "
            f"{data['more']['share']}: a second corpus needs both"
        )


def read_pairs(data: Mapping[str, Any], split: str) -> tuple[Pairs, int]:
    """Sentences and their trees in brackets, without traces and function tags.

    Where `data.more` names a second corpus, the smaller part of an epoch is repeated, in whole
    numbers, as often as makes `data.more.share` the share of the second.
    A tree of which nothing but traces is left is left out in training, and an error elsewhere.
    """
    if split not in SPLITS:
        raise InputError(f"no split {split!r}: give one of {', '.join(SPLITS)}")
    if data["corpus"] == "synthetic":
        pairs, dropped = _pairs(trees.iterate_trees(synthetic.trees()[split], "embedded corpus"))
    else:
        pairs, dropped = _read(data, data[split]["trees"])
    if dropped and split != "train":
        raise InputError(
            f"{data[split]['trees']} in {data['directory']}: tree {dropped[0]} holds nothing but "
            f"traces ({len(dropped)} such in all); take them out of the {split} set"
        )
    if split == "train" and data["more"]["trees"]:
        more, dropped_too = _read(data, data["more"]["trees"])
        share = data["more"]["share"]
        # Copies of the first corpus for one of the second.
        times = len(more.source) * (1 - share) / share / len(pairs.source)
        copies = max(1, round(times)), max(1, round(1 / times))
        both = zip(pairs, more, strict=True)
        pairs = Pairs(*(one * copies[0] + other * copies[1] for one, other in both))
        dropped += dropped_too
    return pairs, len(dropped)


def _read(data: Mapping[str, Any], names: str) -> tuple[Pairs, list[int]]:
    paths = [Path(data["directory"]) / name for name in names.split(",")]
    pairs, dropped = _pairs(tree for path in paths for tree in trees.read_trees(path))
    if not pairs.source:
        raise InputError(f"{names}: all {len(dropped)} trees hold nothing but traces; give others")
    return pairs, dropped


def _pairs(found: Iterable[trees.Tree]) -> tuple[Pairs, list[int]]:
    """Sentences and stripped trees, as text, and which trees, from 1, were nothing but traces."""
    pairs, dropped = Pairs([], []), []
    for number, tree in enumerate(map(trees.strip, found), 1):
        if tree is None:
            dropped.append(number)
        else:
            pairs.source.append(" ".join(trees.words(tree)))
            pairs.target.append(str(tree))
    return pairs, dropped


def prepare_vocabulary(settings: Mapping[str, Any], pairs: Pairs, path: Path) -> Subword:
    """Subwords of the sentences and a symbol for each label; see `vocabulary.prepare`."""
    labels: set[str] = set()
    tags: set[str] = set()
    for tree in _trees(pairs.target):
        labels |= trees.labels(tree)
        tags.update(trees.tags(tree))
    tokens = labels | tags | {f"/{label}" for label in labels}
    symbols = [_symbol(token) for token in tokens]
    symbols += [_symbol(_BOTH + token) for token in labels & tags]
    return vocabularies.prepare(settings, pairs.source, path, sorted(symbols))


def encode_sources(vocabulary: Subword, sentences: Sequence[str]) -> list[Int32[np.ndarray, " _"]]:
    """The ids of each sentence; round brackets as treebanks write them, -LRB- and -RRB-."""
    return vocabulary.encode(
        [line.replace("(", "-LRB-").replace(")", "-RRB-") for line in sentences]
    )


def encode(vocabulary: Subword, pairs: Pairs) -> TokenPairs:
    """The sentences as subwords, the trees as labels; a label that is not known as UNK."""
    labels = (
        [vocabulary.symbols.get(_symbol(token), UNK) for token in linearise(tree)]
        for tree in _trees(pairs.target)
    )
    return TokenPairs(
        Ragged.from_sequences(encode_sources(vocabulary, pairs.source)),
        Ragged.from_sequences(labels),
    )


def cut(
    vocabulary: Subword, ids: Int32[np.ndarray, " N"], most: int
) -> list[Int32[np.ndarray, " _"]]:
    """The whole sentence, however long: the tree of a part is no part of the tree."""
    return [ids]


def decode(
    vocabulary: Subword, sequences: Sequence[Int32[np.ndarray, " _"]], sources: Sequence[str]
) -> list[Output]:
    """The trees over exactly the words of each source; `text.linearise.restore` mends them."""
    tokens = {id: symbol[1:-1] for symbol, id in vocabulary.symbols.items()}
    closed = {token[1:] for token in tokens.values() if token.startswith("/") and token != "/"}
    tags_too = {token[1:] for token in tokens.values() if token.startswith(_BOTH)}
    outputs = []
    for ids, source in zip(sequences, sources, strict=True):
        # A subword of a sentence is no label: it stands for a tag that nobody knows.
        found = [tokens.get(int(id), "UNK") for id in ids]
        tree, repaired = restore(found, _words(source), closed, tags_too)
        outputs.append(Output(str(tree), repaired or not all(int(id) in tokens for id in ids)))
    return outputs


def score(data: Mapping[str, Any], outputs: Sequence[Output], references: Sequence[str]) -> Scored:
    """EVALB's labelled recall, precision and F1 under COLLINS.prm, all lengths; 0 to 100.

    Errors, and sentences skipped because no word of the output counts, are in no other score.
    `repaired_share` is the share of outputs that were no tree over their sentence as found.
    """
    report = evalb(references, [output.text for output in outputs])
    everything = report.all
    return Scored(
        {
            "f1": everything.f1,
            "recall": everything.recall,
            "precision": everything.precision,
            "exact_match": everything.exact_match,
            "tagging_accuracy": everything.tagging_accuracy,
            "average_crossing": everything.average_crossing,
            "error_sentences": everything.errors,
            "skipped_sentences": everything.skipped,
            "repaired_share": float(np.mean([output.repaired for output in outputs])),
        },
        f"F1 {everything.f1:.1f} ({everything.errors + everything.skipped} of {len(outputs)} "
        "sentences left out)",
        report.text(),
    )


def _trees(lines: Sequence[str]) -> Iterator[trees.Tree]:
    return trees.iterate_trees(lines, "the targets")


def _words(sentence: str) -> list[str]:
    return [word for word in one_line(sentence).split(" ") if word]


def _symbol(token: str) -> str:
    return f"[{token}]"
