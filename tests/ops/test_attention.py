import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transformer_jax.ops import (
    causal_mask,
    local_mask,
    padding_mask,
    scaled_dot_product_attention,
)

B, T, S, H, D, E = 2, 3, 4, 2, 5, 6


def arrays(dtype=jnp.float32):
    generator = np.random.default_rng(0)
    shapes = ((B, T, H, D), (B, S, H, D), (B, S, H, E))
    return tuple(jnp.asarray(generator.normal(size=shape), dtype) for shape in shapes)


def equation_1(query, key, value, mask):
    """A sentence, a head, a query at a time; `mask` is [B, T, S]."""
    query, key, value = (np.asarray(array, np.float64) for array in (query, key, value))
    output = np.zeros((B, T, H, E))
    for b, t, h in np.ndindex(B, T, H):
        seen = np.flatnonzero(mask[b, t])
        weights = np.exp(key[b, seen, h] @ query[b, t, h] / np.sqrt(D))
        output[b, t, h] = weights / weights.sum() @ value[b, seen, h]
    return output


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_equation_1_with_d_k_and_d_v_apart(masked):
    mask = np.ones((B, T, S), bool)
    if masked:
        mask = np.random.default_rng(1).random((B, T, S)) < 0.6
        mask[:, :, 0] = True
    query, key, value = arrays()
    ours = scaled_dot_product_attention(
        query, key, value, jnp.asarray(mask[:, None]) if masked else None
    )
    assert np.abs(ours - equation_1(query, key, value, mask)).max() < 1e-6


def test_what_is_masked_does_not_matter_however_large():
    query, key, value = arrays()
    mask = jnp.asarray([True, False, True, False])[None, None, None]
    before = scaled_dot_product_attention(query, key, value, mask)
    hidden = ~mask[0, 0, 0][None, :, None, None]
    after = scaled_dot_product_attention(
        query, jnp.where(hidden, 1e30, key), jnp.where(hidden, -1e30, value), mask
    )
    assert np.array_equal(before, after)


def test_a_query_that_sees_nothing_gets_the_mean_of_the_values_and_finite_gradients():
    nowhere = jnp.zeros((1, 1, 1, S), bool)

    def total(query, key, value):
        output = scaled_dot_product_attention(query, key, value, nowhere)
        return jnp.sum(output**2), output

    gradients, output = jax.grad(total, argnums=(0, 1, 2), has_aux=True)(*arrays())
    mean = np.broadcast_to(np.mean(arrays()[2], axis=1, keepdims=True), output.shape)
    assert np.abs(output - mean).max() < 1e-6
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert not np.any(gradients[0])


def test_the_softmax_of_bfloat16_runs_in_float32():
    query, key, value = arrays(jnp.bfloat16)
    ours = scaled_dot_product_attention(query, key, value)
    assert ours.dtype == jnp.bfloat16
    # A sum of 1024 equal terms in bfloat16 would stop growing at the 256th.
    many = jnp.ones((1, 1024, 1, D), jnp.bfloat16)
    mean = scaled_dot_product_attention(query[:1, :, :1], many, many)
    assert np.array_equal(mean, np.ones((1, T, 1, D)))


def test_scores_too_large_for_exp_give_weights_that_sum_to_1():
    query, key, _ = arrays()
    ones = jnp.ones((B, S, H, 1))
    output = scaled_dot_product_attention(1e4 * query, 1e4 * key, ones)
    assert np.abs(np.asarray(output) - 1).max() < 1e-6


def test_a_padding_mask_is_true_at_real_tokens():
    mask = padding_mask(jnp.asarray([[5, 7, 0], [6, 0, 0]]), pad=0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]


def test_a_causal_mask_shows_each_position_itself_and_the_past():
    mask = causal_mask(4)
    assert mask.shape == (1, 1, 4, 4)
    for query, key in np.ndindex(4, 4):
        assert bool(mask[0, 0, query, key]) == (key <= query)


def test_a_local_mask_shows_the_neighbourhood_centred_on_each_position():
    for r in (1, 2, 3, 5):
        mask = local_mask(4, r)
        assert mask.shape == (1, 1, 4, 4)
        for query, key in np.ndindex(4, 4):
            assert bool(mask[0, 0, query, key]) == (2 * abs(query - key) <= r)
