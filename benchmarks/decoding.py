"""Beam search with the base model: sentences/s and the share of the machine's matrix rate.

    python benchmarks/decoding.py
    python benchmarks/decoding.py --rows 8 --extra-length 300 --vocab-size 16000

Every output is as long as its source, though the search has room for `--extra-length` tokens more:
the weights are random and the end is forced. The floor of a step is the FLOPs of the projections,
the feed-forward network and the logits of every beam, at the rate of a large matrix product
measured in the same run; attention, top-k and the rest are not in it. The share is floor / time.

Beside it the same search and parameters with the cache that decoders usually have: keys and values
of each beam by themselves, gathered from the surviving beams at every step, and all positions
attended to, written or not. The two take turns; figures are medians over the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from transformer_jax.batch import BOS, EOS, PAD
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.ops.attention import padding_mask
from transformer_jax.ops.beam_search import Hypotheses, beam_search, reorder_second_axis

_SIDE = 2048  # of the square matrices whose product gives the rate


def step_flops(config: TransformerConfig, rows: int) -> int:
    """Of the products with parameters, for `rows` beams of one position."""
    keys, values = (config.num_heads * w for w in (config.key_width, config.value_width))
    layer = 3 * config.d_model * (keys + values) + 2 * config.d_model * config.d_ff
    return 2 * rows * (config.num_layers * layer + config.d_model * config.vocab_size)


class GatheringTransformer(Transformer):
    """Decodes with a cache that belongs to a beam: every leaf of "past" is [B, K, L, H, D]."""

    def start(self, source, beam_size, length) -> Any:
        config = self.config
        slots = (source.shape[0], beam_size, length, config.num_heads)
        past = tuple(
            jnp.zeros((*slots, width), config.compute_dtype)
            for width in (config.key_width, config.value_width)
        )
        return {
            "memory": self._memories(self.encode(source)),
            "source_mask": padding_mask(source, PAD),
            "past": [past] * config.num_layers,
        }

    def step(self, tokens, position, cache: Any) -> tuple[jax.Array, Any]:
        batch, beam_size = tokens.shape
        length = cache["past"][0][0].shape[2]
        row = jax.lax.dynamic_slice_in_dim(self._positions(length), position, 1)
        x = self._embed(tokens, row)
        mask = (jnp.arange(length) <= position)[None, None, None]
        written = []

        def attend(layer, past, x):
            new = layer.self_attention.keys_and_values(x)
            past = tuple(
                jax.lax.dynamic_update_index_in_dim(old, of_token, position, 2)
                for old, of_token in zip(past, new, strict=True)
            )
            written.append(past)
            queries = x.reshape(batch * beam_size, 1, -1)
            rows = (array.reshape(batch * beam_size, *array.shape[2:]) for array in past)
            return layer.self_attention.attend(queries, *rows, mask).reshape(x.shape)

        for layer, memory, past in zip(self.decoder, cache["memory"], cache["past"], strict=True):
            x = layer.self_attention_norm(x, partial(attend, layer, past))
            x = layer._look_at_source(x, memory, cache["source_mask"])
        return self._logits(x), cache | {"past": written}

    @staticmethod
    def reorder(cache, parents):
        return cache | {"past": reorder_second_axis(cache["past"], parents)}


def search(params, source, *, model, reorder, beam_size, extra_length) -> Hypotheses:
    """Outputs of `length` tokens, EOS included, within a limit of `extra_length` more."""
    rows, length = source.shape
    limit = length + extra_length

    def step(tokens, position, cache):
        logits, cache = model.apply({"params": params}, tokens, position, cache, method="step")
        is_end = jnp.arange(logits.shape[-1]) == EOS
        force = jnp.where(position + 1 < length, -1e9, 1e9)
        return logits + is_end * force, cache

    cache = model.apply({"params": params}, source, beam_size, limit, method="start")
    limits = jnp.full(rows, limit, jnp.int32)
    return beam_search(
        step,
        cache,
        limits,
        max_length=limit,
        beam_size=beam_size,
        bos=BOS,
        eos=EOS,
        pad=PAD,
        reorder=reorder,
    )


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--length", type=int, default=32, help="of sources and outputs")
    parser.add_argument(
        "--extra-length", type=int, default=50, help="of the limit; outputs do not use it"
    )
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    config = TransformerConfig(vocab_size=arguments.vocab_size, dtype=arguments.dtype)
    shape = (arguments.rows, arguments.length)
    source = np.random.default_rng(0).integers(4, arguments.vocab_size, shape, np.int32)
    models = {
        "transformer_jax": (Transformer(config), lambda cache, parents: cache.reorder(parents)),
        "a cache a beam, gathered": (GatheringTransformer(config), GatheringTransformer.reorder),
    }
    params = jax.jit(Transformer(config).init)(jax.random.key(0), source, source)["params"]
    calls = {}
    for name, (model, reorder) in models.items():
        compiled = jax.jit(
            partial(
                search,
                model=model,
                reorder=reorder,
                beam_size=arguments.beam_size,
                extra_length=arguments.extra_length,
            )
        )
        calls[name] = partial(compiled, params, source)
    found = [jax.device_get(call()) for call in calls.values()]
    assert all((hypotheses.lengths == arguments.length).all() for hypotheses in found)
    assert np.allclose(found[0].scores, found[1].scores, rtol=1e-2)

    square = jnp.ones((_SIDE, _SIDE), arguments.dtype)
    product = jax.jit(jnp.matmul)

    def multiply():
        return [product(square, square) for _ in range(8)]

    multiply()
    floor = arguments.length * step_flops(config, arguments.rows * arguments.beam_size)
    times = {name: [] for name in calls}
    shares = {name: [] for name in calls}
    for _ in range(arguments.rounds):
        for name, call in calls.items():
            before = seconds(multiply)
            times[name].append(seconds(call))
            # The rate just before and just after: the machine's speed drifts.
            rate = 2 * 16 * _SIDE**3 / (before + seconds(multiply))
            shares[name].append(floor / rate / times[name][-1])

    print(
        f"jax {jax.__version__}, {jax.devices()[0].device_kind}, {arguments.dtype}, "
        f"{arguments.rows} sentences of {arguments.length} tokens, beam {arguments.beam_size}, "
        f"vocabulary {arguments.vocab_size:,}, room for {arguments.extra_length} tokens more, "
        f"medians of {arguments.rounds} rounds\n"
    )
    print("program                   sentences/s  ms a step  share of matrix rate")
    for name in calls:
        median = statistics.median(times[name])
        print(
            f"{name:24}  {arguments.rows / median:11.2f}  "
            f"{median / arguments.length * 1e3:9.1f}  {statistics.median(shares[name]):.3f} "
            f"({min(shares[name]):.3f}-{max(shares[name]):.3f})"
        )
    ours, theirs = times.values()
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    print(f"\n{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) times as fast")


if __name__ == "__main__":
    main()
