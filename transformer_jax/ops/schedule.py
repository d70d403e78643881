"""Learning rates (section 5.3) as optax schedules: functions of the number of updates made."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float32

Schedule = Callable[[ArrayLike], Float32[Array, ""]]


def noam_schedule(d_model: int, warmup_steps: int = 4000, factor: float = 1.0) -> Schedule:
    """factor * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), equation 3.

    `step` counts from 1, so the first update, at count 0, already moves the parameters. The paper
    has `factor` 1; tensor2tensor's later settings have 2 and a warm-up of 8000.
    """
    return peak_schedule(factor * (d_model * warmup_steps) ** -0.5, warmup_steps)


def peak_schedule(peak: float, warmup_steps: int) -> Schedule:
    """Linear warm-up to `peak` at update `warmup_steps`, then inverse square root decay.

    The same curve as equation 3, named by its highest point as most recipes do.
    """

    def schedule(count):
        step = jnp.asarray(count, jnp.float32) + 1.0
        return peak * jnp.minimum(step / warmup_steps, jnp.sqrt(warmup_steps / step))

    return schedule
