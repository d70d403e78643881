"""Scaled dot-product attention (section 3.2.1) and the masks it takes."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


def scaled_dot_product_attention(
    query: Float[Array, "B T H D"],
    key: Float[Array, "B S H D"],
    value: Float[Array, "B S H E"],
    mask: Bool[Array, "#B #H #T S"] | None = None,
) -> Float[Array, "B T H E"]:
    """softmax(Q K^T / sqrt(d_k)) V, equation 1, for every head at once.

    `mask` is true where a query may look. The softmax runs in float32 whatever the dtype of the
    arguments; the result has the dtype of `value`. A query that may look nowhere gets the mean
    of the values, so that rows of padding stay finite.
    """
    d_k = query.shape[-1]
    # Scaling the query costs T*D products instead of T*S.
    query = query * (d_k**-0.5)
    scores = jnp.einsum("BTHD,BSHD->BHTS", query, key, preferred_element_type=jnp.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, jnp.finfo(jnp.float32).min)
    weights = jax.nn.softmax(scores, axis=-1).astype(value.dtype)
    return jnp.einsum("BHTS,BSHE->BTHE", weights, value)


def padding_mask(tokens: Int[Array, "B S"], pad: int) -> Bool[Array, "B 1 1 S"]:
    """True at the real tokens of each sentence: no query looks at padding."""
    return (tokens != pad)[:, None, None, :]


def causal_mask(length: int) -> Bool[Array, "1 1 T T"]:
    """True where the key is not later than the query: position t sees 0..t (section 3.2.3)."""
    return jnp.tril(jnp.ones((length, length), bool))[None, None]
