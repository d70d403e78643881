"""Table 1: what is counted has the printed orders, and paths are as long as a search finds them."""

import argparse
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transformer_jax.errors import InputError
from transformer_jax.ops import local_mask, scaled_dot_product_attention
from transformer_jax.paper import table1

K, R = 3, 5
ATTENTION, RECURRENT, CONVOLUTION, RESTRICTED = table1.layers(K, R)
GRID = [(16, 64), (32, 64), (16, 128)]


@pytest.fixture(scope="module")
def flops():
    """layer -> (n, d) -> FLOPs"""
    return {
        layer.name: {size: table1.measure(layer, *size, repeats=1)[0] for size in GRID}
        for layer in table1.layers(K, R)
    }


@pytest.mark.parametrize(
    ("layer", "n", "d"),
    [(ATTENTION, 2, 1), (RECURRENT, 1, 2), (CONVOLUTION, 1, 2), (RESTRICTED, 1, 1)],
)
def test_flops_grow_with_the_printed_exponents(flops, layer, n, d):
    counted = flops[layer.name]
    # Softmax and masks cost n^2 (or r n), without d, and bend the exponents a little.
    assert table1.exponents(list(counted), list(counted.values())) == pytest.approx((n, d), abs=0.1)


@pytest.mark.parametrize(("n", "d"), GRID)
def test_flops_are_those_of_the_products(flops, n, d):
    # Two products of matrices: scores and weighted values, x W and h U; a multiply and an add each.
    assert 0 <= flops["self-attention"][n, d] - 4 * n * n * d <= n * d + 8 * n * n
    assert 0 <= flops["recurrent"][n, d] - 4 * n * d * d <= 2 * n * d
    # Two taps of three at each end.
    assert flops["convolutional"][n, d] == 2 * d * d * (K * n - 2)
    # Not the n^2 d that a mask over all pairs would cost.
    assert 0 <= flops["self-attention, restricted"][n, d] - 4 * R * n * d <= n * d + 32 * R * n


def test_a_power_law_is_fitted_exactly():
    sizes = [(2, 3), (4, 3), (2, 12), (4, 12), (16, 6)]
    values = [5.0 * n**1.5 * d**-2 for n, d in sizes]
    assert table1.exponents(sizes, values) == pytest.approx((1.5, -2))


def test_curves_of_power_laws_cross_where_they_are_equal():
    lengths = [10, 40, 160]
    attention, recurrent = ([n**a * 100.0**b for n in lengths] for a, b in ((2, 1), (1, 2)))
    assert table1.crossover(lengths, attention, recurrent) == pytest.approx(100)
    assert table1.crossover(lengths, recurrent, attention) is None
    assert table1.crossover(lengths[:2], attention[:2], recurrent[:2]) is None


def test_restricted_attention_is_attention_under_a_local_mask():
    x = jax.random.normal(jax.random.key(3), (12, 4))
    heads = x[None, :, None]
    expected = scaled_dot_product_attention(heads, heads, heads, local_mask(12, R))
    np.testing.assert_allclose(RESTRICTED.apply((), x), expected[0, :, 0], atol=1e-6)


def test_the_recurrent_layer_is_its_equation():
    x = np.asarray(jax.random.normal(jax.random.key(3), (6, 4)))
    parameters = RECURRENT.parameters(4)
    inward, recur = map(np.asarray, parameters)
    h, states = np.zeros(4), []
    for row in x:
        h = np.tanh(row @ inward + h @ recur)
        states.append(h)
    np.testing.assert_allclose(table1.recurrent(parameters, jnp.asarray(x)), states, atol=1e-6)


def test_only_the_recurrent_layer_waits_for_each_position():
    for layer in (ATTENTION, CONVOLUTION, RESTRICTED):
        chains = {table1.sequential_operations(layer, n) for n in (8, 16, 32)}
        assert len(chains) == 1
    # A product, a sum and tanh, a time step.
    chains = [table1.sequential_operations(RECURRENT, n) for n in (8, 16, 32)]
    assert np.diff(chains).tolist() == [3 * 8, 3 * 16]


