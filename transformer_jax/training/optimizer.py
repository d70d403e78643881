"""Adam as in section 5.3."""

import optax


def adam(
    schedule: optax.Schedule,
    b1: float = 0.9,
    b2: float = 0.98,
    eps: float = 1e-9,
    clip_norm: float | None = None,
) -> optax.GradientTransformation:
    """Adam with the paper's constants; gradients are clipped by global norm only where asked."""
    # Either has a state of the same form, so that a run can go on with another `clip_norm`.
    clip = optax.identity() if clip_norm is None else optax.clip_by_global_norm(clip_norm)
    return optax.chain(clip, optax.adam(schedule, b1, b2, eps))
