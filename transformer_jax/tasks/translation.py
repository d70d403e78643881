"""Translation: where the pairs come from, their vocabulary, and how a translation is scored."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32

from transformer_jax.data import synthetic
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.data.sources import Pairs, drop_empty, read_parallel
from transformer_jax.errors import InputError
from transformer_jax.scoring.bleu import bleu, chrf, compound_bleu
from transformer_jax.tasks import vocabulary as vocabularies
from transformer_jax.tasks.task import SPLITS, Output, Scored
from transformer_jax.text.subword import Subword


def read_pairs(data: Mapping[str, Any], split: str) -> tuple[Pairs, int]:
    """The sentence pairs of a split, as `config.data` says, and how many were left out.

    Pairs that are empty on one side are left out in training and nowhere else.
    """
    if split not in SPLITS:
        raise InputError(f"no split {split!r}: give one of {', '.join(SPLITS)}")
    if data["corpus"] == "synthetic":
        english, german = zip(*synthetic.splits()[split], strict=True)
        return Pairs(list(english), list(german)), 0
    if data["corpus"] != "text":
        raise InputError(f"data.corpus is {data['corpus']!r}: give 'text' or 'synthetic'")
    pairs = read_parallel(*(_paths(data, split, side) for side in ("source", "target")))
    if split != "train":
        return pairs, 0
    kept, dropped = drop_empty(pairs)
    if not kept.source:
        raise InputError(
            f"all {dropped} training pairs in {data['directory']} are empty on one side: "
            "give a corpus with text"
        )
    return kept, dropped


def check(data: Mapping[str, Any]) -> None:
    """Finds out now, not after hours of training, that `score` cannot work as `config.data` says.

    Raises:
      InputError: the tokenizer of BLEU or the target language is unknown.
    """
    score(data, [Output("")], [""])


def _paths(data: Mapping[str, Any], split: str, side: str) -> list[Path]:
    return [Path(data["directory"]) / name for name in data[split][side].split(",")]


def prepare_vocabulary(settings: Mapping[str, Any], pairs: Pairs, path: Path) -> Subword:
    """One vocabulary for both languages (section 5.1), kept in `path`; see `vocabulary.prepare`."""
    return vocabularies.prepare(settings, (sentence for side in pairs for sentence in side), path)


def encode_sources(vocabulary: Subword, sentences: Sequence[str]) -> list[Int32[np.ndarray, " _"]]:
    """The ids of each sentence."""
    return vocabulary.encode(sentences)


def encode(vocabulary: Subword, pairs: Pairs) -> TokenPairs:
    """The pairs as ids."""
    source, target = (Ragged.from_sequences(vocabulary.encode(side)) for side in pairs)
    return TokenPairs(source, target)


def cut(
    vocabulary: Subword, ids: Int32[np.ndarray, " N"], most: int
) -> list[Int32[np.ndarray, " _"]]:
    """Pieces of at most `most` ids, of similar length, cut between words where that can be."""
    return vocabulary.split(ids, most)


def decode(
    vocabulary: Subword, sequences: Sequence[Int32[np.ndarray, " _"]], sources: Sequence[str]
) -> list[Output]:
    """The text of found ids."""
    return [Output(text) for text in vocabulary.decode(sequences)]


def score(data: Mapping[str, Any], outputs: Sequence[Output], references: Sequence[str]) -> Scored:
    """BLEU with its signature, the paper's compound-split BLEU, and chrF, from 0 to 100."""
    hypotheses = [output.text for output in outputs]
    measured = bleu(hypotheses, references, tokenize=data["tokenize"])
    compound = compound_bleu(hypotheses, references, data["target_language"])
    return Scored(
        {
            "bleu": measured.score,
            "bleu_signature": measured.signature,
            "bleu_compound": compound.score,
            "bleu_compound_signature": compound.signature,
            "chrf": chrf(hypotheses, references).score,
        },
        f"BLEU {measured.score:.1f}",
    )
