"""Parallel text: files whose lines with the same number are translations of each other."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from transformer_jax.errors import InputError
from transformer_jax.text.subword import one_line

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
    return [line for path in paths for line in _lines(Path(path))]


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


def decode_lines(file: Iterable[bytes], name: str) -> Iterator[str]:
    """The lines of an open binary file, as `read_lines` describes; `name` is for errors.

    Raises:
      InputError: a line is not UTF-8.
    """
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            yield one_line(line.removesuffix(b"\n").removesuffix(b"\r").decode())
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}, line {number}: not UTF-8 ({error.reason}); convert it to UTF-8"
            ) from None


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from decode_lines(file, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}: broken gzip ({error}); copy or compress the file again"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _names(paths: str | Path | Sequence[str | Path]) -> str:
    paths = [paths] if isinstance(paths, str | Path) else paths
    return " + ".join(map(str, paths)) or "an empty list of files"
