"""One update: loss, gradient, Adam. A pure function; `train.py` jits it over the mesh."""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float32

from transformer_jax.batch import PAD
from transformer_jax.model.loss import token_loss
from transformer_jax.model.transformer import Transformer
from transformer_jax.ops.loss import TokenLoss
from transformer_jax.training.state import TrainState


class StepMetrics(NamedTuple):
    """Of one update: sums over its target tokens, and the norm of the mean gradient."""

    loss: Float32[Array, ""]
    nll: Float32[Array, ""]
    tokens: Float32[Array, ""]
    grad_norm: Float32[Array, ""]


def train_step(
    state: TrainState,
    batch: Mapping[str, jax.Array],
    *,
    model: Transformer,
    optimizer: optax.GradientTransformation,
    label_smoothing: float,
    seed: int,
    micro_batches: int = 1,
) -> tuple[TrainState, StepMetrics]:
    """The state after one update on `batch`, and its metrics.

    The loss is the sum over all real target tokens divided by their number, whatever the number
    of devices and of `micro_batches`. Dropout is a function of (seed, step) and the micro-batch.
    """
    step_key = jax.random.fold_in(jax.random.key(seed), state.step)

    # Dividing each part by the count of the whole spares a pass over the summed gradient.
    tokens = jnp.sum(batch["target"] != PAD, dtype=jnp.float32)

    def gradient(micro_batch, key):
        def loss(params):
            sums = token_loss(model, params, micro_batch, label_smoothing, key)
            return sums.loss / jnp.maximum(tokens, 1.0), sums

        return jax.grad(loss, has_aux=True)(state.params)

    if micro_batches == 1:
        grads, sums = gradient(batch, step_key)
    else:

        def add(total, item):
            return jax.tree.map(jnp.add, total, gradient(*item)), None

        # Every micro-batch takes each device's own rows, so that nothing moves between devices.
        split = jax.tree.map(
            lambda rows: rows.reshape(-1, micro_batches, rows.shape[-1]).swapaxes(0, 1), batch
        )
        zeros = jax.tree.map(jnp.zeros_like, (state.params, TokenLoss(*jnp.zeros(3))))
        keys = jax.random.split(step_key, micro_batches)
        (grads, sums), _ = jax.lax.scan(add, zeros, (split, keys))

    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    metrics = StepMetrics(*sums, grad_norm=optax.tree.norm(grads))
    return TrainState(state.step + 1, params, opt_state), metrics