def farthest(n, moves):
    """Breadth-first: the most layers that any input needs to any output it reaches.

    `moves(layer)` are the offsets by which one layer carries a signal.
    """
    most = 0
    for start in range(n):
        seen, front, layer = {}, {start}, 0
        while front:
            allowed = moves(layer)
            layer += 1
            front = {at + by for at in front for by in allowed if 0 <= at + by < n}
            seen = {**dict.fromkeys(front, layer), **seen}
            if len(seen) == n or layer > n:
                break
        most = max(most, *seen.values())
    return most


@pytest.mark.parametrize("n", [5, 12])
def test_paths_are_as_long_as_a_search_finds_them(n):
    assert table1.path_length(ATTENTION, n) == 1
    assert table1.path_length(RECURRENT, n) == n
    assert table1.path_length(CONVOLUTION, n) == farthest(n, lambda _: (-1, 0, 1))
    assert table1.path_length(RESTRICTED, n) == farthest(n, lambda _: (-2, -1, 0, 1, 2))


@pytest.mark.parametrize(("n", "layers"), [(3, 1), (4, 2), (9, 2), (10, 3)])
def test_dilated_convolutions_reach_k_times_as_far_with_each_layer(n, layers):
    assert table1.dilated_path_length(K, n) == layers
    assert farthest(n, lambda layer: (0, K**layer, 2 * K**layer)) == layers


def arguments(*options):
    parser = argparse.ArgumentParser()
    table1.add_arguments(parser)
    return parser.parse_args(options)


def test_the_command_prints_the_table_and_draws_it(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(table1, "_LENGTHS", (3, 5))  # to compile less
    options = ["--n=4,8", "--d=4,6", "--repeats=1", f"--plot={tmp_path / 'new' / 'costs.svg'}"]
    table1.run(arguments(*options))
    printed = capsys.readouterr().out
    for layer in table1.layers(K, R):
        assert f"| {layer.name} " in printed
        assert f" {layer.complexity} |" in printed
    assert " O(n) |" in printed
    assert " 3, 5 |" in printed  # the paths of the recurrent layer
    assert "d = 4: below n = 4 by FLOPs" in printed
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["costs.png", "costs.svg"]


def test_costs_of_the_printed_orders_cross_at_n_equals_d():
    lengths, widths = [16, 64, 256, 1024], [32, 128, 2048]
    grid = list(itertools.product(lengths, widths))
    attention, recurrent = (
        table1.Measured(layer, costs, costs)
        for layer, costs in zip(
            table1.layers(K, R)[:2],
            ({(n, d): 1.0 * n**2 * d for n, d in grid}, {(n, d): 1.0 * n * d**2 for n, d in grid}),
            strict=True,
        )
    )
    said = table1._crossovers(attention, recurrent, lengths, widths)
    for d in (32, 128):
        assert f"d = {d}: n = {d} by FLOPs, n = {d} by time" in said
    assert "d = 2048: beyond n = 1,024 by FLOPs, beyond n = 1,024 by time" in said


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--n=64", "--n is 64: give two or more"),
        ("--d=0,8", "--d is 0,8: give two or more sizes, each 1"),
        ("--kernel=4", "--kernel is 4: give an odd"),
        ("--neighbourhood=1", "--neighbourhood is 1: give an odd number, 3"),
        ("--repeats=0", "--repeats is 0: give 1"),
    ],
)
def test_sizes_that_make_no_table_are_errors(option, message):
    with pytest.raises(InputError, match=message):
        table1.run(arguments(option))


def test_what_is_no_list_of_numbers_is_refused(capsys):
    with pytest.raises(SystemExit):
        arguments("--n=1,x")
    assert "'1,x' is no list of whole numbers" in capsys.readouterr().err
