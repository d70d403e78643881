"""Figures 3-5 of any layer, head and sentence; positions, learning rates, training curves.

Each is written to --out as PNG and SVG.
"""

import argparse
import itertools
import json
from pathlib import Path

import numpy as np

from transformer_jax.errors import InputError
from transformer_jax.ops.positions import sinusoidal_positions
from transformer_jax.ops.schedule import noam_schedule
from transformer_jax.paper import plots
from transformer_jax.paper.attention import KINDS, draw_attention


def draw_positions(arguments: argparse.Namespace) -> None:
    for name in ("d_model", "length"):
        if getattr(arguments, name) < 2:
            raise InputError(f"--{name} is {getattr(arguments, name)}: give 2 or more")
    table = sinusoidal_positions(arguments.length, arguments.d_model)
    # From the shortest wave to one that is nearly straight; pairs of sine and cosine are one.
    dimensions = sorted({2 * round(share * arguments.d_model / 2) for share in (0, 0.1, 0.2, 0.35)})
    with plots.drawing(arguments.out / "positions", 5.6) as figure:
        top, bottom = plots.panels(figure, 2, 1, sharex=True)
        image = top.imshow(
            table.T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
        )
        top.set_ylabel("dimension")
        figure.colorbar(image, ax=top, label="PE(pos, dimension)", ticks=[-1, 0, 1])
        for dimension, colour in zip(dimensions, plots.COLOURS, strict=False):
            bottom.plot(table[:, dimension], color=colour, label=f"dimension {dimension}")
        bottom.set(xlabel="position", ylabel="PE(pos, dimension)", yticks=[-1, 0, 1])
        bottom.grid(True, axis="y")
        figure.legend(loc="outside lower center", ncols=len(dimensions))


def draw_schedule(arguments: argparse.Namespace) -> None:
    for name in ("d_model", "warmup"):
        if min(getattr(arguments, name)) < 1:
            given = ",".join(map(str, getattr(arguments, name)))
            raise InputError(f"--{name} is {given}: give numbers of 1 or more")
    if arguments.steps < 2:
        raise InputError(f"--steps is {arguments.steps}: give 2 or more")
    step = np.arange(1, arguments.steps + 1)
    with plots.drawing(arguments.out / "schedule", 4.0) as figure:
        [axis] = plots.panels(figure, 1, 1)
        # The curves of one d_model are the same after the warm-up: dashes over a line.
        for d_model, colour in zip(arguments.d_model, itertools.cycle(plots.COLOURS)):
            for warmup, style in zip(arguments.warmup, itertools.cycle(["-", "--", ":", "-."])):
                schedule = noam_schedule(d_model, warmup)
                peak = float(schedule(warmup - 1))
                label = f"d_model {d_model}, warm-up {warmup:,}: peak {peak:.2e}"
                rates = np.asarray(schedule(step - 1))
                axis.plot(step, rates, style, color=colour, label=label)
                if warmup <= arguments.steps:
                    axis.plot(warmup, peak, "o", color=colour, markersize=5)
        axis.set(xlabel="step", ylabel="learning rate", ylim=(0, None), xlim=(0, arguments.steps))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        axis.grid(True, axis="y")
        axis.legend(loc="upper right")


# What is drawn of metrics.jsonl, a panel each: its label and whether its axis is logarithmic.
_CURVES = {
    "loss": ("training loss (nats),\nlabel-smoothed", False),
    "dev_perplexity": ("perplexity, dev", True),
    "dev_bleu": ("BLEU, dev", False),
    "dev_f1": ("F1, dev", False),
}


def read_curves(run: Path) -> dict[str, tuple[list[float], list[float]]]:
    """The steps and values of each curve in a run's metrics.jsonl; a curve without any is left out.

    Raises:
      InputError: there is no such file, or nothing to draw in it.
    """
    path = run / "metrics.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"cannot read {path}: {reason}; give the folder of a run") from None
    curves = {name: ([], []) for name in _CURVES}
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            for name in curves.keys() & values.keys():
                curves[name][0].append(float(values["step"]))
                curves[name][1].append(float(values[name]))
        except (ValueError, KeyError, TypeError, AttributeError):
            if number < len(lines):  # the last line of a killed run may be cut short
                raise InputError(f"{path}, line {number}: not a line of a run's metrics") from None
    curves = {name: curve for name, curve in curves.items() if curve[0]}
    if not curves:
        raise InputError(f"{path} holds no metrics yet: train longer, or leave this run out")
    return curves


