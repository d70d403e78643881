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
      InputError: the model file that `config.subword` names is not the one in `path`, or has not
        all of the `symbols`; or as `subword.train`.
    """
    named = Subword.load(settings["model_file"]) if settings["model_file"] else None
    if named is not None and (missing := [s for s in symbols if s not in named.symbols]):
        raise InputError(
            f"{settings['model_file']} has no symbol for {' '.join(missing[:10])}: "
            "learn a vocabulary from these trees"
        )
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
        sentences,
        path,
        settings["vocab_size"],
        symbols=symbols,
        max_sentences=settings["sample_sentences"],
    )
