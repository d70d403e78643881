"""Parallel text: files whose lines with the same number are translations of each other."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from transformer_jax import files
from transformer_jax.errors import InputError
from transformer_jax.text.subword import one_line


class Pairs(NamedTuple):
    """Sentence pairs: `source[i]` and `target[i]` belong together."""

    source: list[str]
    target: list[str]


def read_lines(paths: str | Path | Sequence[str | Path]) -> list[str]:
    r"""The lines of one or several UTF-8 files in order; a name that ends in `.gz` is gzip.

    A line ends at "\n" and nowhere else, so the numbering agrees with `wc` and `paste` even where
    the text has U+2028, U+0085, form feeds or lone carriage returns. A carriage return before the
    "\n" and a byte order mark at the start of a file are removed; then each control character,
    NUL and tab among them, becomes a space (`one_line`). Nothing else changes and no line is left
    out.

    Raises:
      InputError: a file is missing, unreadable, broken, or not UTF-8.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    return [one_line(line) for path in paths for line in files.read_lines(path)]


def read_parallel(
    source_paths: str | Path | Sequence[str | Path],
    target_paths: str | Path | Sequence[str | Path],
) -> Pairs:
    """Reads both sides with `read_lines`; nothing is dropped.

    Raises:
      InputError: as `read_lines`; the sides differ in their number of lines; there are none.
    """
    pairs = Pairs(read_lines(source_paths), read_lines(target_paths))
    source_names, target_names = _names(source_paths), _names(target_paths)
    if len(pairs.source) != len(pairs.target):
        raise InputError(
            f"{source_names} has {len(pairs.source)} lines but {target_names} has "
            f"{len(pairs.target)}; line i of one must be the translation of line i of the other"
        )
    if not pairs.source:
        raise InputError(f"{source_names} and {target_names} have no lines; give a text to read")
    return pairs


def drop_empty(pairs: Pairs) -> tuple[Pairs, int]:
    """The pairs with text on both sides, and how many had none. For training only."""
    kept = [
        (source, target)
        for source, target in zip(pairs.source, pairs.target, strict=True)
        if source.strip() and target.strip()
    ]
    filled = Pairs([source for source, _ in kept], [target for _, target in kept])
    return filled, len(pairs.source) - len(kept)


def _names(paths: str | Path | Sequence[str | Path]) -> str:
    paths = [paths] if isinstance(paths, str | Path) else paths
    return " + ".join(map(str, paths)) or "an empty list of files"
