"""The loop with an update that only counts, and once with a real one."""

import json
import math
import os
import signal
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType

from transformer_jax import sharding
from transformer_jax.data.batching import plan_training
from transformer_jax.data.pipeline import batches
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.ops import peak_schedule
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.loop import Diverged, Intervals, Stopped, train
from transformer_jax.training.optimizer import adam
from transformer_jax.training.report import Report
from transformer_jax.training.state import TrainState, create_state
from transformer_jax.training.step import StepMetrics, train_step

V = 16
SCHEDULE = peak_schedule(0.01, 4)
NEVER = Intervals(report=100, evaluate=0, checkpoint=0, checkpoint_minutes=0)


@pytest.fixture(scope="module")
def mesh():
    return sharding.make_mesh()


def stream():
    """Pairs of two to eight subwords each side with EOS, in batches of 8 rows of two lengths."""
    generator = np.random.default_rng(0)
    sides = (
        Ragged.from_sequences(
            generator.integers(4, V, generator.integers(1, 8)) for _ in range(100)
        )
        for _ in range(2)
    )
    pairs = TokenPairs(*sides)
    plan = plan_training(
        pairs, num_shapes=1, tokens_per_batch=64, max_length=8, seed=0, rows_multiple=8
    )
    return iter(batches(pairs, plan, num_batches=1000))


def counter(step=0):
    return TrainState(jnp.int32(step), {"count": jnp.float32(step)}, ())


def fake_update(surprise=lambda step: {}):
    """Counts; `surprise(step)` says which metrics of a step are other than usual."""

    def update(state, batch):
        step = int(state.step) + 1
        metrics = {
            "loss": jnp.float32(20.0),
            "nll": jnp.float32(10.0),
            "tokens": jnp.float32(10.0),
            "grad_norm": jnp.float32(step),
            **surprise(step),
        }
        return counter(step), StepMetrics(**metrics)

    return update


