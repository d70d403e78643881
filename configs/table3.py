"""The rows of Table 3, each one line over base, in three sizes.

    python train.py --config=configs/table3.py:A.h1
    python train.py --config=configs/table3.py:A.h1,size=small
    python train.py --config=configs/table3.py:A.h1,size=text --config.data.directory=DIR

The paper prints no rows for restricted self-attention (section 4), `local.rR` with any R (an even
one acts as the next odd one), and dot products without 1 / sqrt(d_k) (3.2.1), `unscaled`; nor for
LayerNorm first, `prenorm`.

Sizes:
  paper: base as in the paper, on English-German. Table 3 is measured on newstest2013 with one
    checkpoint: `python eval.py --workdir=... --split=dev --average=1`.
  small: the embedded corpus; every width a quarter, every depth a half, of base and of the row.
  text: the files of `configs/text.py`; every width and every depth a half.
Heads, rates and the neighbourhood stay what they are; the steps of `big` are three times base's.
"""

import re
from fractions import Fraction
from typing import Any

from ml_collections import ConfigDict

from configs import quickstart, text, wmt14_ende_base

# Row -> what it changes in base, at the paper's size. d_k and d_v are d_model / h unless given.
ROWS: dict[str, dict[str, Any]] = {
    "base": {},
    "A.h1": {"model.num_heads": 1},
    "A.h4": {"model.num_heads": 4},
    "A.h16": {"model.num_heads": 16},
    "A.h32": {"model.num_heads": 32},
    "B.dk16": {"model.d_k": 16},
    "B.dk32": {"model.d_k": 32},
    "C.N2": {"model.num_layers": 2},
    "C.N4": {"model.num_layers": 4},
    "C.N8": {"model.num_layers": 8},
    "C.d256": {"model.d_model": 256},
    "C.d1024": {"model.d_model": 1024},
    "C.ff1024": {"model.d_ff": 1024},
    "C.ff4096": {"model.d_ff": 4096},
    "D.drop0": {"model.dropout_rate": 0.0},
    "D.drop2": {"model.dropout_rate": 0.2},
    "D.ls0": {"loss.label_smoothing": 0.0},
    "D.ls2": {"loss.label_smoothing": 0.2},
    "E.learned": {"model.positions": "learned"},
    "big": {
        "model.d_model": 1024,
        "model.d_ff": 4096,
        "model.num_heads": 16,
        "model.dropout_rate": 0.3,
        "steps": 300_000,
    },
    "unscaled": {"model.scale_scores": False},
    "prenorm": {"model.norm": "pre"},
}

SIZES = ("paper", "small", "text")

_WIDTHS = ("model.d_model", "model.d_ff", "model.d_k", "model.d_v")
_DEPTHS = ("model.num_layers",)


def get_config(argument: str = "base") -> ConfigDict:
    """The configuration of "ROW" or "ROW,size=SIZE"."""
    row, _, option = argument.partition(",")
    size = option.removeprefix("size=") if option else "paper"
    if size not in SIZES or option == size:
        raise ValueError(f"no option {option!r} of Table 3: give size= and {_any_of(SIZES)}")
    config, width, depth = {"paper": _paper, "small": _small, "text": _text}[size]()
    config.name = f"table3/{size}/{row}"
    base = wmt14_ende_base.get_config()
    scales = {"steps": Fraction(config.steps, base.steps)}
    scales |= dict.fromkeys(_WIDTHS, width) | dict.fromkeys(_DEPTHS, depth)
    fields = {field: getattr(base.model, field.split(".")[1]) for field in (*_WIDTHS, *_DEPTHS)}
    fields |= {"model.num_heads": base.model.num_heads} | _changes(row)
    for field, value in fields.items():
        if field in scales and value is not None:
            value = int(value * scales[field])
        config.update_from_flattened_dict({field: value})
    return config


def _changes(row: str) -> dict[str, Any]:
    if local := re.fullmatch(r"local\.r([1-9]\d*)", row):
        return {"model.neighbourhood": int(local[1])}
    if row not in ROWS:
        raise ValueError(f"no row {row!r} in Table 3: give {_any_of([*ROWS, 'local.rR'])}")
    return ROWS[row]


def _any_of(names) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


def _paper() -> tuple[ConfigDict, Fraction, Fraction]:
    config = wmt14_ende_base.get_config()
    config.checkpoint.average = 1
    return config, Fraction(1), Fraction(1)


def _small() -> tuple[ConfigDict, Fraction, Fraction]:
    config = quickstart.get_config()
    config.steps = 3000
    config.batch.tokens = 512  # updates are what so short a training lacks
    config.model.dropout_rate = 0.1
    # A peak of 0.0017 at base's width: the rate of a row follows d_model^-0.5, as in equation 3.
    config.optimizer.peak = None
    config.optimizer.factor = 0.28
    config.optimizer.warmup_steps = 200
    config.checkpoint.every_steps = 1000
    config.checkpoint.keep = 1
    config.checkpoint.average = 1
    config.report.every_steps = 100
    config.report.evaluate_every_steps = 0
    return config, Fraction(1, 4), Fraction(1, 2)


def _text() -> tuple[ConfigDict, Fraction, Fraction]:
    config = text.get_config()
    config.optimizer.peak = None
    config.optimizer.factor = 0.715  # a peak of 1e-3 at base's width
    config.checkpoint.average = 1
    config.checkpoint.keep = 1
    return config, Fraction(1, 2), Fraction(1, 2)
