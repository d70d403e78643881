"""The Transformer (section 3, figure 1): encoder, decoder, and the decoder one token at a time."""

from collections.abc import Callable
from functools import partial
from itertools import count, takewhile
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Float32, Int, Int32

from transformer_jax.batch import BOS, PAD
from transformer_jax.errors import InputError
from transformer_jax.model.config import TransformerConfig
from transformer_jax.model.layers import (
    AddNorm,
    Dropout,
    FeedForward,
    MultiHeadAttention,
    layer_norm,
)
from transformer_jax.ops.attention import causal_mask, local_mask, padding_mask
from transformer_jax.ops.positions import sinusoidal_positions


class Memory(NamedTuple):
    """One layer's keys and values of the source, one set for all beams of a sentence."""

    key: Float[Array, "B S H D"]
    value: Float[Array, "B S H E"]


class Past(NamedTuple):
    """One decoder layer's keys and values of the tokens so far, in the slot that wrote them."""

    key: Float[Array, "B L K H D"]
    value: Float[Array, "B L K H E"]

    def write(
        self,
        key: Float[Array, "B K H D"],
        value: Float[Array, "B K H E"],
        position: Int32[Array, ""],
    ) -> "Past":
        """With the keys and values of the token at `position`."""

        def written(old, new):
            return jax.lax.dynamic_update_index_in_dim(old, new, position, 1)

        return Past(written(self.key, key), written(self.value, value))

    def first(self, length: int) -> tuple[Float[Array, "B S H D"], Float[Array, "B S H E"]]:
        """Keys and values of the first `length` positions: S = length * K."""

        def cut(array):
            return array[:, :length].reshape(array.shape[0], -1, *array.shape[3:])

        return cut(self.key), cut(self.value)


class Cache(NamedTuple):
    """What `step` knows of the source and of the tokens before.

    `ancestor[b, k, t]` is the slot in which beam k's token t was written. Reordering beams
    rewrites these numbers alone; keys and values never move.
    """

    memory: tuple[Memory, ...]
    source_mask: Bool[Array, "B 1 1 S"]
    past: tuple[Past, ...]
    ancestor: Int32[Array, "B K L"]

    def reorder(self, parent: Int32[Array, "B K"]) -> "Cache":
        """The cache in which beam k continues what beam `parent[b, k]` was."""
        ancestor = jnp.take_along_axis(self.ancestor, parent[:, :, None], axis=1)
        return self._replace(ancestor=ancestor)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each within add & norm (section 3.1)."""

    config: TransformerConfig

    def setup(self):
        self.self_attention = MultiHeadAttention(self.config)
        self.self_attention_norm = AddNorm(self.config)
        self.feed_forward = FeedForward(self.config)
        self.feed_forward_norm = AddNorm(self.config)

    def __call__(
        self, x: Float[Array, "B S M"], mask: Bool[Array, "B 1 #S S"]
    ) -> Float[Array, "B S M"]:
        x = self.self_attention_norm(x, lambda y: self.self_attention(y, y, mask))
        return self.feed_forward_norm(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, feed-forward (section 3.1)."""

    config: TransformerConfig

    def setup(self):
        self.self_attention = MultiHeadAttention(self.config)
        self.self_attention_norm = AddNorm(self.config)
        self.cross_attention = MultiHeadAttention(self.config)
        self.cross_attention_norm = AddNorm(self.config)
        self.feed_forward = FeedForward(self.config)
        self.feed_forward_norm = AddNorm(self.config)

    def __call__(
        self,
        x: Float[Array, "B T M"],
        memory: Memory,
        source_mask: Bool[Array, "B 1 1 S"],
        target_mask: Bool[Array, "1 1 T T"],
    ) -> Float[Array, "B T M"]:
        x = self.self_attention_norm(x, lambda y: self.self_attention(y, y, target_mask))
        return self._look_at_source(x, memory, source_mask)

    def step(
        self,
        x: Float[Array, "B K M"],
        memory: Memory,
        source_mask: Bool[Array, "B 1 1 S"],
        past: Past,
        past_mask: Bool[Array, "B 1 K LK"],
        position: Int32[Array, ""],
    ) -> tuple[Float[Array, "B K M"], Past]:
        """One position further: the K beams of a sentence are K queries over the same keys."""

        def attend(y):
            nonlocal past
            past = past.write(*self.self_attention.keys_and_values(y), position)

            def over(length):
                mask = past_mask[..., : length * y.shape[1]]
                return self.self_attention.attend(y, *past.first(length), mask)

            return _over_what_is_written(position, past.key.shape[1], over)

        x = self.self_attention_norm(x, attend)
        return self._look_at_source(x, memory, source_mask), past

    def _look_at_source(self, x, memory, source_mask):
        x = self.cross_attention_norm(
            x, lambda y: self.cross_attention.attend(y, memory.key, memory.value, source_mask)
        )
        return self.feed_forward_norm(x, self.feed_forward)