class Run:
    """A folder, and what happened in it."""

    def __init__(self, path, mesh):
        self.path, self.mesh = path, mesh
        self.evaluated = []

    def evaluate(self, params, step):
        self.evaluated.append((step, float(params["count"])))
        return {"dev_bleu": 1.0}

    def train(self, update, steps, intervals, *, state=None, abstract=None, evaluate=None):
        """As train.py does: goes on where the folder's last checkpoint is."""
        iterator = stream()
        with (
            Checkpoints(self.path / "checkpoints", keep=10) as checkpoints,
            Report(self.path, max(checkpoints.steps, default=0), steps) as report,
        ):
            state = counter() if state is None else state
            if checkpoints.steps:
                state = checkpoints.restore(state if abstract is None else abstract, iterator)
            return train(
                state,
                update,
                iterator,
                mesh=self.mesh,
                steps=steps,
                schedule=SCHEDULE,
                intervals=intervals,
                evaluate=evaluate or self.evaluate,
                report=report,
                checkpoints=checkpoints,
                metadata={},
            )

    @property
    def saved(self):
        with Checkpoints(self.path / "checkpoints") as checkpoints:
            return checkpoints.steps

    @property
    def lines(self):
        text = (self.path / "metrics.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def run(tmp_path, mesh):
    return Run(tmp_path, mesh)


def test_things_happen_at_their_intervals_and_at_the_end(run):
    intervals = Intervals(report=2, evaluate=3, checkpoint=4, checkpoint_minutes=0)
    state = run.train(fake_update(), 10, intervals)
    assert int(state.step) == 10
    assert run.evaluated == [(step, step) for step in (3, 6, 9, 10)]
    assert run.saved == [4, 8, 10]
    reports = {line["step"] for line in run.lines if "loss" in line}
    assert reports >= {2, 4, 6, 8, 10}
    assert [line["step"] for line in run.lines if "dev_bleu" in line] == [3, 6, 9, 10]


def test_without_intervals_the_end_is_reported_and_saved(run):
    run.train(fake_update(), 5, NEVER)
    assert run.evaluated == []
    assert run.saved == [5]
    assert [line["step"] for line in run.lines] == [5]


def test_a_checkpoint_is_also_due_by_the_clock(run):
    run.train(fake_update(), 3, NEVER._replace(checkpoint_minutes=1e-9))
    assert run.saved == [1, 2, 3]


def test_a_run_that_is_complete_does_nothing_more(run):
    run.train(fake_update(), 3, NEVER)
    state = run.train(fake_update(lambda step: pytest.fail("an update")), 3, NEVER)
    assert int(state.step) == 3


def test_a_line_of_metrics_has_these_keys_and_values(run):
    batch = [next(iterator) for iterator in [stream()] for _ in range(4)]

    def surprise(step):
        tokens = float(step)
        return {
            "loss": jnp.float32(3 * tokens),
            "nll": jnp.float32(2 * tokens),
            "tokens": jnp.float32(tokens),
        }

    run.train(fake_update(surprise), 4, NEVER)
    (line,) = run.lines
    assert set(line) == {
        "step",
        "loss",
        "nll",
        "perplexity",
        "learning_rate",
        "grad_norm",
        "target_tokens_per_second",
        "padding_share",
        "programs_compiled",
    }
    assert line["step"] == 4
    # Per token over all that was seen since the last report, not the mean of the steps' means.
    assert line["loss"] == pytest.approx(3)
    assert line["nll"] == pytest.approx(2)
    assert line["perplexity"] == pytest.approx(math.exp(2))
    assert line["learning_rate"] == pytest.approx(0.01)  # update 4 is the peak
    assert line["grad_norm"] == pytest.approx((1 + 2 + 3 + 4) / 4)
    assert line["target_tokens_per_second"] > 0
    sides = np.concatenate([one[side].ravel() for one in batch for side in one])
    assert line["padding_share"] == pytest.approx(np.mean(sides == 0))
    assert line["programs_compiled"] >= 0


@pytest.mark.parametrize(
    "broken", [{"loss": jnp.float32(jnp.nan)}, {"grad_norm": jnp.float32(jnp.inf)}]
)
def test_a_run_that_diverges_says_where_and_saves_nothing_bad(run, broken):
    def surprise(step):
        return broken if step >= 6 else {}

    with pytest.raises(Diverged) as caught:
        run.train(fake_update(surprise), 20, NEVER._replace(report=10, checkpoint=4))
    message = str(caught.value)
    assert message.startswith("step 6: loss ")
    assert ("loss nan" in message) == ("loss" in broken)
    assert ("gradient norm inf" in message) == ("grad_norm" in broken)
    assert f"learning rate {0.01 * math.sqrt(4 / 6):.3g}" in message
    assert "the last good checkpoint is step 4" in message
    assert run.saved == [4]


def test_a_run_that_diverges_before_its_first_checkpoint_says_so(run):
    with pytest.raises(Diverged, match=r"step 1: .*none was saved yet"):
        run.train(fake_update(lambda step: {"loss": jnp.float32(jnp.nan)}), 20, NEVER)
    assert run.saved == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_stop_saves_and_goes_on_from_there(run, number):
    handler = signal.getsignal(number)

    def surprise(step):
        if step == 3:
            os.kill(os.getpid(), number)
        return {}

    with pytest.raises(Stopped, match="step 3, which is saved"):
        run.train(fake_update(surprise), 20, NEVER)
    assert signal.getsignal(number) is handler
    assert run.saved == [3]
    seen = []
    run.train(fake_update(lambda step: seen.append(step) or {}), 5, NEVER)
    assert seen == [4, 5]


def test_a_second_signal_interrupts_at_once(run):
    def surprise(step):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("still running")

    with pytest.raises(KeyboardInterrupt):
        run.train(fake_update(surprise), 20, NEVER)


def test_lines_of_steps_that_are_made_again_are_removed(run):
    intervals = NEVER._replace(report=1)
    run.train(fake_update(), 3, intervals)
    # The run went on to step 5, was killed before its next checkpoint, and in the middle of a line.
    with (run.path / "metrics.jsonl").open("a", encoding="utf-8") as lines:
        lines.write('{"step": 4, "loss": 9}\n{"step": 5, "loss": 9}\n{"step": 6, "lo')
    run.train(fake_update(), 5, intervals)
    assert [line["step"] for line in run.lines] == [1, 2, 3, 4, 5]
    assert [line["loss"] for line in run.lines] == [2.0] * 5


def test_the_stream_of_batches_is_read_once_in_order(run, monkeypatch):
    seen = []
    place = sharding.place_batch

    def note(batch, mesh):
        seen.append(batch)
        return place(batch, mesh)

    monkeypatch.setattr(sharding, "place_batch", note)
    run.train(fake_update(), 3, NEVER)
    run.train(fake_update(), 5, NEVER)
    expected = stream()
    assert len(seen) == 5
    for batch in seen:
        assert all(np.array_equal(batch[side], rows) for side, rows in next(expected).items())


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path):
    mesh = jax.make_mesh((1, 1), ("data", "model"), (AxisType.Auto,) * 2, devices=jax.devices()[:1])
    model = Transformer(
        TransformerConfig(V, num_layers=1, d_model=8, d_ff=8, num_heads=2, dropout_rate=0.3)
    )
    optimizer = adam(SCHEDULE)
    new_state = partial(create_state, model=model, optimizer=optimizer)
    abstract = jax.eval_shape(new_state, jax.random.key(0))
    places = sharding.tree_shardings(abstract, mesh, sharding.layout("data"))
    abstract = jax.tree.map(lambda leaf, place: leaf.update(sharding=place), abstract, places)
    new_state = jax.jit(new_state, out_shardings=places)
    update = jax.jit(
        partial(train_step, model=model, optimizer=optimizer, label_smoothing=0.1, seed=0),
        in_shardings=(places, sharding.batch_sharding(mesh)),
        out_shardings=(places, sharding.replicated(mesh)),
        donate_argnums=0,
    )

    def run(name, *stops):
        folder = Run(tmp_path / name, mesh)
        folder.path.mkdir()
        for steps in stops:
            state = new_state(jax.random.key(0))
            state = folder.train(update, steps, NEVER, state=state, abstract=abstract)
        return state

    start = jax.device_get(new_state(jax.random.key(0)))
    straight, resumed = run("straight", 4), run("resumed", 2, 4)
    assert jax.tree.structure(straight) == jax.tree.structure(resumed)
    for a, b in zip(jax.tree.leaves(straight), jax.tree.leaves(resumed), strict=True):
        assert np.array_equal(a, b)
    assert int(resumed.step) == 4
    assert not np.array_equal(resumed.params["embedding"], start.params["embedding"])
