"""Table 3: what each part of the model is worth, from trained rows beside the printed ones.

python -m transformer_jax.paper table3 --params                parameters, without training
python -m transformer_jax.paper table3 --launch --size=small   trains what is missing, then as below
python -m transformer_jax.paper table3 --runs=runs/table3/small --plot=table3
"""

import argparse
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from transformer_jax.errors import InputError
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.paper import plots
from transformer_jax.paper.launch import Planned, launch, plan
from transformer_jax.paper.printed import TABLE_3, Variation
from transformer_jax.paper.tables import bleu_name, markdown, read_scores
from transformer_jax.text.subword import Subword

if TYPE_CHECKING:  # it brings all tasks along, and --params should not wait for them
    from transformer_jax.workdir import Workdir

SIZES = ("paper", "small", "text")

PRINTED = {row.name: row for row in TABLE_3}

# The fields of the model in which rows differ.
_OF_ROWS = (
    *("num_layers", "d_model", "d_ff", "num_heads", "d_k", "dropout_rate", "positions"),
    *("neighbourhood", "scale_scores", "norm"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", action="store_true", help="count parameters, without training")
    parser.add_argument("--vocab", type=int, help="of --params: subwords; default: 37,000")
    parser.add_argument("--runs", metavar="DIR", help="finished runs; default: runs/table3/SIZE")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draws the differences to base to FILE.png, .svg"
    )
    parser.add_argument("--launch", action="store_true", help="train the rows missing in DIR first")
    parser.add_argument("--size", choices=SIZES, help="default: small")
    parser.add_argument("--rows", help="of --launch, such as A.h1,C.N2; default: all printed ones")
    parser.add_argument("--seeds", type=int, help="of --launch: runs of base; default: 1")
    parser.add_argument(
        "train_flags",
        nargs="*",
        metavar="FLAG",
        help="of train.py, after --, for --launch",
    )


def run(arguments: argparse.Namespace) -> None:
    given = {
        name for name, value in vars(arguments).items() if value is not None and value is not False
    }
    if arguments.train_flags and not arguments.launch:
        raise InputError(f"{arguments.train_flags[0]!r} is for train.py: give --launch as well")
    if arguments.params:
        for name in ("launch", "runs", "size", "rows", "seeds", "plot"):
            if name in given:
                raise InputError(f"--params counts the printed rows: leave out --{name}")
        print(parameters(_first(arguments.vocab, 37_000)))
        return
    if arguments.vocab is not None:
        raise InputError("--vocab is of --params: give that as well, or leave it out")
    size = arguments.size or "small"
    directory = Path(arguments.runs or f"runs/table3/{size}")
    if arguments.plot is not None:
        plots.prepare(arguments.plot.parent)
    failed = []
    if arguments.launch:
        rows = list(PRINTED) if arguments.rows is None else arguments.rows.split(",")
        seeds = _first(arguments.seeds, 1)
        planned = plan(directory, size, rows, seeds, arguments.train_flags)
        check_planned(directory, planned)
        failed = launch(planned, functools.partial(find_runs, directory))
    else:
        for name in ("rows", "seeds"):
            if name in given:
                raise InputError(f"--{name} is of what to train: give --launch as well")
    try:
        found = find_runs(directory)
    except InputError as error:
        if failed:
            sys.exit(f"transformer_jax.paper: failed: {', '.join(failed)}; {error}")
        raise
    if arguments.size not in (None, found.runs[0].size):
        raise InputError(
            f"{directory} holds runs of size {found.runs[0].size!r}, not {arguments.size!r}"
        )
    print(results(found))
    if arguments.plot is not None:
        plot(found.runs, arguments.plot)
    if failed:
        sys.exit(f"transformer_jax.paper: failed: {', '.join(failed)}")


# Parameters, without training.


def paper_model(row: Variation, vocab_size: int) -> TransformerConfig:
    """The model of a printed row; d_k and d_v are d_model / h where the row leaves them blank."""
    base = PRINTED["base"]
    names = ("num_layers", "d_model", "d_ff", "num_heads", "dropout_rate", "positions")
    columns = {name: _first(getattr(row, name), getattr(base, name)) for name in names}
    return TransformerConfig(vocab_size, d_k=row.d_k, d_v=row.d_v, **columns)


def parameters(vocab_size: int) -> str:
    """The number of parameters of every row, beside the paper's, in millions."""
    models = {row.name: paper_model(row, vocab_size) for row in TABLE_3}
    models["prenorm"] = dataclasses.replace(models["base"], norm="pre")
    ours = {name: count_parameters(model) / 1e6 for name, model in models.items()}
    paper = {row.name: row.parameters for row in TABLE_3} | {"prenorm": None}
    lines = [
        (
            name,
            f"{ours[name]:.1f}",
            _blank(paper[name], "d"),
            _difference(ours[name], paper[name], ".1f"),
            f"{ours[name] - ours['base']:+.1f}",
            _difference(paper[name], paper["base"], "d"),
        )
        for name in models
    ]
    header = ("row", "ours", "paper's", "difference", "ours - base", "paper's - base")
    return (
        f"Parameters in millions, with {vocab_size:,} subwords\n\n{markdown(header, lines)}\n\n"
        "The printed counts are rounded. About 41,100 subwords fit every row but big, which fits\n"
        "36,000. The differences to base (the last two columns) depend on the vocabulary only in\n"
        "the rows that change d_model. prenorm, whose two last LayerNorms are additional, is not\n"
        "printed, nor are unscaled and local.rR, which have the parameters of base."
    )


@functools.cache
def count_parameters(config: TransformerConfig) -> int:
    """From the shapes alone: no array is made, and one layer is traced, as all are alike."""
    tokens = jnp.ones((1, 1), jnp.int32)
    model = Transformer(dataclasses.replace(config, num_layers=1))
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens, tokens)["params"]
    layers = {"encoder_0", "decoder_0"}
    return sum(
        sum(leaf.size for leaf in jax.tree.leaves(part))
        * (config.num_layers if name in layers else 1)
        for name, part in shapes.items()
    )


