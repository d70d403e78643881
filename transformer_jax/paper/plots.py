"""What the drawings share: matplotlib imported when needed, one style, files of equal bytes.

Figures are as wide as the README shows them, one inch to about 100 of its pixels.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_jax.errors import InputError

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

WIDTH = 8.3  # inches

# Okabe and Ito's, which colour-blind readers tell apart; the yellow is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#666666"

_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "transformer_jax",
}


def whole_numbers(text: str) -> list[int]:
    """The list that an option such as --n=64,128 gives; for argparse's `type`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of whole numbers such as 1,2,3"
        ) from None


def prepare(folder: Path) -> None:
    """Makes the folder, and sees that drawing is possible before anything is computed.

    Raises:
      InputError: matplotlib is not installed, or the folder cannot be made.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("figures need matplotlib: pip install -e '.[plot]'") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write figures to {folder}: {error.strerror}; give a folder"
        ) from None


@contextmanager
def drawing(stem: Path, height: float) -> Iterator["matplotlib.figure.Figure"]:
    """A figure of `height` inches to draw on; it is then written to stem.png and stem.svg.

    `stem` may end in either already. Says which files it wrote.

    Raises:
      InputError: as `prepare`, or a file cannot be written.
    """
    prepare(stem.parent)
    if stem.suffix in (".png", ".svg"):
        stem = stem.with_suffix("")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), dpi=200, layout="constrained")
        yield figure
        # Without the date and the version, equal drawings are equal files.
        for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
            path = stem.parent / (stem.name + suffix)
            try:
                figure.savefig(path, metadata=metadata)
            except OSError as error:
                raise InputError(f"cannot write {path}: {error.strerror}") from None
            print(path)


def panels(
    figure: "matplotlib.figure.Figure", rows: int, columns: int, sharex: bool = False
) -> Sequence["matplotlib.axes.Axes"]:
    """rows * columns axes, row by row; those that nothing is drawn on should be removed."""
    return figure.subplots(rows, columns, squeeze=False, sharex=sharex).ravel().tolist()
