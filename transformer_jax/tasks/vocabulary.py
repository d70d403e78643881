"""Where a run's vocabulary comes from."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_jax.errors import InputError
from transformer_jax.text import subword
from transformer_jax.text.subword import Subword


def prepare(
    settings: Mapping[str, Any],
    sentences: Iterable[str],
    path: Path,
    symbols: Sequence[str] = (),
) -> Subword:
    """The vocabulary kept in `path`: there already, copied from a named file, or learned.

    `settings` is `config.subword`. A learned one has the `symbols` beside the subwords of
    `sentences`, `vocab_size` in all.

    Raises:
      InputError: the model file that `config.subword` names is not the one in `path`; one of them
        has not all of the `symbols`; or as `subword.train`.
    """
    named = Subword.load(settings["model_file"]) if settings["model_file"] else None
    if named is not None:
        _check_symbols(named, settings["model_file"], symbols)
    if path.exists():
        kept = Subword.load(path)
        _check_symbols(kept, path, symbols)
        if named is not None and named.fingerprint != kept.fingerprint:
            raise InputError(
                f"{path} is not the vocabulary {settings['model_file']}: give another --workdir"
            )
        return kept
    if named is not None:
        named.save(path)
        return named
    return subword.train(
        sentences,
        path,
        settings["vocab_size"],
        symbols=symbols,
        max_sentences=settings["sample_sentences"],
    )


def _check_symbols(vocabulary: Subword, name: str | Path, symbols: Sequence[str]) -> None:
    missing = [symbol for symbol in symbols if symbol not in vocabulary.symbols]
    if missing:
        raise InputError(
            f"{name} has no symbol for {' '.join(missing[:10])}: it was learned from other trees; "
            "give another --workdir or subword.model_file"
        )