# The table from runs.


class Setting(NamedTuple):
    """What of a run, or of one that is planned, decides whether it goes with others."""

    path: Path
    size: str
    row: str
    config: Mapping[str, Any]
    vocabulary: str | None = None


class Run(NamedTuple):
    """A finished run of a row: one checkpoint, of its last step, scored on the dev set."""

    path: Path
    size: str
    row: str
    config: Mapping[str, Any]
    vocabulary: Subword
    scores: Mapping[str, Any]

    @property
    def model(self) -> TransformerConfig:
        return TransformerConfig(self.vocabulary.size, **self.config["model"])

    @property
    def setting(self) -> Setting:
        return Setting(self.path, self.size, self.row, self.config, self.vocabulary.fingerprint)


class Found(NamedTuple):
    """The runs below a folder, and for each unfinished one why it is in no table."""

    runs: list[Run]
    unfinished: list[str]


def find_runs(directory: Path) -> Found:
    """The runs of configs/table3.py below a folder that can be compared with each other.

    Raises:
      InputError: there are none, or two of them differ in size, vocabulary, steps or another
        setting that is no row's, or are the same.
    """
    found = _runs_below(directory)
    if not found.runs:
        why = f" ({'; '.join(found.unfinished)})" if found.unfinished else ""
        raise InputError(
            f"{directory} has no finished run of configs/table3.py{why}: train with --launch, or "
            "give another --runs"
        )
    _check_comparable([run.setting for run in found.runs])
    return found


def check_planned(directory: Path, planned: Sequence[Planned]) -> None:
    """Refuses runs that could not be in one table with the finished ones, before any is made.

    Vocabularies are not made yet: `find_runs` compares them.
    """
    new = [Setting(run.workdir.path, run.size, run.row, run.config) for run in planned]
    paths = {setting.path for setting in new}
    there = _runs_below(directory).runs if directory.exists() else []
    old = [run.setting._replace(vocabulary=None) for run in there if run.path not in paths]
    _check_comparable([*old, *new])


def _runs_below(directory: Path) -> Found:
    from transformer_jax.workdir import Workdir

    runs, unfinished = [], []
    for folder in _workdirs(directory):
        workdir = Workdir(folder)
        config = workdir.config()
        prefix, _, name = str(config.get("name")).partition("/")
        size, _, row = name.partition("/")
        if prefix != "table3" or not row:
            continue
        scores = _dev_scores(workdir)
        if scores is None:
            unfinished.append(f"{folder}: the dev set is not scored")
        elif (averaged := len(scores["averaged_steps"])) != 1:
            unfinished.append(
                f"{folder}: scored with the mean of {averaged} checkpoints, and Table 3 is of one: "
                f"python eval.py --workdir={folder} --split=dev --average=1"
            )
        elif scores["averaged_steps"] != [config["steps"]]:
            step = scores["averaged_steps"][0]
            unfinished.append(f"{folder}: scored at step {step:,} of {config['steps']:,}")
        else:
            vocabulary = Subword.load(workdir.vocabulary_file)
            runs.append(Run(folder, size, row, config, vocabulary, scores))
    order = list(PRINTED)
    runs.sort(key=lambda run: (order.index(run.row) if run.row in order else len(order), run.row))
    return Found(runs, unfinished)


