"""Label-smoothed cross-entropy (section 5.4), and the plain nll that perplexity needs."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Float32, Int


class TokenLoss(NamedTuple):
    """Sums over tokens; divide by `tokens` once, after adding up devices and micro-batches."""

    loss: Float32[Array, ""]
    nll: Float32[Array, ""]
    tokens: Float32[Array, ""]


def label_smoothed_cross_entropy(
    logits: Float[Array, "B T V"],
    targets: Int[Array, "B T"],
    weights: Bool[Array, "B T"],
    label_smoothing: float = 0.1,
) -> TokenLoss:
    """Sum of the cross-entropy with smoothed targets over the tokens where `weights` is true.

    The smoothed target is (1 - e) one-hot + e/V over all V classes (Szegedy et al., 2015), as
    `optax.smooth_labels`; tensor2tensor spreads e over the other V - 1 and subtracts the entropy
    of the smoothed target. `nll` is the unsmoothed negative log-likelihood in nats:
    exp(nll / tokens) is the perplexity per subword. Computed in float32 from the logits alone.
    """
    loss, nll = _smoothed(logits.astype(jnp.float32), targets, label_smoothing)
    return TokenLoss(
        jnp.sum(jnp.where(weights, loss, 0.0)),
        jnp.sum(jnp.where(weights, nll, 0.0)),
        jnp.sum(weights, dtype=jnp.float32),
    )


def _smoothed_plain(logits, targets, label_smoothing):
    return _smoothed_forward(logits, targets, label_smoothing)[0]


def _smoothed_forward(logits, targets, label_smoothing):
    highest = jnp.max(logits, axis=-1, keepdims=True)
    # Both sums in one pass over the logits, the largest array of a step.
    exponentials, total = jax.lax.reduce(
        (jnp.exp(logits - highest), logits),
        (jnp.float32(0), jnp.float32(0)),
        lambda sums, values: (sums[0] + values[0], sums[1] + values[1]),
        (logits.ndim - 1,),
    )
    normaliser = jnp.log(exponentials) + highest[..., 0]
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    nll = normaliser - chosen
    uniform = normaliser - total / logits.shape[-1]
    loss = (1.0 - label_smoothing) * nll + label_smoothing * uniform
    return (loss, nll), (logits, targets, normaliser)


def _smoothed_backward(label_smoothing, residuals, cotangents):
    # Written out so that it is one fused pass over the logits: automatic differentiation of the
    # gather would scatter into a zero array as large as the logits.
    logits, targets, normaliser = residuals
    of_loss, of_nll = (cotangent[..., None] for cotangent in cotangents)
    vocabulary = logits.shape[-1]
    probability = jnp.exp(logits - normaliser[..., None])
    is_target = jnp.arange(vocabulary)[None, None] == targets[..., None]
    hit = (1.0 - label_smoothing) * of_loss + of_nll
    spread = label_smoothing / vocabulary * of_loss
    gradient = (of_loss + of_nll) * probability - spread - jnp.where(is_target, hit, 0.0)
    return gradient, None


_smoothed: Any = jax.custom_vjp(_smoothed_plain, nondiff_argnums=(2,))
_smoothed.defvjp(_smoothed_forward, _smoothed_backward)
