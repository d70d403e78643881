"""What the tables share: Markdown, and the scores of a run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_jax.errors import InputError


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns, the first to the left and the others to the right."""
    table = [tuple(header), *map(tuple, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*table, strict=True)]
    rules = ("-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:]))
    lines = []
    for first, *others in (table[0], rules, *table[1:]):
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append(f"| {' | '.join([first.ljust(widths[0]), *cells])} |")
    return "\n".join(lines)


def read_scores(file: Path, *numbers: str) -> dict[str, Any]:
    """What `eval.py` wrote to `eval/<split>.json`, with these numbers and `averaged_steps` in it.

    Raises:
      InputError: the file cannot be read, or has no such numbers.
    """
    try:
        scores = json.loads(file.read_text(encoding="utf-8"))
        for value in (max(scores["averaged_steps"]), *(scores[name] for name in numbers)):
            float(value)
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, OSError):
            why = error.strerror
        else:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"cannot read the scores in {file}: {why}; score it: "
            f"python eval.py --workdir={file.parents[1]} --split={file.stem}"
        ) from None
    return scores


def bleu_name(evaluations: Iterable[Mapping[str, Any]]) -> str:
    """`bleu_compound`, the paper's measure, if all evaluations have it; otherwise `bleu`."""
    return "bleu_compound" if all("bleu_compound" in scores for scores in evaluations) else "bleu"
