"""The parts of a layer: multi-head attention, feed-forward network, add & norm."""

from collections.abc import Callable
from functools import partial

import flax.linen as nn
import jax
from jaxtyping import Array, Bool, Float

from transformer_jax.model.config import TransformerConfig
from transformer_jax.ops import attention
from transformer_jax.ops.dropout import dropout
from transformer_jax.ops.matmul import matmul


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W^O, head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V) (3.2.2).

    The h projections of a kind are one array, `query`, `key` [M, H, D], `value` [M, H, E] and
    `out` [H, E, M], without biases, and Glorot-uniform as one matrix [M, H * D], as in the
    authors' code. Linen's own attention ties d_k to d_v, which row B of Table 3 does not.
    """

    config: TransformerConfig

    def setup(self):
        config = self.config
        inward = nn.initializers.variance_scaling(
            1.0, "fan_avg", "uniform", in_axis=0, out_axis=(1, 2)
        )
        outward = nn.initializers.variance_scaling(
            1.0, "fan_avg", "uniform", in_axis=(0, 1), out_axis=2
        )
        keys = (config.d_model, config.num_heads, config.key_width)
        values = (config.d_model, config.num_heads, config.value_width)
        self.query_kernel = self.param("query", inward, keys)
        self.key_kernel = self.param("key", inward, keys)
        self.value_kernel = self.param("value", inward, values)
        self.out_kernel = self.param("out", outward, (*values[1:], config.d_model))
        self.drop = Dropout(config.attention_dropout_rate)

    def __call__(
        self,
        x: Float[Array, "B T M"],
        memory: Float[Array, "B S M"],
        mask: Bool[Array, "#B 1 #T S"] | None,
    ) -> Float[Array, "B T M"]:
        """Queries from `x`, keys and values from `memory` (`x` itself in self-attention)."""
        return self.attend(x, *self.keys_and_values(memory), mask)

    def keys_and_values(
        self, memory: Float[Array, "B S M"]
    ) -> tuple[Float[Array, "B S H D"], Float[Array, "B S H E"]]:
        """K W^K and V W^V: what a decoder's cache keeps."""
        return _to_heads(memory, self.key_kernel), _to_heads(memory, self.value_kernel)

    def attend(
        self,
        x: Float[Array, "B T M"],
        key: Float[Array, "B S H D"],
        value: Float[Array, "B S H E"],
        mask: Bool[Array, "#B 1 #T S"] | None,
    ) -> Float[Array, "B T M"]:
        """Queries from `x` over keys and values that are projected already (equation 1).

        The weights are sown: `apply(..., mutable=["attention"])` returns them, for figures 3-5.
        """
        query = _to_heads(x, self.query_kernel)
        weights = attention.attention_weights(query, key, mask, scaled=self.config.scale_scores)
        self.sow("attention", "weights", weights)
        return _from_heads(attention.attend(self.drop(weights), value), self.out_kernel)


# As products of matrices: with einsum over three dimensions XLA leaves the gradient of a kernel
# transposed, and the optimizer then reads it across the grain.
def _to_heads(x: Float[Array, "B T M"], kernel: Float[Array, "M H D"]) -> Float[Array, "B T H D"]:
    matrix = kernel.reshape(kernel.shape[0], -1).astype(x.dtype)
    return matmul(x, matrix).reshape(*x.shape[:2], *kernel.shape[1:])


def _from_heads(
    heads: Float[Array, "B T H E"], kernel: Float[Array, "H E M"]
) -> Float[Array, "B T M"]:
    matrix = kernel.reshape(-1, kernel.shape[-1]).astype(heads.dtype)
    return matmul(heads.reshape(*heads.shape[:2], -1), matrix)


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, equation 2; the same for every position."""

    config: TransformerConfig

    @nn.compact
    def __call__(self, x: Float[Array, "B T M"]) -> Float[Array, "B T M"]:
        config = self.config
        dense = partial(
            nn.Dense,
            dtype=x.dtype,
            kernel_init=nn.initializers.glorot_uniform(),
            dot_general=lambda x, kernel, *_, **__: matmul(x, kernel),
        )
        inner = dense(config.d_ff, name="inner")(x)
        return dense(config.d_model, name="outer")(jax.nn.relu(inner))


class AddNorm(nn.Module):
    """The residual connection around a sub-layer: LayerNorm(x + Dropout(sublayer(x))) (5.4).

    With `config.norm` "pre", x + Dropout(sublayer(LayerNorm(x))). Dropout is on when a "dropout"
    key is passed to `apply`, and off otherwise.
    """

    config: TransformerConfig

    @nn.compact
    def __call__(
        self, x: Float[Array, "B T M"], sublayer: Callable[[Array], Array]
    ) -> Float[Array, "B T M"]:
        norm = layer_norm(self.config, "norm")
        drop = Dropout(self.config.dropout_rate)
        if self.config.norm == "pre":
            return x + drop(sublayer(norm(x)))
        return norm(x + drop(sublayer(x)))


class Dropout(nn.Module):
    """Zeroes a share `rate` of the elements and scales up the rest, given a "dropout" key."""

    rate: float

    @nn.compact
    def __call__(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        if not self.rate or not self.has_rng("dropout"):
            return x
        return dropout(self.make_rng("dropout"), x, self.rate)


def layer_norm(config: TransformerConfig, name: str) -> nn.LayerNorm:
    """LayerNorm (Ba et al., 2016), statistics in float32; epsilon as in the authors' code."""
    return nn.LayerNorm(epsilon=1e-6, dtype=config.compute_dtype, name=name)
