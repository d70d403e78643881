"""Trains a Transformer, averages its last checkpoints and scores the test set.

    python train.py                                    the quickstart: minutes on two CPU cores
    python train.py --config=configs/text.py --workdir=runs/mine --config.data.directory=DIR
    python train.py --config.model.num_heads=8         any field of a configuration, by its path

The same command again goes on where the run was stopped or killed.
"""

import dataclasses
import io
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import jax
from absl import app, flags, logging
from jax.sharding import Mesh
from ml_collections import config_flags

from transformer_jax import sharding, tasks
from transformer_jax.configuration import check_values, model_config, training_plan, why_refused
from transformer_jax.data.batching import non_pad_share, padding_batch
from transformer_jax.data.pipeline import batches
from transformer_jax.errors import InputError
from transformer_jax.evaluation import Evaluator, evaluate_split, sample, side_by_side, table
from transformer_jax.inference import BeamSearch
from transformer_jax.memory import restart_reusing_memory
from transformer_jax.model import Transformer
from transformer_jax.ops.schedule import Schedule, noam_schedule, peak_schedule
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.loop import Diverged, Intervals, Stopped, programs_compiled, train
from transformer_jax.training.optimizer import adam
from transformer_jax.training.report import Report
from transformer_jax.training.state import create_state
from transformer_jax.training.step import train_step
from transformer_jax.translator import Translator
from transformer_jax.workdir import Workdir


def say(text: str) -> None:
    if jax.process_index() == 0:
        print(text, flush=True)


def run(config: dict[str, Any], workdir: Workdir) -> None:
    start = time.monotonic()
    check_values(config)
    changes = workdir.check(config)
    mesh = sharding.make_mesh(config["mesh"]["model"])
    say(f"{workdir.path}: {jax.device_count()} x {jax.devices()[0].device_kind}")
    test_pairs, _ = tasks.named(config["task"]).read_pairs(config["data"], "test")
    if workdir.last_step() < config["steps"]:
        fit(config, workdir, mesh, changes)
    else:
        workdir.claim(config)
        say(f"trained already, to step {workdir.last_step()}")
        say_changes(changes)

    # The paper's last step: the mean of the last checkpoints, on the test set.
    translator = Translator.load(workdir.path, mesh=mesh)
    found = evaluate_split(workdir, translator, "test", test_pairs)
    steps = translator.averaged_steps
    what = "mean of the checkpoints of steps" if len(steps) > 1 else "checkpoint of step"
    say(f"the test set, by the {what} {', '.join(map(str, steps))}:\n")
    say(side_by_side(test_pairs, found.hypotheses, 5))
    say(table(found.scores))
    say(f"\n{time.monotonic() - start:.0f} s in all; scores and translations: {workdir.eval}")


