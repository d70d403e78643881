"""One update, with plain gradient descent at rate 1: the parameters move by the gradient itself.

(Adam would turn the rounding of a gradient near zero into a whole step.)
"""

import functools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from transformer_jax import sharding
from transformer_jax.batch import EOS, PAD
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.training.optimizer import adam
from transformer_jax.training.state import create_state
from transformer_jax.training.step import train_step

V, ROWS, LENGTH = 16, 16, 6
MODEL = Transformer(
    TransformerConfig(V, num_layers=1, d_model=16, d_ff=32, num_heads=2, dropout_rate=0.3)
)
WITHOUT_DROPOUT = MODEL.clone(
    config=TransformerConfig(V, num_layers=1, d_model=16, d_ff=32, num_heads=2, dropout_rate=0.0)
)
DESCENT = optax.sgd(1.0)


def make_batch(seed=0):
    """Sentences of all lengths; the last five rows are padding, so that two devices have no other.

    With 4 micro-batches the real rows fall 3, 3, 3 and 2.
    """
    generator = np.random.default_rng(seed)
    batch = {side: np.full((ROWS, LENGTH), PAD, np.int32) for side in ("source", "target")}
    for rows in batch.values():
        for row in rows[:-5]:
            size = generator.integers(1, LENGTH + 1)
            row[: size - 1] = generator.integers(4, V, size - 1)
            row[size - 1] = EOS
    return batch


BATCH = make_batch()


@functools.cache
def compiled(model=MODEL, seed=0, micro_batches=1):
    return jax.jit(
        partial(
            train_step,
            model=model,
            optimizer=DESCENT,
            label_smoothing=0.1,
            seed=seed,
            micro_batches=micro_batches,
        )
    )


@pytest.fixture(scope="module")
def state():
    return jax.jit(partial(create_state, model=MODEL, optimizer=DESCENT))(jax.random.key(0))


@pytest.fixture(scope="module")
def plain_update():
    return compiled(WITHOUT_DROPOUT)


def on_device(batch):
    return jax.tree.map(jnp.asarray, batch)


