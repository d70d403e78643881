"""Figures 3 to 5: what the heads of a layer look at in a sentence pair, as maps and as lines."""

import argparse
import itertools
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float32

from transformer_jax.batch import EOS
from transformer_jax.data.sources import Pairs
from transformer_jax.errors import InputError
from transformer_jax.paper import plots
from transformer_jax.translator import Translator

# More subwords than this, side by side, cannot be read.
_MAX_TOKENS = 50

_SPACE = "\u2423"

KINDS = {
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
    _check_length("source", source_ids)
    if target is None:
        target_ids = translator.search(translator.params, [source_ids])[0][0].ids
    else:
        try:
            target_ids = task.encode(vocabulary, Pairs([source], [target])).target[0]
        except (InputError, ValueError) as error:  # no tree, or several
            raise InputError(f"--target cannot be drawn: {error}; give one tree") from None
    _check_length("target", target_ids)
    tokens = [np.append(ids, EOS)[None].astype(np.int32) for ids in (source_ids, target_ids)]
    apply = jax.jit(partial(model.apply, mutable=["attention"]))
    _, sown = apply({"params": translator.params}, *tokens)
    stack, sublayer = KINDS[kind]
    [weights] = sown["attention"][f"{stack}_{layer - 1}"][sublayer]["weights"]
    source_labels, predicted = ([*_labels(translator, ids[0, :-1]), "</s>"] for ids in tokens)
    fed = ["<s>", *predicted[:-1]]
    looking, seen = {
        "encoder": (source_labels, source_labels),
        "decoder": (fed, fed),
        "cross": (predicted, source_labels),
    }[kind]
    return Attention(np.asarray(weights, np.float32)[0, list(heads)], looking, seen)


def _check_length(name, ids):
    if len(ids) >= _MAX_TOKENS:
        raise InputError(
            f"the {name} has {len(ids) + 1} subwords with </s>; at most {_MAX_TOKENS} can be "
            "drawn: give a shorter sentence"
        )


def _check(name, numbers, first, last):
    for number in numbers:
        if not first <= number <= last:
            raise InputError(f"{name} is {number}: this model has {first} to {last}")


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