def results(found: Found) -> str:
    """Two tables: the rows with their scores beside the printed ones, and the differences to base.

    Of several seeds the mean, the least and the greatest are shown. A row lies beyond the spread
    of base if it is further from base's mean than base's greatest is from its least.
    """
    runs = found.runs
    metric = bleu_name(run.scores for run in runs)
    rows = {row: [run for run in runs if run.row == row] for row in [*PRINTED, *_rows_of(runs)]}
    header = (
        *("row", "N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "eps_ls", "steps"),
        *("PPL", "BLEU", "params 10^6", "paper's PPL", "paper's BLEU", "paper's params"),
    )
    lines = []
    for row, of_row in rows.items():
        printed = PRINTED.get(row)
        lines.append(
            (
                row,
                *(_columns(of_row[0]) if of_row else [""] * 9),
                _mean_and_spread([run.scores["perplexity"] for run in of_row], ".3f"),
                _mean_and_spread([run.scores[metric] for run in of_row], ".1f"),
                f"{count_parameters(of_row[0].model) / 1e6:.2f}" if of_row else "",
                *((f"{printed.perplexity:.2f}", f"{printed.bleu:.1f}") if printed else ("", "")),
                _blank(printed and printed.parameters, "d"),
            )
        )
    parts = [
        f"Table 3, size {runs[0].size!r}, on {_dev_set(runs[0])}: one checkpoint, perplexity per "
        f"subword\n(of {runs[0].vocabulary.size:,}), {metric}. The paper's is on newstest2013.",
        markdown(header, lines),
    ]
    if rows["base"]:
        parts += [_compared(rows, metric)]
    if found.unfinished:
        parts.append("\n".join(["Not in the table:", *found.unfinished]))
    return "\n\n".join(parts)


class Difference(NamedTuple):
    """A row's mean less base's."""

    row: str
    perplexity: float
    bleu: float


def differences(runs: Sequence[Run], metric: str) -> list[Difference]:
    """Of every row there is; nothing where there is no base."""
    measured = {
        row: [
            _mean([run.scores[name] for run in runs if run.row == row])
            for name in ("perplexity", metric)
        ]
        for row in _rows_of(runs)
    }
    if "base" not in measured:
        return []
    base = measured.pop("base")
    return [
        Difference(row, perplexity - base[0], bleu - base[1])
        for row, (perplexity, bleu) in measured.items()
    ]


def _printed_difference(row: str) -> Difference | None:
    """The paper's, of a row that it prints."""
    if row not in PRINTED:
        return None
    printed, base = PRINTED[row], PRINTED["base"]
    return Difference(row, printed.perplexity - base.perplexity, printed.bleu - base.bleu)


def _compared(rows: Mapping[str, list[Run]], metric: str) -> str:
    """The differences to base, and what of them is more than chance."""
    base = rows["base"]
    runs = [run for of_row in rows.values() for run in of_row]
    spread = [_spread([run.scores[name] for run in base]) for name in ("perplexity", metric)]
    lines = []
    beyond: dict[str, list[str]] = {"PPL": [], "BLEU": []}
    for row, *ours in differences(runs, metric):
        paper = _printed_difference(row)
        lines.append(
            (
                row,
                f"{ours[0]:+.3f}",
                f"{paper.perplexity:+.2f}" if paper else "",
                f"{ours[1]:+.1f}",
                f"{paper.bleu:+.1f}" if paper else "",
            )
        )
        for name, difference, width in zip(beyond, ours, spread, strict=True):
            if abs(difference) > width:
                beyond[name].append(row)
    parts = []
    if lines:
        header = ("row - base", "PPL", "paper's PPL", "BLEU", "paper's BLEU")
        parts.append(markdown(header, lines))
    if len(base) == 1:
        parts.append("base has one run: how far runs differ by chance is not known (--seeds=3).")
    else:
        parts.append(
            f"{len(base)} runs of base, which differ in their seed alone, are {spread[0]:.3f} in "
            f"perplexity and {spread[1]:.1f} in BLEU apart.\nFurther than that from base's mean: "
            + "; ".join(f"in {name}: {', '.join(far) or 'none'}" for name, far in beyond.items())
            + "."
        )
    return "\n\n".join(parts)


def _workdirs(directory: Path) -> list[Path]:
    """The folders with a config.json, without a look inside them."""
    if not directory.is_dir():
        raise InputError(f"no folder {directory}: train with --launch, or give another --runs")
    found = []
    for folder, inner, files in os.walk(directory):
        if "config.json" in files:
            found.append(Path(folder))
            inner.clear()
    return sorted(found)


def _dev_scores(workdir: "Workdir") -> dict[str, Any] | None:
    file = workdir.eval / "dev.json"
    return read_scores(file, "perplexity", "bleu") if file.exists() else None


def _check_comparable(runs: Sequence[Setting]) -> None:
    from transformer_jax.configuration import model_config

    usual = next((run.config["steps"] for run in runs if run.row != "big"), 0)

    def shared(run: Setting) -> dict[str, Any]:
        """What no row changes; `big` may train three times as long, as the paper's does."""
        config = run.config
        thrice = run.row == "big" and config["steps"] == 3 * usual
        rooms = {
            # Runs from before these fields have their defaults.
            "batch": {"short_length": 0, "short_epochs": 0} | config["batch"],
            "optimizer": config["optimizer"],
            "model": model(run),
        }
        of_rows = {*_OF_ROWS, "micro_batches"}  # with which the update is the same
        return {
            "size": run.size,
            "vocabulary": run.vocabulary,
            "data": config["data"],
            "search": config["search"],
            "steps": usual if thrice else config["steps"],
        } | {
            f"{room}.{name}": value
            for room, fields in rooms.items()
            for name, value in fields.items()
            if name not in of_rows
        }

    def model(run: Setting) -> dict[str, Any]:
        # Of any vocabulary, which is compared by itself.
        return dataclasses.asdict(model_config(run.config, 1))

    def of_row(run: Setting) -> dict[str, Any]:
        return {"steps": run.config["steps"], "model": model(run), "loss": run.config["loss"]}

    first_of: dict[str, Setting] = {}
    run_of: dict[tuple[str, int], Setting] = {}
    for run in runs:
        _refuse_differences(runs[0], run, shared)
        _refuse_differences(first_of.setdefault(run.row, run), run, of_row)
        key = run.row, run.config["seed"]
        if key in run_of:
            raise InputError(
                f"{run_of[key].path} and {run.path} are both row {run.row} with seed {key[1]}: "
                "move one of them, or give another --runs"
            )
        run_of[key] = run


def _refuse_differences(
    one: Setting, other: Setting, settings: Callable[[Setting], dict[str, Any]]
) -> None:
    ours, theirs = settings(one), settings(other)
    for name in ours | theirs:
        if ours.get(name) != theirs.get(name):
            raise InputError(
                f"{one.path} and {other.path} differ in {name}, {ours.get(name)!r} and "
                f"{theirs.get(name)!r}, and cannot be in one table: move one of them, or give "
                "another --runs"
            )


def _dev_set(run: Run) -> str:
    data = run.config["data"]
    if data["corpus"] == "synthetic":
        return "the dev set of the embedded corpus"
    return str(Path(data["directory"]) / data["dev"]["target"])


def _columns(run: Run) -> list[str]:
    model = run.model
    values = [
        *(model.num_layers, model.d_model, model.d_ff, model.num_heads),
        *(model.key_width, model.value_width, model.dropout_rate),
        run.config["loss"]["label_smoothing"],
    ]
    return [*map(str, values), f"{run.config['steps']:,}"]


def _rows_of(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.row for run in runs))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _mean_and_spread(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    mean = format(_mean(values), form)
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):{form}}-{max(values):{form}}, n={len(values)})"


