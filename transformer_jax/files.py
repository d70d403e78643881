"""Text files read line by line, and files that are written to their end or not at all."""

import gzip
import uuid
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from transformer_jax.errors import InputError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file, as `decode_lines` gives them; a name that ends in `.gz` is gzip.

    Raises:
      InputError: the file is missing, unreadable, broken, or not UTF-8.
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from decode_lines(file, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path}: broken gzip ({error}); copy or compress the file again"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def decode_lines(file: Iterable[bytes], name: str) -> Iterator[str]:
    r"""The lines of an open binary file, without the "\n" that alone ends them.

    A carriage return before it goes too, and a byte order mark at the start. `name` is for errors.

    Raises:
      InputError: a line is not UTF-8.
    """
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}, line {number}: not UTF-8 ({error.reason}); convert it to UTF-8"
            ) from None


def write(path: Path, content: bytes) -> None:
    """Writes the file under another name, then renames it: no reader sees a part of it.

    Folders that are missing are made.

    Raises:
      OSError: nothing was written, and what was there is there still.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
