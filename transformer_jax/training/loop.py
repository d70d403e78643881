"""The training loop."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh
from jaxtyping import PyTree

from transformer_jax import sharding
from transformer_jax.batch import PAD, Batch
from transformer_jax.ops.schedule import Schedule
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.report import Report
from transformer_jax.training.state import TrainState
from transformer_jax.training.step import StepMetrics


class Intervals(NamedTuple):
    """When something happens: every so many steps, 0 for never; checkpoints also by the clock."""

    report: int
    evaluate: int
    checkpoint: int
    checkpoint_minutes: float


class Diverged(RuntimeError):
    """Loss or gradient is no longer finite."""


class Stopped(RuntimeError):
    """The run was asked to stop (Ctrl-C, SIGTERM); its state is saved."""


Update = Callable[[TrainState, Mapping[str, jax.Array]], tuple[TrainState, StepMetrics]]


def train(
    state: TrainState,
    update: Update,
    batches: Iterator[Batch],
    *,
    mesh: Mesh,
    steps: int,
    schedule: Schedule,
    intervals: Intervals,
    evaluate: Callable[[PyTree, int], Mapping[str, float]],
    report: Report,
    checkpoints: Checkpoints,
    metadata: dict,
) -> TrainState:
    """Updates `state` until step `steps`, reporting, evaluating and saving at its intervals.

    The host runs ahead of the device and waits for it at reports alone. A checkpoint is written
    after a report found every loss and gradient since the last one finite, and the state is, so
    that a bad state is never saved. At the end, and when asked to stop, the state is saved.

    Raises:
      Diverged: names the step, its learning rate and the last good checkpoint.
      Stopped: after SIGINT or SIGTERM, with the state saved.
    """
    step = int(state.step)
    window = _Window()
    last_save = time.monotonic()

    def diverged(bad: int, what: str) -> Diverged:
        good = checkpoints.steps
        last = f"the last good checkpoint is step {good[-1]}" if good else "none was saved yet"
        return Diverged(
            f"step {bad}: {what}, learning rate {float(schedule(bad - 1)):.3g}; {last}; "
            "lower the learning rate or set optimizer.clip_norm"
        )

    def look() -> None:
        """Waits for the device, checks what it did since the last look, and reports it."""
        if not window.metrics:
            return
        first = step - len(window.metrics) + 1
        metrics = jax.tree.map(lambda *steps: np.array(steps), *jax.device_get(window.metrics))
        finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)
        if not finite.all():
            bad = first + int(np.argmin(finite))
            loss = metrics.loss[bad - first] / metrics.tokens[bad - first]
            raise diverged(bad, f"loss {loss}, gradient norm {metrics.grad_norm[bad - first]}")
        tokens = float(metrics.tokens.sum())
        nll = float(metrics.nll.sum()) / tokens
        values = {
            "loss": float(metrics.loss.sum()) / tokens,
            "nll": nll,
            "perplexity": float(np.exp(min(nll, 88.0))),  # exp of more is no float32
            "learning_rate": float(schedule(step - 1)),
            "grad_norm": float(metrics.grad_norm.mean()),
            "target_tokens_per_second": tokens / (time.monotonic() - window.start),
            "padding_share": 1.0 - window.real / window.slots,
            "programs_compiled": programs_compiled(),
        }
        report.progress(step, values)
        window.clear()

    def save() -> None:
        nonlocal last_save
        look()
        if not _finite(state):
            raise diverged(step, "parameters or moments that are not finite")
        checkpoints.save(state, step, batches, metadata)
        last_save = time.monotonic()

    def agreed(flag: bool) -> bool:
        """True on every process if it is on any; they can only ask each other at reports."""
        if jax.process_count() == 1:
            return flag
        return step % intervals.report == 0 and bool(np.any(process_allgather(np.array(flag))))

    with _StopSignal() as stop:
        while step < steps:
            batch = next(batches)
            state, metrics = update(state, sharding.place_batch(batch, mesh))
            step += 1
            window.add(metrics, batch)

            if step % intervals.report == 0 or step == steps:
                look()
            if intervals.evaluate and (step % intervals.evaluate == 0 or step == steps):
                look()
                report.write(step, evaluate(state.params, step))
                window.clear()
            by_step = intervals.checkpoint > 0 and step % intervals.checkpoint == 0
            minutes = (time.monotonic() - last_save) / 60
            if by_step or agreed(0 < intervals.checkpoint_minutes <= minutes):
                save()
            if agreed(stop.asked):
                save()
                checkpoints.wait()
                raise Stopped(f"stopped at step {step}, which is saved")
        save()
        checkpoints.wait()
    return state


@jax.jit
def _finite(state: TrainState) -> jax.Array:
    return jnp.all(jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(state)]))


class _Window:
    """What has happened since the last report; the metrics are still on the device."""

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        self.metrics: list[StepMetrics] = []
        self.real = 0
        self.slots = 0
        self.start = time.monotonic()

    def add(self, metrics: StepMetrics, batch: Batch) -> None:
        self.metrics.append(metrics)
        for side in (batch["source"], batch["target"]):
            self.real += np.count_nonzero(side != PAD)
            self.slots += side.size


class _StopSignal:
    """Notes SIGINT and SIGTERM, so that the loop can save first; a second one interrupts."""

    asked = False

    def __enter__(self) -> "_StopSignal":
        self._before = {
            number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, *_) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


_compilations = 0


def programs_compiled() -> int:
    """How many programs XLA has compiled in this process since this module was imported."""
    return _compilations


def _count_compilation(event: str, *_, **__) -> None:
    global _compilations
    _compilations += event == "/jax/core/compile/backend_compile_duration"


jax.monitoring.register_event_duration_secs_listener(_count_compilation)
