"""Files that are written to their end or not at all."""

import uuid
from pathlib import Path


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