class Transformer(nn.Module):
    """The whole model. One embedding matrix serves source, target and softmax (section 3.4).

    Ids are int32 [B, S] and [B, T], PAD at the end. Dropout (section 5.4) is on exactly when
    `apply` is given a "dropout" key.
    """

    config: TransformerConfig

    def setup(self):
        config = self.config
        self.embedding = self.param(
            "embedding",
            nn.initializers.normal(config.d_model**-0.5),
            (config.vocab_size, config.d_model),
        )
        if config.positions == "learned":
            self.position_table = self.param(
                "positions",
                nn.initializers.normal(config.d_model**-0.5),
                (config.max_positions, config.d_model),
            )
        self.embedding_dropout = Dropout(config.dropout_rate)
        self.encoder = [EncoderLayer(config) for _ in range(config.num_layers)]
        self.decoder = [DecoderLayer(config) for _ in range(config.num_layers)]
        if config.norm == "pre":
            self.encoder_norm = layer_norm(config, "encoder_norm")
            self.decoder_norm = layer_norm(config, "decoder_norm")

    def __call__(
        self, source: Int[Array, "B S"], target: Int[Array, "B T"]
    ) -> Float32[Array, "B T V"]:
        """Logits of log p(target_t | target_<t, source) for every t (teacher forcing)."""
        return self.decode(target, self.encode(source), source)

    def encode(self, source: Int[Array, "B S"]) -> Float[Array, "B S M"]:
        """The encoder's output."""
        x = self._embed(source, self._positions(source.shape[1]))
        mask = padding_mask(source, PAD)
        if self.config.neighbourhood:
            mask = mask & local_mask(source.shape[1], self.config.neighbourhood)
        for layer in self.encoder:
            x = layer(x, mask)
        return self.encoder_norm(x) if self.config.norm == "pre" else x

    def decode(
        self,
        target: Int[Array, "B T"],
        encoded: Float[Array, "B S M"],
        source: Int[Array, "B S"],
    ) -> Float32[Array, "B T V"]:
        """Logits for every target position; the decoder's input is `target` right-shifted.

        Padding at the end of a target needs no mask of its own: it lies in the future of every
        real token.
        """
        shifted = jnp.pad(target, ((0, 0), (1, 0)), constant_values=BOS)[:, :-1]
        x = self._embed(shifted, self._positions(target.shape[1]))
        source_mask, target_mask = padding_mask(source, PAD), causal_mask(target.shape[1])
        if self.config.neighbourhood:
            target_mask = target_mask & local_mask(target.shape[1], self.config.neighbourhood)
        for layer, memory in zip(self.decoder, self._memories(encoded), strict=True):
            x = layer(x, memory, source_mask, target_mask)
        return self._logits(x)

    def start(self, source: Int[Array, "B S"], beam_size: int, length: int) -> Cache:
        """The cache before the first of at most `length` tokens, with room for every beam."""
        config, batch = self.config, source.shape[0]
        slots = (batch, length, beam_size, config.num_heads)
        past = Past(
            jnp.zeros((*slots, config.key_width), config.compute_dtype),
            jnp.zeros((*slots, config.value_width), config.compute_dtype),
        )
        return Cache(
            memory=tuple(self._memories(self.encode(source))),
            source_mask=padding_mask(source, PAD),
            past=(past,) * config.num_layers,
            ancestor=jnp.full((batch, beam_size, length), -1, jnp.int32),
        )

    def step(
        self, tokens: Int32[Array, "B K"], position: Int32[Array, ""], cache: Cache
    ) -> tuple[Float32[Array, "B K V"], Cache]:
        """Logits of the token at `position` for every beam, given the token before it.

        The same numbers as `__call__`, at O(position) a token: `tokens` is BOS at position 0.
        """
        batch, beam_size = tokens.shape
        length = cache.ancestor.shape[2]
        row = jax.lax.dynamic_slice_in_dim(self._positions(length), position, 1)
        x = self._embed(tokens, row)

        own_slot = jnp.broadcast_to(jnp.arange(beam_size, dtype=jnp.int32), (batch, beam_size))
        ancestor = jax.lax.dynamic_update_index_in_dim(cache.ancestor, own_slot, position, 2)
        # -1, at positions not written yet, is no slot: the future is masked by the same test.
        past_mask = ancestor[..., None] == jnp.arange(beam_size)[None, None, None]
        if self.config.neighbourhood:
            near = position - jnp.arange(length) <= self.config.neighbourhood // 2
            past_mask = past_mask & near[None, None, :, None]
        past_mask = past_mask.reshape(batch, 1, beam_size, length * beam_size)

        past = []
        for layer, memory, layer_past in zip(self.decoder, cache.memory, cache.past, strict=True):
            x, layer_past = layer.step(
                x, memory, cache.source_mask, layer_past, past_mask, position
            )
            past.append(layer_past)
        return self._logits(x), cache._replace(past=tuple(past), ancestor=ancestor)

    def _positions(self, length):
        config = self.config
        if config.positions == "sinusoidal":
            return jnp.asarray(sinusoidal_positions(length, config.d_model))
        if length > config.max_positions:
            raise InputError(
                f"{length} positions asked of a model whose learned table has "
                f"{config.max_positions} (model.max_positions): give shorter sentences"
            )
        return self.position_table[:length]

    def _embed(self, tokens, positions):
        # Scaled in float32, as the sum with the encoding is: bfloat16 would round positions.
        x = self.embedding[tokens] * self.config.d_model**0.5 + positions[None]
        return self.embedding_dropout(x.astype(self.config.compute_dtype))

    def _memories(self, encoded):
        return [Memory(*layer.cross_attention.keys_and_values(encoded)) for layer in self.decoder]

    def _logits(self, x):
        if self.config.norm == "pre":
            x = self.decoder_norm(x)
        return jnp.einsum(
            "BTM,VM->BTV",
            x,
            self.embedding.astype(x.dtype),
            preferred_element_type=jnp.float32,
        )


def _over_what_is_written(
    position: Int32[Array, ""], length: int, attend: Callable[[int], Array]
) -> Array:
    """attend(n), n the least over `position` of 32, 64, ..., up to half of `length`, and `length`.

    Each is a branch of the compiled program: shapes are static, and most outputs end long before
    their limit, which is what the cache has room for.
    """
    lengths = [*takewhile(lambda n: 2 * n <= length, (32 << i for i in count())), length]
    branch = jnp.sum(position >= jnp.array(lengths[:-1], jnp.int32))
    return jax.lax.switch(branch, [partial(attend, n) for n in lengths])
