"""Figures 3-5 of any layer, head and sentence; positions, learning rates, training curves.

Each is written to --out as PNG and SVG.
"""

import argparse
import itertools
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float32

from transformer_jax.batch import EOS
from transformer_jax.data.sources import Pairs
from transformer_jax.errors import InputError
from transformer_jax.ops.positions import sinusoidal_positions
from transformer_jax.ops.schedule import noam_schedule
from transformer_jax.paper import plots
from transformer_jax.translator import Translator

# More subwords than this, side by side, cannot be read.
_MAX_TOKENS = 50

_SPACE = "\u2423"

_KINDS = {
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


# What the positions are that look, and those that are looked at.
_SIDES = {
    "encoder": ("source", "source"),
    "decoder": ("input of the decoder", "input of the decoder"),
    "cross": ("predicted", "source"),
}


class Attention(NamedTuple):
    """What some heads of a layer look at: weights [head, from, to], and a label a position.

    The positions of a decoder's self-attention are labelled with its input, which begins with
    <s>; those that cross-attention looks from, with the subword that is predicted there.
    """

    weights: Float32[np.ndarray, "H T S"]
    looking: list[str]
    seen: list[str]


def attention(
    translator: Translator,
    source: str,
    target: str | None,
    kind: str,
    layer: int,
    heads: Sequence[int],
) -> Attention:
    """The attention weights of a sentence pair, `layer` counted from 1 and `heads` from 0.

    Without a `target` it is the model's own translation. `kind` is "encoder" or "decoder" for
    self-attention, "cross" for the decoder's attention to the source.

    Raises:
      InputError: there is no such layer or head, or a sentence is empty or too long to draw.
    """
    model = translator.search.model
    _check("--layer", [layer], 1, model.config.num_layers)
    _check("--heads", heads, 0, model.config.num_heads - 1)
    task, vocabulary = translator.task, translator.vocabulary
    for name, sentence in (("--source", source), ("--target", target)):
        if sentence is not None and not sentence.strip():
            raise InputError(f"{name} is empty: give a sentence")
    [source_ids] = task.encode_sources(vocabulary, [source])
    if target is None:
        target_ids = translator.search(translator.params, [source_ids])[0][0].ids
    else:
        target_ids = task.encode(vocabulary, Pairs([source], [target])).target[0]
    tokens = [np.append(ids, EOS)[None].astype(np.int32) for ids in (source_ids, target_ids)]
    for name, ids in zip(("source", "target"), tokens, strict=True):
        if ids.size > _MAX_TOKENS:
            raise InputError(
                f"the {name} has {ids.size} subwords with </s>; at most {_MAX_TOKENS} can be drawn"
            )
    apply = jax.jit(partial(model.apply, mutable=["attention"]))
    _, sown = apply({"params": translator.params}, *tokens)
    stack, sublayer = _KINDS[kind]
    [weights] = sown["attention"][f"{stack}_{layer - 1}"][sublayer]["weights"]
    source_labels, predicted = ([*_labels(translator, ids[0, :-1]), "</s>"] for ids in tokens)
    fed = ["<s>", *predicted[:-1]]
    looking, seen = {
        "encoder": (source_labels, source_labels),
        "decoder": (fed, fed),
        "cross": (predicted, source_labels),
    }[kind]
    return Attention(np.asarray(weights, np.float32)[0, list(heads)], looking, seen)


def _check(name, numbers, first, last):
    for number in numbers:
        if not first <= number <= last:
            raise InputError(f"{name} has {number}: this model has {first} to {last}")


def _labels(translator, ids):
    # Labels of trees are symbols without a text; a subword that is nothing but the space before
    # a word has none either.
    symbols = {id: symbol for symbol, id in translator.vocabulary.symbols.items()}
    texts = translator.vocabulary.decode(ids[:, None])
    return [symbols.get(int(id), text or _SPACE) for id, text in zip(ids, texts, strict=True)]


def draw_attention(arguments: argparse.Namespace) -> None:
    plots.prepare(arguments.out)
    translator = Translator.load(arguments.workdir)
    config = translator.search.model.config
    layer = min(5, config.num_layers) if arguments.layer is None else arguments.layer
    heads = arguments.heads or range(min(2, config.num_heads))
    found = attention(translator, arguments.source, arguments.target, arguments.kind, layer, heads)
    rows = list(range(len(found.looking)))
    if arguments.word is not None:
        rows = _places(found.looking, arguments.word)
        if len(heads) > len(plots.COLOURS):
            raise InputError(
                f"--word draws up to {len(plots.COLOURS)} heads, a colour each, not {len(heads)}"
            )
    sublayer = "encoder-decoder" if arguments.kind == "cross" else f"{arguments.kind} self-"
    title = f"{sublayer} attention, layer {layer} of {config.num_layers}".replace("- ", "-")
    name = f"attention_{arguments.kind}_{layer}"
    _draw_maps(found, heads, title, _SIDES[arguments.kind], arguments.out / name)
    together = arguments.word is not None
    _draw_lines(found, heads, rows, together, title, arguments.out / f"{name}_lines")


def _places(labels, word):
    """The positions of the word, which may be several subwords, each time it occurs."""
    places = {
        place
        for start, stop in itertools.combinations(range(len(labels) + 1), 2)
        if "".join(labels[start:stop]) == word
        for place in range(start, stop)
    }
    if not places:
        raise InputError(f"--word {word!r} is not in the sentence: {' '.join(labels)}")
    return sorted(places)


def _draw_maps(found, heads, title, sides, stem):
    """A heat map a head: rows look at columns."""
    rows, columns = len(found.looking), len(found.seen)
    label = 0.075 * max(map(len, found.looking)) + 0.4
    beside = max(1, min(len(heads), int((plots.WIDTH - 0.9) / (0.145 * columns + label))))
    cell = min(0.3, ((plots.WIDTH - 0.9) / beside - label) / columns)
    above = 0.075 * max(map(len, found.seen)) + 0.5
    deep = -(-len(heads) // beside)
    top = float(found.weights.max())
    with plots.drawing(stem, deep * (rows * cell + above) + 0.6) as figure:
        figure.suptitle(title)
        axes = plots.panels(figure, deep, beside)
        images = []
        for number, (head, weights) in enumerate(zip(heads, found.weights, strict=True)):
            axis = axes[number]
            images.append(axis.imshow(weights, cmap="Blues", vmin=0, vmax=top))
            axis.set_title(f"head {head}")
            # A subword may be a dollar sign, which is no beginning of a formula.
            axis.set_xticks(range(columns), found.seen, rotation=90, parse_math=False)
            axis.set_yticks(range(rows), found.looking, parse_math=False)
            axis.set_ylabel(f"from: {sides[0]}" if number % beside == 0 else "")
            axis.set_xlabel(f"to: {sides[1]}" if number + beside >= len(heads) else "")
            axis.tick_params(length=0)
            axis.spines[["top", "right"]].set_visible(True)
        for axis in axes[len(heads) :]:
            axis.remove()
        figure.colorbar(
            images[0],
            ax=axes[: len(heads)],
            label="attention weight",
            shrink=0.6 / deep,
            aspect=15,
            anchor=(0, 1),
        )


def _draw_lines(found, heads, rows, together, title, stem):
    """Two columns of words, lines from those of `rows`, a line's opacity its weight.

    A panel a head, or all heads `together`, with squares that repeat the weights in the head's
    colour.
    """
    left, right = (0.085 * max(map(len, labels)) + 0.1 for labels in (found.looking, found.seen))
    right += 0.13 * len(heads) if together else 0
    beside = 1 if together else max(1, min(len(heads), int(plots.WIDTH / (left + right + 0.9))))
    deep = 1 if together else -(-len(heads) // beside)
    between = min(plots.WIDTH / beside - left - right - 0.1, 3.5)
    tall = max(len(found.looking), len(found.seen))
    with plots.drawing(stem, deep * (0.19 * tall + 0.4) + (0.7 if together else 0.4)) as figure:
        figure.suptitle(f"{title}, left to right")
        axes = plots.panels(figure, deep, beside)
        handles = []
        for number, (head, weights) in enumerate(zip(heads, found.weights, strict=True)):
            axis = axes[0 if together else number]
            colour = plots.COLOURS[number % len(plots.COLOURS)]
            # Rounding may take a weight above 1, which is no opacity.
            opacity = np.minimum(weights, 1.0)
            # Lines of several heads between the same words lie side by side.
            shift = 0.1 * (number - (len(heads) - 1) / 2) if together else 0
            for row, column in itertools.product(rows, range(len(found.seen))):
                if opacity[row, column] > 0.01:  # a fainter line would not be seen
                    ends = [row + shift, column + shift]
                    axis.plot([0, 1], ends, color=colour, alpha=opacity[row, column])
            if together:
                place = 1 + 0.13 * (number + 0.7) / between
                for column, alpha in enumerate(opacity[rows].mean(0)):
                    axis.plot(place, column, "s", color=colour, alpha=alpha, markeredgewidth=0)
                handles += axis.plot([], [], color=colour, label=f"head {head}")
            else:
                axis.set_title(f"head {head}", color=colour)
        used = 1 if together else len(heads)
        for axis in axes[:used]:
            for row, text in enumerate(found.looking):
                axis.text(
                    -0.08 / between,
                    row,
                    text,
                    ha="right",
                    va="center",
                    size=9,
                    weight="bold" if together and row in rows else "normal",
                    parse_math=False,
                )
            edge = 1 + (right - 0.085 * max(map(len, found.seen))) / between
            for column, text in enumerate(found.seen):
                axis.text(edge, column, text, ha="left", va="center", size=9, parse_math=False)
            spare = (plots.WIDTH / beside - left - right - between) / 2
            axis.set_xlim(-(left + spare) / between, 1 + (right + spare) / between)
            axis.set_ylim(tall - 0.5, -0.5)
            axis.set_axis_off()
        for axis in axes[used:]:
            axis.remove()
        if together:
            figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


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
        choices=_KINDS,
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

    figure = add("training", draw_training, "Loss, perplexity and BLEU of runs against steps.")
    figure.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder")


def run(arguments: argparse.Namespace) -> None:
    arguments.draw(arguments)
