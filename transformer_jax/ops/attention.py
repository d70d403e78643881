"""Scaled dot-product attention (section 3.2.1) and the masks it takes."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Float32, Int


def scaled_dot_product_attention(
    query: Float[Array, "B T H D"],
    key: Float[Array, "B S H D"],
    value: Float[Array, "B S H E"],
    mask: Bool[Array, "#B #H #T S"] | None = None,
) -> Float[Array, "B T H E"]:
    """softmax(Q K^T / sqrt(d_k)) V, equation 1, for every head at once.

    The softmax runs in float32 whatever the dtype of the arguments; the result has the dtype of
    `value`. `attention_weights` is its first half.
    """
    return attend(attention_weights(query, key, mask), value)


def attention_weights(
    query: Float[Array, "B T H D"],
    key: Float[Array, "B S H D"],
    mask: Bool[Array, "#B #H #T S"] | None = None,
    scaled: bool = True,
) -> Float32[Array, "B H T S"]:
    """softmax(Q K^T / sqrt(d_k)): how much each query takes from each key.

    `mask` is true where a query may look. A query that may look nowhere gets the mean of the
    values, so that rows of padding stay finite. Without `scaled` the scores are not divided by
    sqrt(d_k): the plain dot-product attention that section 3.2.1 argues against.
    """
    if scaled:
        # Scaling the query costs T*D products instead of T*S.
        query = query * (query.shape[-1] ** -0.5)
    scores = jnp.einsum("BTHD,BSHD->BHTS", query, key, preferred_element_type=jnp.float32)
    if mask is not None:
        scores = jnp.where(mask, scores, jnp.finfo(jnp.float32).min)
    return jax.nn.softmax(scores, axis=-1)


def attend(
    weights: Float[Array, "B H T S"], value: Float[Array, "B S H E"]
) -> Float[Array, "B T H E"]:
    """The values, weighted: the second half of equation 1."""
    return jnp.einsum("BHTS,BSHE->BTHE", weights.astype(value.dtype), value)


def padding_mask(tokens: Int[Array, "B S"], pad: int) -> Bool[Array, "B 1 1 S"]:
    """True at the real tokens of each sentence: no query looks at padding."""
    return (tokens != pad)[:, None, None, :]


def causal_mask(length: int) -> Bool[Array, "1 1 T T"]:
    """True where the key is not later than the query: position t sees 0..t (section 3.2.3)."""
    return jnp.tril(jnp.ones((length, length), bool))[None, None]


def local_mask(length: int, neighbourhood: int) -> Bool[Array, "1 1 T T"]:
    """True where query and key are at most r / 2 apart: restricted self-attention (section 4).

    The neighbourhood of r positions is centred on the query: r = 1 is the query's own position,
    r = 3 adds the two beside it. Even numbers act as the next odd one. Under a causal mask the
    half before it is left, r // 2 + 1 positions.
    """
    position = jnp.arange(length)
    distance = jnp.abs(position[:, None] - position[None])
    return (distance <= neighbourhood // 2)[None, None]
