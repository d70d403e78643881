"""Beam search with a length penalty (section 6.1) over any model that predicts the next token."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Float32, Int32, Shaped

Cache = Any  # a pytree that only `step` and `reorder` look into


class Hypotheses(NamedTuple):
    """The N = n_best translations of each sentence, best first.

    `tokens` has no bos: the subwords, eos, then pad. `scores` is log p(y|x) / lp(|y|) in nats and
    `lengths` is |y|, both counting eos. Where a sentence has fewer than N hypotheses, the rest is
    all pad, of score -inf and length 0.
    """

    tokens: Int32[Array, "B N L"]
    scores: Float32[Array, "B N"]
    lengths: Int32[Array, "B N"]


class _Alive(NamedTuple):
    """The K best prefixes without eos, best first; column 0 of `tokens` is bos."""

    tokens: Int32[Array, "B K L+1"]
    logprobs: Float32[Array, "B K"]


class _State(NamedTuple):
    position: Int32[Array, ""]
    alive: _Alive
    finished: Hypotheses  # tokens with the column of bos (here pad) as in _Alive: "B N L+1"
    done: Bool[Array, " B"]
    cache: Cache


def length_penalty_table(max_length: int, alpha: float) -> Float32[np.ndarray, " {max_length}+1"]:
    """lp(n) = ((5 + n) / 6)^alpha for n = 0 ... max_length tokens (Wu et al., 2016, eq. 14)."""
    lengths = np.arange(max_length + 1, dtype=np.float64)
    return (((5.0 + lengths) / 6.0) ** alpha).astype(np.float32)


def reorder_second_axis(cache: Cache, parents: Int32[Array, "B K"]) -> Cache:
    """The cache of the surviving beams, where every leaf is [B, K, ...] and belongs to a beam."""
    return jax.tree.map(lambda leaf: _take(leaf, parents), cache)


def beam_search(
    step: Callable[[Int32[Array, "B K"], Int32[Array, ""], Cache], tuple[Array, Cache]],
    cache: Cache,
    limits: Int32[Array, " B"],
    *,
    max_length: int,
    beam_size: int = 4,
    n_best: int = 1,
    length_penalty: float = 0.6,
    bos: int,
    eos: int,
    pad: int,
    reorder: Callable[[Cache, Int32[Array, "B K"]], Cache] = reorder_second_axis,
) -> Hypotheses:
    """The n best outputs y of each sentence x by log p(y|x) / lp(|y|), as far as a beam sees.

    The search is among the sequences that end in eos and have at most `limit` tokens, counting it;
    lp(n) = ((5 + n) / 6)^length_penalty. A beam as wide as the space finds the exact maximum.

    Args:
      step: `step(tokens, position, cache) -> (logits [B, K, V], cache)`. `tokens` [B, K] stand
        before `position`: bos at position 0. Logits may be of any float type; the softmax is taken
        here, in float32, over all V.
      cache: the model's state before position 0, for K beams of each of B sentences.
      limits: the most tokens of each sentence, counting eos; the paper has the input's length + 50
        (section 6.3: + 300). Larger ones are cut to `max_length`. 0 marks a row that fills up the
        batch: it gets no hypothesis and prolongs nothing.
      max_length: L, the static length of the token buffer; `step` sees positions 0 ... L - 1.
      beam_size: K. At K = 1 the search is greedy: the likeliest token until eos or the limit, and
        the length penalty changes nothing but the score that is reported.
      n_best: N <= K, hypotheses returned.
      length_penalty: alpha >= 0; 0 compares plain log-probabilities.
      bos, eos, pad: `bos` is the first input and `pad` fills up the output. Neither is generated,
        unless it equals `eos`; their probability is not given to the others.
      reorder: `reorder(cache, parents) -> cache`, where beam k goes on from beam `parents[b, k]`.
        By default every leaf of the cache is [B, K, ...] and is gathered along its second axis.

    A step extends the K alive prefixes by every token. Of the 2K likeliest extensions, those that
    end in eos compete for the N finished places by score, the K best others stay alive; there are
    2K since K may end at once (1 if K = 1). At the last position of its limit a sentence can only
    take eos, at its true cost: each hypothesis is complete and scored as teacher forcing would.
    Among equals the earlier finished, the lower beam, then the lower id comes first.

    A sentence is done when no alive prefix can still enter its N best. Log-probabilities only fall
    and lp only grows, so the best one reaches at most logprob / lp(limit). From there on its result
    stands: it depends on neither the other sentences nor how long these take. The loop ends with
    the last sentence; under `jax.shard_map` with that of each device (with `check_vma`, the cache
    has to vary over the axes over which `limits` does).

    tensor2tensor (utils/beam_search.py), the paper's code, takes the limit from the padded length
    of the batch, stops when every sentence of the batch may, and returns alive prefixes, scored
    without penalty, where none has ended. fairseq and CTranslate2 let eos end a hypothesis only
    among the K likeliest extensions.

    Raises:
      ValueError: a static argument is out of its range.
    """
    if beam_size < 1:
        raise ValueError(f"beam_size is {beam_size}, but has to be at least 1")
    if not 1 <= n_best <= beam_size:
        raise ValueError(f"n_best is {n_best}, but has to be from 1 to beam_size = {beam_size}")
    if not 0.0 <= length_penalty < math.inf:
        raise ValueError(f"length_penalty is {length_penalty}, but has to be finite and >= 0")
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}, but has to be at least 1")

    batch = limits.shape[0]
    limits = jnp.minimum(limits, max_length)
    penalty = jnp.asarray(length_penalty_table(max_length, length_penalty))

    def advance(state: _State) -> _State:
        position, alive, finished, done, cache = state
        logits, cache = step(alive.tokens[:, :, position], position, cache)
        is_last = position + 1 >= limits
        logprobs, parents, tokens = _extensions(alive.logprobs, logits, is_last, bos, eos, pad)
        ends = tokens == eos

        # A finished place holds what it held, or an alive prefix (row n_best + beam) and eos.
        rows = jnp.broadcast_to(jnp.arange(n_best, dtype=jnp.int32), (batch, n_best))
        rows = jnp.concatenate([rows, n_best + parents], axis=1)
        lengths = jnp.concatenate([finished.lengths, jnp.full_like(parents, position + 1)], axis=1)
        scores = jnp.where(ends & ~done[:, None], logprobs / penalty[position + 1], -jnp.inf)
        scores, kept = lax.top_k(jnp.concatenate([finished.scores, scores], axis=1), n_best)
        sequences = jnp.concatenate([finished.tokens, alive.tokens], axis=1)
        sequences = _take(sequences, _take(rows, kept))
        ids = jnp.where(kept < n_best, sequences[:, :, position + 1], eos)
        sequences = sequences.at[:, :, position + 1].set(ids)
        finished = Hypotheses(sequences, scores, _take(lengths, kept))

        logprobs, kept = lax.top_k(jnp.where(ends, -jnp.inf, logprobs), beam_size)
        parents, tokens = _take(parents, kept), _take(tokens, kept)
        sequences = _take(alive.tokens, parents).at[:, :, position + 1].set(tokens)
        alive = _Alive(sequences, logprobs)
        attainable = logprobs[:, 0] / penalty[limits]
        done = done | is_last | (scores[:, -1] >= attainable)
        return _State(position + 1, alive, finished, done, reorder(cache, parents))

    # full_like and not full: under shard_map the state varies over devices as the limits do.
    def full(value, dtype, *shape: int):
        return jnp.full_like(limits, value, dtype, shape=(batch, *shape))

    first = _Alive(  # one beam, or the first step would choose each token K times
        tokens=full(pad, jnp.int32, beam_size, max_length + 1).at[:, :, 0].set(bos),
        logprobs=full(-jnp.inf, jnp.float32, beam_size).at[:, 0].set(0.0),
    )
    nothing = Hypotheses(
        tokens=full(pad, jnp.int32, n_best, max_length + 1),
        scores=full(-jnp.inf, jnp.float32, n_best),
        lengths=full(0, jnp.int32, n_best),
    )
    state = _State(jnp.int32(0), first, nothing, limits <= 0, cache)
    state = lax.while_loop(lambda state: ~jnp.all(state.done), advance, state)
    return state.finished._replace(tokens=state.finished.tokens[:, :, 1:])


def _extensions(
    alive: Float32[Array, "B K"],
    logits: Float[Array, "B K V"],
    is_last: Bool[Array, " B"],
    bos: int,
    eos: int,
    pad: int,
) -> tuple[Float32[Array, "B C"], Int32[Array, "B C"], Int32[Array, "B C"]]:
    """The C likeliest one-token extensions: log-probability, beam and token, best first."""
    _, beam_size, vocabulary = logits.shape
    if not 0 <= eos < vocabulary:
        raise ValueError(f"eos is {eos}, but the vocabulary has the ids 0 to {vocabulary - 1}")
    count = 1 if beam_size == 1 else 2 * beam_size
    width = min(count, vocabulary)

    ids = np.arange(vocabulary)[None, None]
    anywhere = (ids == eos) | ((ids != bos) & (ids != pad))
    allowed = jnp.where(is_last[:, None, None], ids == eos, anywhere)
    # Float32 before top_k, which sorts bfloat16 whole on the CPU. The best of each beam, then the
    # best of those, which normalises K * width values instead of K * V.
    logits = logits.astype(jnp.float32)
    best, tokens = lax.top_k(jnp.where(allowed, logits, -jnp.inf), width)
    best = alive[:, :, None] + (best - jax.nn.logsumexp(logits, axis=-1, keepdims=True))
    merge = (logits.shape[0], beam_size * width)
    logprobs, chosen = lax.top_k(best.reshape(merge), min(count, beam_size * width))
    return logprobs, chosen // width, _take(tokens.reshape(merge), chosen)


def _take(rows: Shaped[Array, "B R *rest"], index: Int32[Array, "B I"]) -> Array:
    """rows[b, index[b, i], ...] for every b and i."""
    return jax.vmap(lambda row, i: row[i])(rows, index)
