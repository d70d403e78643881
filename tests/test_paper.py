"""The paper's own numbers: worked examples of its equations, and what Table 3 prints."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.ops import (
    noam_schedule,
    peak_schedule,
    scaled_dot_product_attention,
    sinusoidal_positions,
)

# The rows of Table 3 that differ from base in their number of parameters, as printed (millions).
PRINTED = {
    "base": ({}, 65),
    "N2": ({"num_layers": 2}, 36),
    "N4": ({"num_layers": 4}, 50),
    "N8": ({"num_layers": 8}, 80),
    "d256": ({"d_model": 256}, 28),
    "d1024": ({"d_model": 1024}, 168),
    "ff1024": ({"d_ff": 1024}, 53),
    "ff4096": ({"d_ff": 4096}, 90),
    "dk16": ({"d_k": 16}, 58),
    "dk32": ({"d_k": 32}, 60),
}
BIG = {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout_rate": 0.3}


@functools.cache
def shapes(**row):
    """The parameters of a model of 37,000 subwords, without computing any."""
    model = Transformer(TransformerConfig(37_000, **row))
    tokens = jnp.ones((1, 1), jnp.int32)
    return jax.eval_shape(model.init, jax.random.key(0), tokens, tokens)["params"]


def size(tree):
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def count(vocab_size=37_000, **row):
    return size(shapes(**row)) + (vocab_size - 37_000) * row.get("d_model", 512)


def attend(query, key, value):
    """One head, one sentence."""
    arrays = (jnp.asarray(rows, jnp.float32)[None, :, None, :] for rows in (query, key, value))
    return np.asarray(scaled_dot_product_attention(*arrays))[0, :, 0, :]


def test_the_worked_example_of_equation_1():
    query, key = [[1, 0]], [[1, 0], [0, 1], [1, 1]]
    # The scores 1, 0, 1 over sqrt(2); values that are unit vectors show the weights.
    weights = attend(query, key, np.eye(3))
    assert weights == pytest.approx(np.array([[0.4011, 0.1978, 0.4011]]), abs=5e-5)
    output = attend(query, key, [[2, 0], [0, 2], [2, 2]])
    assert output == pytest.approx(np.array([[1.6044, 1.1978]]), abs=1e-4)


def test_scaling_keeps_the_softmax_of_64_dimensions_soft():
    key = np.zeros((2, 64))
    key[0, 0] = 8.0
    unscaled = np.zeros((1, 64))
    unscaled[0, 0] = math.sqrt(64)  # undoes the division by sqrt(d_k): the scores are 8 and 0
    assert attend(unscaled, key, np.eye(2))[0] == pytest.approx([0.9997, 0.0003], abs=5e-5)
    scaled = np.zeros((1, 64))
    scaled[0, 0] = 1.0
    assert attend(scaled, key, np.eye(2))[0] == pytest.approx([0.73, 0.27], abs=5e-3)


def test_the_wavelengths_reach_from_2_pi_to_10000_times_2_pi():
    table = sinusoidal_positions(2, 512)
    assert table[0].tolist() == [0.0, 1.0] * 256
    assert table[1, :2] == pytest.approx([0.841, 0.540], abs=5e-4)
    divisors = 1 / np.arctan2(table[1, 0::2], table[1, 1::2])
    assert divisors[0] == pytest.approx(1.0)
    assert divisors[-1] == pytest.approx(9647, abs=0.5)  # 10000^(510/512)
    # "a geometric progression": each the same multiple of the one before.
    assert np.diff(np.log(divisors)) == pytest.approx(np.full(255, math.log(1e4) / 256), abs=1e-6)


@pytest.mark.parametrize("offset", [1, 7, 50])
def test_the_encoding_of_a_shifted_position_is_a_rotation_of_that_of_the_position(offset):
    length, d_model = 100, 512
    table = sinusoidal_positions(length + offset, d_model).reshape(-1, d_model // 2, 2)
    angle = offset / 10000 ** (np.arange(0, d_model, 2) / d_model)
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    rotated = np.einsum("ijP,LPj->LPi", rotation, table[:length])
    assert np.abs(rotated - table[offset:]).max() < 2 * np.finfo(np.float32).eps


def test_the_learning_rate_of_base_peaks_at_7e_4():
    schedule = noam_schedule(512)
    assert f"{schedule(4000 - 1):.1e}" == "7.0e-04"
    assert f"{schedule(100_000 - 1):.1e}" == "1.4e-04"
    rates = np.asarray(schedule(np.arange(10_000)))
    assert rates.argmax() == 4000 - 1


def test_the_noam_schedule_is_the_schedule_of_its_peak():
    counts = np.arange(0, 100_000, 137)
    peak = (512 * 4000) ** -0.5
    assert np.array_equal(noam_schedule(512)(counts), peak_schedule(peak, 4000)(counts))


def test_a_sublayer_has_the_weights_that_its_equation_says():
    params = shapes()
    attention = 4 * 512 * 512
    assert attention == 1_048_576
    assert size(params["encoder_0"]["self_attention"]) == attention
    assert size(params["decoder_0"]["self_attention"]) == attention
    assert size(params["decoder_0"]["cross_attention"]) == attention
    weights = 2 * 512 * 2048
    assert weights == 2_097_152
    for stack in ("encoder", "decoder"):
        feed_forward = params[f"{stack}_0"]["feed_forward"]
        assert size([part["kernel"] for part in feed_forward.values()]) == weights
        assert size([part["bias"] for part in feed_forward.values()]) == 2048 + 512


def test_base_has_the_parameters_that_its_parts_add_up_to():
    norm = 2 * 512
    feed_forward = 2_097_152 + 2048 + 512
    encoder_layer = 1_048_576 + feed_forward + 2 * norm
    decoder_layer = 2 * 1_048_576 + feed_forward + 3 * norm
    assert count() == 37_000 * 512 + 6 * (encoder_layer + decoder_layer)
    assert f"{count() / 1e6:.1f}" == "63.0"


@pytest.mark.parametrize("name", ["N2", "N4", "N8", "ff1024", "ff4096", "dk16", "dk32"])
def test_a_row_differs_from_base_by_what_the_paper_prints(name):
    row, printed = PRINTED[name]
    difference = (count(**row) - count()) / 1e6
    # Each of the two printed numbers is rounded, by at most 0.5.
    assert abs(difference - (printed - PRINTED["base"][1])) < 1


def test_with_41_100_subwords_every_row_rounds_to_what_the_paper_prints():
    # The count is linear in the vocabulary, and the paper's 65 for base says 40,800 +- 1000.
    rounded = {name: round(count(41_100, **row) / 1e6) for name, (row, _) in PRINTED.items()}
    assert rounded == {name: printed for name, (_, printed) in PRINTED.items()}


def test_big_has_213_million_parameters_with_36_000_subwords():
    assert round(count(36_000, **BIG) / 1e6) == 213
    assert round(count(37_000, **BIG) / 1e6) == 214


@pytest.mark.parametrize("num_heads", [1, 4, 16, 32])
def test_the_number_of_heads_changes_no_number_of_parameters(num_heads):
    assert count(num_heads=num_heads) == count()
