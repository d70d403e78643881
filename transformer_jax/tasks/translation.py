"""Translation: where the pairs come from, their vocabulary, and how a translation is scored."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_jax.data import synthetic
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.data.sources import Pairs, drop_empty, read_parallel
from transformer_jax.errors import InputError
from transformer_jax.scoring.bleu import bleu, chrf, compound_bleu
from transformer_jax.text import subword
from transformer_jax.text.subword import Subword

SPLITS = ("train", "dev", "test")


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
    score(data, [""], [""])


def _paths(data: Mapping[str, Any], split: str, side: str) -> list[Path]:
    return [Path(data["directory"]) / name for name in data[split][side].split(",")]


def prepare_vocabulary(settings: Mapping[str, Any], pairs: Pairs, path: Path) -> Subword:
    """The vocabulary of a run, kept in `path`: there already, copied, or learned from `pairs`.

    A model file named in `config.subword` that is not the one in `path` is an error.
    """
    named = Subword.load(settings["model_file"]) if settings["model_file"] else None
    if path.exists():
        kept = Subword.load(path)
        if named is not None and named.fingerprint != kept.fingerprint:
            raise InputError(
                f"{path} is not the vocabulary {settings['model_file']}: give another --workdir"
            )
        return kept
    if named is not None:
        named.save(path)
        return named
    return subword.train(
        (sentence for side in pairs for sentence in side),
        path,
        settings["vocab_size"],
        max_sentences=settings["sample_sentences"],
    )


def encode(vocabulary: Subword, pairs: Pairs) -> TokenPairs:
    """The pairs as ids."""
    source, target = (Ragged.from_sequences(vocabulary.encode(side)) for side in pairs)
    return TokenPairs(source, target)


def score(
    data: Mapping[str, Any], hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, float | str]:
    """BLEU with its signature, the paper's compound-split BLEU, and chrF, from 0 to 100."""
    measured = bleu(hypotheses, references, tokenize=data["tokenize"])
    compound = compound_bleu(hypotheses, references, data["target_language"])
    return {
        "bleu": measured.score,
        "bleu_signature": measured.signature,
        "bleu_compound": compound.score,
        "bleu_compound_signature": compound.signature,
        "chrf": chrf(hypotheses, references).score,
    }