def fit(
    config: dict[str, Any], workdir: Workdir, mesh: Mesh, changes: dict[str, tuple[Any, Any]]
) -> None:
    start = time.monotonic()

    # Text -> ids -> batches.
    task = tasks.named(config["task"])
    train_pairs, empty = task.read_pairs(config["data"], "train")
    dev_pairs, _ = task.read_pairs(config["data"], "dev")
    workdir.claim(config)
    vocabulary = task.prepare_vocabulary(config["subword"], train_pairs, workdir.vocabulary_file)
    tokens = task.encode(vocabulary, train_pairs)
    plan = training_plan(config, tokens, mesh)
    iterator = iter(
        batches(
            tokens,
            plan,
            num_batches=config["steps"],
            process_index=jax.process_index(),
            process_count=jax.process_count(),
        )
    )
    say(
        f"{len(tokens):,} training pairs ({empty} more are empty), of which "
        f"{plan.num_dropped} over {config['batch']['max_length']} subwords are left out; "
        f"{vocabulary.size:,} subwords"
    )
    say(
        f"{sum(plan.batches_per_epoch):,.1f} batches an epoch in {len(plan.shapes)} shapes, "
        f"{1 - non_pad_share(tokens, plan):.1%} padding"
    )
    late = [len(b) for b, epoch in zip(plan.buckets, plan.joins, strict=True) if epoch]
    join = plan.batches_before(max(plan.joins))
    if late and workdir.last_step() < join:
        when = "join" if join < config["steps"] else "are never trained on: they would join"
        say(
            f"{sum(late):,} pairs over about {config['batch']['short_length']} subwords {when} "
            f"after {max(plan.joins)} epochs, {join:,} steps"
        )

    # Model, optimizer and state on the mesh.
    model = Transformer(model_config(config, vocabulary.size))
    schedule = learning_rate(config)
    constants = ("b1", "b2", "eps", "clip_norm")
    optimizer = adam(schedule, **{name: config["optimizer"][name] for name in constants})
    create = partial(create_state, model=model, optimizer=optimizer)
    abstract = jax.eval_shape(create, jax.random.key(config["seed"]))
    places = sharding.tree_shardings(abstract, mesh, sharding.layout(config["mesh"]["layout"]))
    abstract = jax.tree.map(lambda leaf, place: leaf.update(sharding=place), abstract, places)
    create = jax.jit(create, out_shardings=places)
    update = jax.jit(
        partial(
            train_step,
            model=model,
            optimizer=optimizer,
            label_smoothing=config["loss"]["label_smoothing"],
            seed=config["seed"],
            micro_batches=config["batch"]["micro_batches"],
        ),
        in_shardings=(places, sharding.batch_sharding(mesh)),
        out_shardings=(places, sharding.replicated(mesh)),
        donate_argnums=0,
    )
    state = create(jax.random.key(config["seed"]))
    say(f"{sum(leaf.size for leaf in jax.tree.leaves(state.params)):,} parameters")

    # The largest shape runs once on padding, so that an update's memory runs out now or never.
    largest = max(plan.shapes, key=lambda shape: shape.rows * (shape.source + shape.target) ** 2)
    jax.block_until_ready(update(state, sharding.place_batch(padding_batch(largest), mesh)))
    state = create(jax.random.key(config["seed"]))
    say(
        f"ready for the first step after {time.monotonic() - start:.0f} s, "
        f"{programs_compiled()} programs compiled"
    )

    # Dev perplexity and BLEU while training.
    translator = Translator(
        task=task,
        vocabulary=vocabulary,
        params=state.params,
        search=BeamSearch(model, mesh, **config["search"]),
        max_length=config["batch"]["max_length"],
    )
    dev_sample = sample(dev_pairs, config["report"]["evaluate_sentences"], config["seed"])
    dev = Evaluator.of(translator, config, dev_sample)

    def evaluate(params, step):
        found = dev(dataclasses.replace(translator, params=params))
        examples = side_by_side(dev_sample, found.hypotheses, 2)
        report.say(f"step {step}: dev {found.summary}\n{examples}")
        numbers = {k: value for k, value in found.scores.items() if not isinstance(value, str)}
        return {f"dev_{name}": value for name, value in numbers.items()}

    with Checkpoints(workdir.checkpoints, config["checkpoint"]["keep"]) as checkpoints:
        if checkpoints.steps:
            checkpoints.check_vocabulary(vocabulary.fingerprint)
            state = checkpoints.restore(abstract, iterator)
            say(f"going on from step {checkpoints.steps[-1]}")
            say_changes(changes)
        first_step = checkpoints.steps[-1] if checkpoints.steps else 0
        with Report(workdir.path, first_step, config["steps"]) as report:
            train(
                state,
                update,
                iterator,
                mesh=mesh,
                steps=config["steps"],
                schedule=schedule,
                intervals=Intervals(
                    report=config["report"]["every_steps"],
                    evaluate=config["report"]["evaluate_every_steps"],
                    checkpoint=config["checkpoint"]["every_steps"],
                    checkpoint_minutes=config["checkpoint"]["every_minutes"],
                ),
                evaluate=evaluate,
                report=report,
                checkpoints=checkpoints,
                metadata={"config": config, "vocabulary": vocabulary.fingerprint},
            )
    iterator.close()


def say_changes(changes: dict[str, tuple[Any, Any]]) -> None:
    for field, (before, now) in changes.items():
        say(f"  with {field} = {now!r}, which was {before!r}")


def learning_rate(config: dict[str, Any]) -> Schedule:
    """Equation 3, or the same curve by its peak where the configuration gives one."""
    optimizer = config["optimizer"]
    if optimizer["peak"] is not None:
        return peak_schedule(optimizer["peak"], optimizer["warmup_steps"])
    d_model = config["model"]["d_model"]
    return noam_schedule(d_model, optimizer["warmup_steps"], optimizer["factor"])


def main(arguments: list[str]) -> None:
    logging.set_verbosity(logging.WARNING)
    warnings.showwarning = lambda message, *_: print(f"train.py: {message}", file=sys.stderr)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without umlauts stops no training
    if len(arguments) > 1:
        sys.exit(f"train.py: unknown argument {arguments[1]!r}: give --name=value, see --help")
    config = flags.FLAGS.config.to_dict()
    try:
        run(config, Workdir(flags.FLAGS.workdir or f"runs/{config['name']}"))
        sys.stdout.flush()
    except (InputError, Diverged, Stopped) as error:
        sys.exit(f"train.py: {error}")
    except KeyboardInterrupt:
        sys.exit("train.py: interrupted; the same command goes on where this one saved")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit("train.py: the output was closed; the same command goes on where this one saved")
    except OSError as error:  # a full disk: what is open cannot be closed either
        cause = error.__context__ if isinstance(error.__context__, InputError) else error
        print(f"train.py: {cause}", file=sys.stderr, flush=True)
        os._exit(1)


def parse_flags(arguments: list[str]) -> list[str]:
    """The command line; a configuration or a field that does not exist is one line, no traceback.

    The flags are defined here because ml_collections looks fields up while it defines them.
    """
    try:
        config_flags.DEFINE_config_file(
            "config", str(Path(__file__).parent / "configs/quickstart.py"), "What to train."
        )
        flags.DEFINE_string("workdir", None, "The run's folder; default: runs/<config.name>.")
        rest = flags.FLAGS(arguments)
        flags.FLAGS.config.lock()
        return rest
    except Exception as error:  # a configuration is a program: anything can go wrong in it
        sys.exit(f"train.py: bad flag or configuration: {why_refused(error)}")


if __name__ == "__main__":
    restart_reusing_memory()
    app.run(main, flags_parser=parse_flags)
