"""One training step of the base model: target tokens/s and the share of the machine's matrix rate.

    python benchmarks/train_step.py
    python benchmarks/train_step.py --vocab-size 37000 --dtype bfloat16

The floor of a step is its model FLOPs at the rate of a large matrix product, measured in the same
run: the share is floor / time. Model FLOPs count the products of the forward pass three times, for
the backward pass has two of each, and nothing else. Beside it the same model as Linen's own
modules make it (`nn.MultiHeadDotProductAttention`, `nn.Dropout`, one-hot targets), the same
optimizer, the same precision. The three take turns; figures are medians over the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from transformer_jax.batch import PAD
from transformer_jax.memory import restart_reusing_memory
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.ops.positions import sinusoidal_positions
from transformer_jax.ops.schedule import noam_schedule
from transformer_jax.training.optimizer import adam
from transformer_jax.training.state import TrainState, create_state
from transformer_jax.training.step import train_step

_LABEL_SMOOTHING = 0.1
_SIDE = 2048  # of the square matrices whose product gives the rate


def model_flops(config: TransformerConfig, rows: int, length: int) -> int:
    """Of one step on [rows, length] source and target tokens."""
    keys, values = (config.num_heads * w for w in (config.key_width, config.value_width))
    projections = 2 * config.d_model * (keys + values)
    attention = projections + length * (keys + values)
    feed_forward = 2 * config.d_model * config.d_ff
    layers = config.num_layers * (3 * attention + 2 * feed_forward)
    forward = 2 * rows * length * (layers + config.d_model * config.vocab_size)
    return 3 * forward


class PlainLayer(nn.Module):
    """A post-norm layer of Linen's own modules; with a memory, a decoder layer."""

    config: TransformerConfig

    @nn.compact
    def __call__(self, x, mask, memory=None, memory_mask=None):
        config = self.config

        def add_norm(x, y):
            y = nn.Dropout(config.dropout_rate, deterministic=False)(y)
            return nn.LayerNorm(dtype=config.compute_dtype)(x + y)

        def attention():
            return nn.MultiHeadDotProductAttention(
                config.num_heads, dtype=config.compute_dtype, use_bias=False, deterministic=True
            )

        x = add_norm(x, attention()(x, mask=mask))
        if memory is not None:
            x = add_norm(x, attention()(x, memory, mask=memory_mask))
        y = nn.relu(nn.Dense(config.d_ff, dtype=config.compute_dtype)(x))
        return add_norm(x, nn.Dense(config.d_model, dtype=config.compute_dtype)(y))


class PlainTransformer(nn.Module):
    """The base model as a user of Linen would write it."""

    config: TransformerConfig

    @nn.compact
    def __call__(self, source, target):
        config = self.config
        embedding = nn.Embed(config.vocab_size, config.d_model, dtype=config.compute_dtype)

        def embed(tokens):
            positions = sinusoidal_positions(tokens.shape[1], config.d_model)[None]
            x = embedding(tokens) * config.d_model**0.5 + positions.astype(config.compute_dtype)
            return nn.Dropout(config.dropout_rate, deterministic=False)(x)

        source_mask = nn.make_attention_mask(source != PAD, source != PAD)
        memory_mask = nn.make_attention_mask(target != PAD, source != PAD)
        memory = embed(source)
        for _ in range(config.num_layers):
            memory = PlainLayer(config)(memory, source_mask)
        x = embed(jnp.pad(target, ((0, 0), (1, 0)))[:, :-1])
        for _ in range(config.num_layers):
            x = PlainLayer(config)(x, nn.make_causal_mask(target), memory, memory_mask)
        return embedding.attend(x)


def plain_step(state: TrainState, batch, *, model, optimizer, seed):
    """Loss from one-hot targets, gradient, Adam."""

    def loss(params):
        key = jax.random.fold_in(jax.random.key(seed), state.step)
        logits = model.apply({"params": params}, **batch, rngs={"dropout": key})
        logits = logits.astype(jnp.float32)
        targets = jax.nn.one_hot(batch["target"], logits.shape[-1])
        targets = optax.smooth_labels(targets, _LABEL_SMOOTHING)
        weights = batch["target"] != PAD
        return jnp.sum(optax.softmax_cross_entropy(logits, targets) * weights) / jnp.sum(weights)

    value, grads = jax.value_and_grad(loss)(state.params)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    return TrainState(state.step + 1, optax.apply_updates(state.params, updates), opt_state), value


def stepper(step, model, optimizer, batch) -> Callable[[], None]:
    """Makes one step each time it is called, and waits for it."""
    create = partial(create_state, model=model, optimizer=optimizer)
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    state = jax.jit(create)(keys)
    step = jax.jit(step, donate_argnums=0)

    def call() -> None:
        nonlocal state
        state, _ = step(state, batch)
        jax.block_until_ready(state)

    return call


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vocab-size", type=int, nargs="+", default=[8000, 37_000])
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()

    device = jax.devices()[0]
    print(
        f"jax {jax.__version__}, {device.device_kind}, {arguments.dtype}, "
        f"{arguments.rows} x {arguments.length} tokens, medians of {arguments.rounds} rounds\n"
    )
    print("vocabulary  program            target tokens/s  share of matrix rate  matrix GFLOP/s")
    square = jnp.ones((_SIDE, _SIDE), arguments.dtype)
    product = jax.jit(jnp.matmul)

    def multiply() -> None:
        jax.block_until_ready([product(square, square) for _ in range(8)])

    for vocab_size in arguments.vocab_size:
        config = TransformerConfig(vocab_size=vocab_size, dtype=arguments.dtype)
        optimizer = adam(noam_schedule(config.d_model))
        shape = (arguments.rows, arguments.length)
        tokens = np.random.default_rng(0).integers(4, vocab_size, (2, *shape), np.int32)
        batch = dict(zip(("source", "target"), tokens, strict=True))
        model, plain = Transformer(config), PlainTransformer(config)
        ours = partial(
            train_step,
            model=model,
            optimizer=optimizer,
            label_smoothing=_LABEL_SMOOTHING,
            seed=0,
        )
        theirs = partial(plain_step, model=plain, optimizer=optimizer, seed=0)
        calls = {
            "transformer_jax": stepper(ours, model, optimizer, batch),
            "plain Linen, optax": stepper(theirs, plain, optimizer, batch),
        }
        multiply()
        for call in calls.values():
            call()
        floor = model_flops(config, *shape)
        times = {name: [] for name in calls}
        shares = {name: [] for name in calls}
        rates = []
        for _ in range(arguments.rounds):
            for name, call in calls.items():
                before = seconds(multiply)
                times[name].append(seconds(call))
                # The rate just before and just after: the machine's speed drifts.
                rate = 2 * 16 * _SIDE**3 / (before + seconds(multiply))
                rates.append(rate)
                shares[name].append(floor / rate / times[name][-1])
        for name in calls:
            speed = np.prod(shape) / statistics.median(times[name])
            print(
                f"{vocab_size:10,}  {name:18} {speed:15,.0f}  "
                f"{statistics.median(shares[name]):8.3f} "
                f"({min(shares[name]):.3f}-{max(shares[name]):.3f})  "
                f"{statistics.median(rates) / 1e9:14,.0f}"
            )
        pairs = zip(*times.values(), strict=True)
        ratio = statistics.median(theirs / ours for ours, theirs in pairs)
        print(f"{'':10}  {ratio:.2f} times as fast\n")


if __name__ == "__main__":
    restart_reusing_memory()  # as train.py does
    main()
