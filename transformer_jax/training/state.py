"""What changes from step to step."""

from functools import partial
from typing import Any

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jaxtyping import PyTree

from transformer_jax import sharding


class TrainState(flax.struct.PyTreeNode):
    """Parameters, optimizer state and the number of updates made."""

    step: Any  # int32 scalar; in a tree of shapes or of shardings, its shape or sharding
    params: PyTree
    opt_state: optax.OptState


def create_state(
    key: jax.Array, model: nn.Module, optimizer: optax.GradientTransformation
) -> TrainState:
    """A fresh state; jit it with `out_shardings` to create it in place on a mesh."""
    params = _init(key, model)
    return TrainState(jnp.zeros((), jnp.int32), params, optimizer.init(params))


def abstract_params(model: nn.Module, mesh: Mesh) -> PyTree:
    """Shapes and dtypes of the parameters, a whole copy on every device: what inference loads."""
    shapes = jax.eval_shape(partial(_init, model=model), jax.random.key(0))
    everywhere = sharding.replicated(mesh)
    return jax.tree.map(lambda leaf: leaf.update(sharding=everywhere), shapes)


def _init(key: jax.Array, model: nn.Module) -> PyTree:
    tokens = jnp.ones((1, 1), jnp.int32)
    return model.init(key, tokens, tokens)["params"]
