"""Dropout: its rate, its scale, its independence, and that a mask belongs to a key alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from transformer_jax.ops.dropout import dropout

SHAPE = (64, 64, 256)
ONES = jnp.ones(SHAPE)


@pytest.fixture(scope="module")
def masks() -> np.ndarray:
    """Which elements eight keys keep at rate 0.1, [8, *SHAPE]."""
    keys = jax.random.split(jax.random.key(0), 8)
    return np.stack([np.asarray(dropout(key, ONES, 0.1)) > 0 for key in keys])


def test_kept_elements_are_scaled_up_and_the_others_are_zero():
    values = np.unique(dropout(jax.random.key(0), ONES, 0.25))
    np.testing.assert_array_equal(values, np.float32([0.0, 1 / 0.75]))


def test_rate_zero_changes_nothing():
    assert dropout(jax.random.key(0), ONES, 0.0) is ONES


def test_the_share_of_dropped_elements_is_the_rate(masks):
    # Five standard deviations of a binomial of this size, for every key.
    tolerance = 5 * np.sqrt(0.1 * 0.9 / ONES.size)
    np.testing.assert_allclose(1 - masks.mean((1, 2, 3)), 0.1, atol=tolerance)


def test_every_row_and_every_column_is_dropped_at_the_rate(masks):
    for axis in range(3):
        others = tuple(i + 1 for i in range(3) if i != axis)
        count = ONES.size // SHAPE[axis]
        share = 1 - masks.mean(others)
        assert np.abs(share - 0.1).max() < 5.5 * np.sqrt(0.1 * 0.9 / count)


def test_neighbours_and_keys_are_independent(masks):
    centred = (masks - masks.mean()).reshape(8, -1)
    scale = 0.1 * 0.9
    tolerance = 5.5 / np.sqrt(ONES.size)
    for lag in (1, 2, 3, 64, 256, 257, 256 * 64):
        correlation = (centred[:, lag:] * centred[:, :-lag]).mean(1) / scale
        assert np.abs(correlation).max() < tolerance * 1.1
    between = centred @ centred.T / ONES.size / scale
    assert np.abs(between - np.eye(8) * between.diagonal()).max() < tolerance


def test_the_mask_does_not_depend_on_the_sharding():
    mesh = jax.make_mesh((8,), ("data",), (AxisType.Auto,))
    sharded = jax.device_put(ONES, NamedSharding(mesh, PartitionSpec("data")))
    dropped = jax.jit(dropout, static_argnums=2)(jax.random.key(3), sharded, 0.1)
    np.testing.assert_array_equal(dropped, dropout(jax.random.key(3), ONES, 0.1))


def test_bfloat16_stays_bfloat16():
    assert dropout(jax.random.key(0), ONES.astype(jnp.bfloat16), 0.5).dtype == jnp.bfloat16