def draw_training(arguments: argparse.Namespace) -> None:
    runs = [read_curves(run) for run in arguments.runs]
    names = [run.resolve().name for run in arguments.runs]
    if len(set(names)) < len(names):
        names = [str(run) for run in arguments.runs]
    names = [name.replace("$", r"\$") for name in names]
    shown = [name for name in _CURVES if any(name in run for run in runs)]
    with plots.drawing(arguments.out / "training", 2.0 * len(shown) + 0.8) as figure:
        axes = plots.panels(figure, len(shown), 1, sharex=True)
        for axis, curve in zip(axes, shown, strict=True):
            label, logarithmic = _CURVES[curve]
            for number, (run, name) in enumerate(zip(runs, names, strict=True)):
                if curve in run:
                    mark = "." if len(run[curve][0]) < 50 else None
                    colour = plots.COLOURS[number % len(plots.COLOURS)]
                    axis.plot(*run[curve], marker=mark, color=colour, label=name)
            axis.set_ylabel(label)
            low, high = axis.dataLim.intervaly
            if logarithmic and high > 3 * low > 0:
                axis.set_yscale("log", subs=[])
                digits = (1, 2, 3, 5, 7) if high < 30 * low else (1, 3)
                ticks = [digit * 10.0**power for power in range(9) for digit in digits]
                axis.set_yticks([tick for tick in ticks if low <= tick <= high])
                axis.yaxis.set_major_formatter("{x:,.0f}")
            axis.grid(True, axis="y")
        axes[-1].set_xlabel("step")
        axes[-1].xaxis.set_major_formatter("{x:,.0f}")
        figure.align_ylabels()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(runs), 4))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    figures = parser.add_subparsers(dest="figure", metavar="KIND", required=True)

    def add(name, draw, help):
        figure = figures.add_parser(name, help=help, description=help)
        figure.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder")
        figure.set_defaults(draw=draw)
        return figure

    figure = add("attention", draw_attention, "Heat maps and line drawings, as Figures 3 to 5.")
    figure.add_argument("--workdir", type=Path, required=True, metavar="RUN", help="a trained run")
    figure.add_argument("--source", required=True, metavar="TEXT", help="the sentence")
    figure.add_argument("--target", metavar="TEXT", help="default: the run's translation")
    figure.add_argument(
        "--kind",
        choices=KINDS,
        default="encoder",
        help="self-attention of the encoder (default) or decoder, or the decoder's to the source",
    )
    figure.add_argument(
        "--layer", type=int, metavar="N", help="from 1; default 5 as in Figures 3 to 5, or the last"
    )
    figure.add_argument(
        "--heads", type=plots.whole_numbers, metavar="N,N,...", help="from 0; default 0,1"
    )
    figure.add_argument("--word", metavar="WORD", help="draw the lines of this word only")

    figure = add("positions", draw_positions, "The positional encoding of section 3.5.")
    figure.add_argument("--d_model", type=int, default=128, metavar="N")
    figure.add_argument("--length", type=int, default=100, metavar="N")

    figure = add("schedule", draw_schedule, "The learning rates of equation 3.")
    numbers = {"type": plots.whole_numbers, "metavar": "N,N,..."}
    figure.add_argument("--d_model", default=[512, 1024], **numbers)
    figure.add_argument("--warmup", default=[4000, 8000], **numbers)
    figure.add_argument("--steps", type=int, default=40_000, metavar="N")

    figure = add("training", draw_training, "Loss, perplexity and scores of runs against steps.")
    figure.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder")


def run(arguments: argparse.Namespace) -> None:
    arguments.draw(arguments)
