"""Table 2: BLEU and training cost of the systems that the paper lists, and of runs of this project.

python -m transformer_jax.paper table2 --runs runs/wmt14_ende_base runs/wmt14_ende_big

The paper estimates a cost from time and devices. That of a run is counted: XLA's FLOPs of the
compiled update, each shape of batch as often as it occurs, times the steps. It is what the
arithmetic needs, padding included, on any device.
"""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax

from transformer_jax import sharding
from transformer_jax.configuration import model_config, training_plan
from transformer_jax.data.batching import Shape, TrainingPlan, padding_batch
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer
from transformer_jax.paper.printed import TABLE_2
from transformer_jax.paper.tables import bleu_name, markdown, read_scores
from transformer_jax.tasks import translation
from transformer_jax.text.subword import Subword
from transformer_jax.training.optimizer import adam
from transformer_jax.training.state import create_state
from transformer_jax.training.step import train_step
from transformer_jax.workdir import Workdir

_LANGUAGES = ("de", "fr")
_COLUMNS = ("BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR")

P100 = 9.5e12  # sustained single-precision FLOP/s, the paper's figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", nargs="+", metavar="DIR", default=[], help="workdirs whose test set is scored"
    )


def run(arguments: argparse.Namespace) -> None:
    runs = [read_run(Path(directory)) for directory in arguments.runs]
    print(printed())
    if runs:
        print(f"\n{of_runs(runs)}")


def training_cost(hours: float, devices: int, rate: float) -> float:
    """The paper's estimate in FLOPs: training time times devices times sustained FLOP/s of one."""
    return hours * 3600 * devices * rate


def printed() -> str:
    """The paper's table, with how its two own costs come about."""
    lines = []
    for system in TABLE_2:
        cells = [bleu or "" for bleu in (system.bleu_de, system.bleu_fr)]
        cells += ["" if cost is None else _flops(cost) for cost in (system.cost_de, system.cost_fr)]
        if system.name == "Transformer (big)":
            cells[1] += "*"
        lines.append((system.name, *cells))
    base, big = training_cost(12.0, 8, P100), training_cost(3.5 * 24, 8, P100)
    return "\n".join(
        [
            "Table 2, newstest2014, as printed",
            "",
            markdown(("system", *_COLUMNS), lines),
            "",
            "* 41.8 in the table and in the abstract, 41.0 in section 6.1. The cost of a",
            "Transformer is printed once for both languages.",
            "",
            "Cost = training time x devices x sustained FLOP/s of a device:",
            f"  base: 12 h x 8 P100 x 9.5e12 FLOP/s = {_flops(base)}",
            f"  big: 3.5 days x 8 P100 x 9.5e12 FLOP/s = {_flops(big)}",
        ]
    )


class Run(NamedTuple):
    """A run of translation with scores of its test set."""

    path: Path
    config: Mapping[str, Any]
    scores: Mapping[str, Any]


def read_run(path: Path) -> Run:
    """A workdir with `eval/test.json`.

    Raises:
      InputError: there is none, or the table has no column for it.
    """
    workdir = Workdir(path)
    config = workdir.config()
    if config["task"] != "translation":
        raise InputError(
            f"{path} is a run of {config['task']}, and Table 2 is of translation: leave it out"
        )
    language = config["data"]["target_language"]
    if language not in _LANGUAGES:
        raise InputError(
            f"{path} translates into {language!r}, and Table 2 has columns for "
            f"{' and '.join(map(repr, _LANGUAGES))}: leave it out"
        )
    return Run(path, config, read_scores(workdir.eval / "test.json", "bleu"))


def of_runs(runs: Sequence[Run]) -> str:
    """The runs in the paper's columns, under a heading that names each test set."""
    metric = bleu_name(run.scores for run in runs)
    lines, notes = [], []
    for run in runs:
        cost = ""
        try:
            cost = _flops(run_cost(run))
        except InputError as error:
            notes.append(f"No cost of {run.path}: {error}")
        values = (f"{run.scores[metric]:.2f}", cost)
        language = run.config["data"]["target_language"]
        cells = [value if column == language else "" for value in values for column in _LANGUAGES]
        lines.append((str(run.path), _test_set(run), *cells))
    return "\n".join(
        [
            f"This project's runs, each on its own test set; BLEU is {metric}",
            "",
            markdown(("run", "test set", *_COLUMNS), lines),
            "",
            "FLOPs are counted in the compiled update (XLA's count of matrix products and of all",
            "other arithmetic, padding included), for the steps up to the last that was averaged.",
            *notes,
        ]
    )


def run_cost(run: Run) -> float:
    """FLOPs of all updates: of a shape's compiled update, weighted by how often it occurs.

    The corpus is read and batched again as training did, for the devices of this machine: with
    more of them a batch may have a few rows less. Epochs of `batch.short_length` are counted like
    the others, with all pairs.

    Raises:
      InputError: the corpus or the vocabulary cannot be read any more.
    """
    config = run.config
    vocabulary = Subword.load(Workdir(run.path).vocabulary_file)
    pairs, _ = translation.read_pairs(config["data"], "train")
    plan = training_plan(config, translation.encode(vocabulary, pairs), sharding.make_mesh())
    return max(run.scores["averaged_steps"]) * mean_step_flops(config, vocabulary.size, plan)


def mean_step_flops(config: Mapping[str, Any], vocab_size: int, plan: TrainingPlan) -> float:
    """FLOPs of an average update of the plan."""
    model = Transformer(model_config(config, vocab_size))
    smoothing = config["loss"]["label_smoothing"]
    flops = [step_flops(model, shape, smoothing) for shape in plan.shapes]
    batches = plan.batches_per_epoch
    return sum(f * n for f, n in zip(flops, batches, strict=True)) / sum(batches)


def step_flops(model: Transformer, shape: Shape, label_smoothing: float) -> float:
    """XLA's FLOPs of one compiled update on a batch of this shape; no array is made.

    The batch is one micro-batch, whatever the run had: XLA counts the body of a scan once.
    """
    optimizer = adam(lambda count: 0.0)
    padding: Any = padding_batch(shape)
    state = jax.eval_shape(
        partial(create_state, model=model, optimizer=optimizer), jax.random.key(0)
    )
    batch = jax.tree.map(lambda side: jax.ShapeDtypeStruct(side.shape, side.dtype), padding)
    update = partial(
        train_step, model=model, optimizer=optimizer, label_smoothing=label_smoothing, seed=0
    )
    compiled: Any = jax.jit(update).lower(state, batch).compile()
    return compiled.cost_analysis()["flops"]


def _test_set(run: Run) -> str:
    data = run.config["data"]
    if data["corpus"] == "synthetic":
        return "the embedded corpus"
    return str(Path(data["directory"]) / data["test"]["target"])


def _flops(number: float) -> str:
    return f"{number:.1e}".replace("e+", "e")