def close(ours, theirs):
    """Equal up to a few roundings of the largest value."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return np.abs(ours - theirs).max() <= 20 * np.finfo(np.float32).eps * np.abs(theirs).max()


def assert_same_update(before, ours, theirs):
    """The same metrics and gradient, to float32 rounding."""
    (ours, our_metrics), (theirs, their_metrics) = ours, theirs
    assert our_metrics.tokens == their_metrics.tokens
    assert all(close(a, b) for a, b in zip(our_metrics, their_metrics, strict=True))
    assert int(ours.step) == int(theirs.step) == int(before.step) + 1
    for path, start in jax.tree_util.tree_leaves_with_path(before.params):
        a, b = (
            np.asarray(start) - np.asarray(after)
            for after in (
                dict(jax.tree_util.tree_leaves_with_path(ours.params))[path],
                dict(jax.tree_util.tree_leaves_with_path(theirs.params))[path],
            )
        )
        # The parameter's own rounding is in the difference too.
        allowed = 20 * np.finfo(np.float32).eps * (np.abs(b).max() + np.abs(start).max())
        assert np.abs(a - b).max() <= allowed, path


def test_the_loss_is_the_sum_over_real_target_tokens(state, plain_update):
    _, metrics = plain_update(state, on_device(BATCH))
    assert metrics.tokens == np.count_nonzero(BATCH["target"])
    # Each row by itself: sums add up, whatever the batch.
    total = 0.0
    for row in range(ROWS):
        alone = {side: np.zeros_like(ids) for side, ids in BATCH.items()}
        for side, ids in BATCH.items():
            alone[side][0] = ids[row]
        total += float(plain_update(state, on_device(alone))[1].loss)
    assert float(metrics.loss) == pytest.approx(total, rel=1e-6)


def test_the_norm_is_that_of_the_mean_gradient(state, plain_update):
    after, metrics = plain_update(state, on_device(BATCH))
    squares = jax.tree.map(
        lambda a, b: np.sum((np.asarray(a) - b) ** 2), state.params, after.params
    )
    assert float(metrics.grad_norm) == pytest.approx(
        np.sqrt(sum(jax.tree.leaves(squares))), rel=1e-5
    )


def test_four_micro_batches_are_one_batch(state, plain_update):
    ours = compiled(WITHOUT_DROPOUT, micro_batches=4)(state, on_device(BATCH))
    assert_same_update(state, ours, plain_update(state, on_device(BATCH)))


@pytest.mark.parametrize(
    ("layout", "model", "micro_batches"),
    [("data", 1, 2), ("fsdp", 1, 1), ("tensor", 2, 1)],
)
def test_any_mesh_gives_the_same_loss_and_parameters(state, layout, model, micro_batches):
    mesh = sharding.make_mesh(model)
    places = sharding.tree_shardings(state, mesh, sharding.layout(layout))
    step = jax.jit(
        compiled(micro_batches=micro_batches),
        in_shardings=(places, sharding.batch_sharding(mesh)),
        out_shardings=(places, sharding.replicated(mesh)),
    )
    ours = step(jax.device_put(state, places), sharding.place_batch(BATCH, mesh))
    # Dropout is on: its mask is a function of the place in the batch, not of the device.
    one_device = compiled(micro_batches=micro_batches)(state, on_device(BATCH))
    assert_same_update(state, ours, one_device)


def test_a_batch_of_padding_moves_nothing(state, plain_update):
    nothing = {side: jnp.zeros((ROWS, LENGTH), jnp.int32) for side in BATCH}
    after, metrics = plain_update(state, nothing)
    assert [float(value) for value in metrics] == [0, 0, 0, 0]
    for a, b in zip(jax.tree.leaves(after.params), jax.tree.leaves(state.params), strict=True):
        assert np.array_equal(a, b)


def test_an_update_is_a_function_of_seed_and_step(state):
    update = compiled()
    batch = on_device(BATCH)
    (once, _), (again, _) = update(state, batch), update(state, batch)
    for a, b in zip(jax.tree.leaves(once), jax.tree.leaves(again), strict=True):
        assert np.array_equal(a, b)

    def loss(step=0, update=update):
        return float(update(state.replace(step=jnp.int32(step)), batch)[1].loss)

    losses = [loss(), loss(step=1), loss(step=2), loss(update=compiled(seed=1))]
    assert len(set(losses)) == 4


def test_micro_batches_drop_different_elements(state):
    def exchanged(rows):
        """What the first of two micro-batches had is in the second."""
        return jnp.asarray(rows.reshape(-1, 2, LENGTH)[:, ::-1].reshape(-1, LENGTH))

    update = compiled(micro_batches=2)
    one = update(state, on_device(BATCH))[1]
    other = update(state, jax.tree.map(exchanged, BATCH))[1]
    assert float(one.loss) != pytest.approx(float(other.loss), rel=1e-4)


@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_adam_is_that_of_section_5_3(clip_norm):
    generator = np.random.default_rng(0)
    start = {"a": generator.normal(size=(3, 2)), "b": generator.normal(size=4)}
    gradients = [
        {name: generator.normal(scale=10.0**-i, size=value.shape) for name, value in start.items()}
        for i in range(5)
    ]

    def rate(count):
        return 0.1 / (count + 1)

    optimizer = adam(rate, clip_norm=clip_norm)
    single = partial(jax.tree.map, partial(jnp.asarray, dtype=jnp.float32))
    ours, opt_state = single(start), optimizer.init(single(start))

    @jax.jit
    def update(params, opt_state, gradient):
        updates, opt_state = optimizer.update(gradient, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    theirs = dict(start)
    m = dict.fromkeys(start, 0.0)
    v = dict.fromkeys(start, 0.0)
    for t, gradient in enumerate(gradients, start=1):
        ours, opt_state = update(ours, opt_state, single(gradient))
        norm = np.sqrt(sum(np.sum(g**2) for g in gradient.values()))
        shrink = 1.0 if clip_norm is None or norm < clip_norm else clip_norm / norm
        for name, g in gradient.items():
            g = shrink * g
            m[name] = 0.9 * m[name] + 0.1 * g
            v[name] = 0.98 * v[name] + 0.02 * g**2
            mean, variance = m[name] / (1 - 0.9**t), v[name] / (1 - 0.98**t)
            theirs[name] = theirs[name] - rate(t - 1) * mean / (np.sqrt(variance) + 1e-9)
        for name in start:
            assert close(ours[name], theirs[name])
