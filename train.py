"""Trains a Transformer, averages its last checkpoints and scores the test set.

    python train.py                                        the quickstart: minutes on two CPU cores
    python train.py --config=configs/multi30k.py --workdir=runs/multi30k --config.data.directory=DIR

The same command again goes on where the run was stopped or killed.
"""

import dataclasses
import sys
import time
from functools import partial

import jax
from absl import app, flags, logging
from ml_collections import config_flags

from transformer_jax import sharding
from transformer_jax.data.batching import non_pad_share, padding_batch, plan_training
from transformer_jax.data.pipeline import batches
from transformer_jax.errors import InputError
from transformer_jax.evaluation import Evaluator, evaluate_split, sample, side_by_side, table
from transformer_jax.inference import BeamSearch
from transformer_jax.model import Transformer
from transformer_jax.ops.schedule import noam_schedule, peak_schedule
from transformer_jax.tasks import translation
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.loop import Diverged, Intervals, Stopped, programs_compiled, train
from transformer_jax.training.optimizer import adam
from transformer_jax.training.report import Report
from transformer_jax.training.state import create_state
from transformer_jax.training.step import train_step
from transformer_jax.translator import Translator
from transformer_jax.workdir import Workdir, model_config

_CONFIG = config_flags.DEFINE_config_file("config", "configs/quickstart.py", "What to train.")
_WORKDIR = flags.DEFINE_string("workdir", None, "The run's folder; default: runs/<config.name>.")


def run() -> None:
    start = time.monotonic()
    config = _CONFIG.value.to_dict()
    workdir = Workdir(_WORKDIR.value or f"runs/{config['name']}")
    for field, (before, now) in workdir.claim(config).items():
        print(f"going on with {field} = {now!r}, which was {before!r}")

    mesh = sharding.make_mesh(config["mesh"]["model"])
    print(f"{workdir.path}: {jax.device_count()} x {jax.devices()[0].device_kind}")

    # Text -> ids -> batches.
    train_pairs, empty = translation.read_pairs(config["data"], "train")
    dev_pairs, _ = translation.read_pairs(config["data"], "dev")
    test_pairs, _ = translation.read_pairs(config["data"], "test")
    vocabulary = translation.prepare_vocabulary(
        config["subword"], train_pairs, workdir.vocabulary_file
    )
    tokens = translation.encode(vocabulary, train_pairs)
    plan = plan_training(
        tokens.lengths,
        num_shapes=config["batch"]["shapes"],
        tokens_per_batch=config["batch"]["tokens"],
        max_length=config["batch"]["max_length"],
        seed=config["seed"],
        rows_multiple=config["batch"]["micro_batches"] * sharding.data_size(mesh),
    )
    iterator = iter(
        batches(
            tokens,
            plan,
            num_batches=config["steps"],
            process_index=jax.process_index(),
            process_count=jax.process_count(),
        )
    )
    print(
        f"{len(tokens):,} training pairs ({empty} empty on one side and {plan.num_dropped} over "
        f"{config['batch']['max_length']} subwords left out), {vocabulary.size:,} subwords, "
        f"{sum(plan.batches_per_epoch):,.1f} batches an epoch, {non_pad_share(tokens, plan):.1%} "
        f"of them no padding"
    )

    # Model, optimizer, state on the mesh.
    model = Transformer(model_config(config, vocabulary.size))
    optimizer_config = config["optimizer"]
    warmup_steps = optimizer_config["warmup_steps"]
    if optimizer_config["peak"] is None:
        schedule = noam_schedule(model.config.d_model, warmup_steps, optimizer_config["factor"])
    else:
        schedule = peak_schedule(optimizer_config["peak"], warmup_steps)
    optimizer = adam(
        schedule,
        optimizer_config["b1"],
        optimizer_config["b2"],
        optimizer_config["eps"],
        optimizer_config["clip_norm"],
    )
    new_state = partial(create_state, model=model, optimizer=optimizer)
    key = jax.random.key(config["seed"])
    abstract = jax.eval_shape(new_state, key)
    shardings = sharding.tree_shardings(abstract, mesh, sharding.layout(config["mesh"]["layout"]))
    abstract = jax.tree.map(lambda leaf, place: leaf.update(sharding=place), abstract, shardings)
    new_state = jax.jit(new_state, out_shardings=shardings)
    update = jax.jit(
        partial(
            train_step,
            model=model,
            optimizer=optimizer,
            label_smoothing=config["loss"]["label_smoothing"],
            seed=config["seed"],
            micro_batches=config["batch"]["micro_batches"],
        ),
        in_shardings=(shardings, sharding.batch_sharding(mesh)),
        out_shardings=(shardings, sharding.replicated(mesh)),
        donate_argnums=0,
    )
    state = new_state(key)
    print(f"{sum(leaf.size for leaf in jax.tree.leaves(state.params)):,} parameters")

    # The largest shape runs once on padding, so that memory runs out now or never.
    largest = max(plan.shapes, key=lambda shape: shape.rows * shape.length**2)
    jax.block_until_ready(update(state, sharding.place_batch(padding_batch(largest), mesh)))
    seconds = time.monotonic() - start
    print(f"first step after {seconds:.0f} s, {programs_compiled()} programs compiled")

    # Dev perplexity and BLEU while training.
    search = BeamSearch(model, mesh, **config["search"])
    translator = Translator(vocabulary, state.params, search, config["batch"]["max_length"])
    dev_sample = sample(dev_pairs, config["report"]["evaluate_sentences"], config["seed"])
    dev = Evaluator.of(translator, config, dev_sample)

    with (
        Checkpoints(workdir.checkpoints, config["checkpoint"]["keep"]) as checkpoints,
        Report(
            workdir.path, steps_done := max(checkpoints.steps, default=0), config["steps"]
        ) as report,
    ):
        if steps_done:
            state = checkpoints.restore(abstract, iterator)
            report.say(f"going on from step {steps_done}")
        else:
            state = new_state(key)

        def evaluate(params, step):
            scores, hypotheses = dev(dataclasses.replace(translator, params=params))
            measured = f"dev perplexity {scores['perplexity']:.2f}, BLEU {scores['bleu']:.1f}"
            report.say(f"step {step}: {measured}\n{side_by_side(dev_sample, hypotheses, 2)}")
            return {f"dev_{name}": scores[name] for name in ("perplexity", "bleu", "chrf")}

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

    # The paper's last step: the mean of the last checkpoints, on the test set.
    translator = Translator.load(workdir.path, mesh=mesh)
    averaged = ", ".join(map(str, translator.averaged_steps))
    print(f"the mean of the checkpoints of steps {averaged} on the test set:")
    found = evaluate_split(workdir, translator, "test", test_pairs)
    print(table(found.scores))
    print(side_by_side(test_pairs, found.hypotheses, 5))
    print(f"{time.monotonic() - start:.0f} s in all; scores and translations are in {workdir.eval}")


def main(_) -> None:
    logging.set_verbosity(logging.WARNING)
    try:
        run()
    except (InputError, Diverged, Stopped) as error:
        sys.exit(f"train.py: {error}")


if __name__ == "__main__":
    app.run(main)