def _blank(value, form: str) -> str:
    return "" if value is None else format(value, form)


def _difference(value, other, form: str) -> str:
    return "" if value is None or other is None else format(value - other, f"+{form}")


def _first(value, otherwise):
    return otherwise if value is None else value


def plot(runs: Sequence[Run], stem: Path) -> None:
    """Draws the differences to base, ours beside the paper's, as `plots.drawing` does.

    The grey band is as wide as base's runs are apart, to either side.
    """
    metric = bleu_name(run.scores for run in runs)
    base = [run.scores for run in runs if run.row == "base"]
    ours = differences(runs, metric)
    if not base or not ours:
        raise InputError("--plot draws differences to base: train base and another row first")
    paper = [_printed_difference(difference.row) for difference in ours]
    names = [difference.row for difference in ours]
    with plots.drawing(stem, 1.3 + 0.28 * len(names)) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        fields = (("perplexity", "perplexity", 1), (metric, "BLEU", 2))
        for axis, (score, label, index) in zip(axes, fields, strict=True):
            spread = _spread([scores[score] for scores in base])
            band = "no further apart than base's own runs"
            axis.axvspan(-spread, spread, color=plots.GREY, alpha=0.2, linewidth=0, label=band)
            axis.axvline(0, color=plots.GREY, linewidth=0.9)
            for series, offset, colour, name in (
                (ours, -0.2, plots.COLOURS[0], "this project"),
                (paper, 0.2, plots.COLOURS[1], "the paper"),
            ):
                bars = [(i, row[index]) for i, row in enumerate(series) if row is not None]
                places, widths = zip(*bars, strict=True) if bars else ((), ())
                axis.barh(
                    [place + offset for place in places], widths, 0.4, color=colour, label=name
                )
            axis.set_xlabel(f"{label}, less base's")
        axes[0].set_yticks(range(len(names)), names)
        axes[0].invert_yaxis()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
