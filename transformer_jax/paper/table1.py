"""Table 1: complexity, sequential operations and path length of four layers, measured.

The layers map n positions of width d to as many (section 4). What is counted, for each n and d:

* FLOPs, as XLA counts them in the compiled program: a multiplication and an addition are two,
  exponentials and tanh none. The while loop of a scan is counted as if it ran once, so the
  recurrent layer's count is that of one compiled step times n.
* Seconds of the compiled program on this machine's first device, the median of repeated calls.
* Sequential operations: the longest chain of primitive operations of the traced program that wait
  for each other, a scan's body taken as often as it runs. A product of matrices is one operation.
* Maximum path length: through how many layers (time steps of the recurrent one) the farthest
  input comes to an output. Which output depends on which input is read from the Jacobian.

The paper's O(n^2 d) is attention itself, equation 1 on x as query, key and value. The projections
of section 3.2.2 are not in it: they would add 8 n d^2 FLOPs, twice what a recurrent layer costs.
Likewise one head, since h heads of width d / h cost the same but for the softmax.
"""

import argparse
import itertools
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal
from jaxtyping import Array, Bool, Float

from transformer_jax.errors import InputError
from transformer_jax.ops.attention import scaled_dot_product_attention
from transformer_jax.paper import plots
from transformer_jax.paper.tables import markdown

# Lengths at which chains and paths are counted: their growth is exact, a fit has nothing to add.
_LENGTHS = (16, 32, 64)


def self_attention(parameters: tuple[()], x: Float[Array, "N M"]) -> Float[Array, "N M"]:
    """Every position looks at every position: equation 1 with x as query, key and value."""
    heads = x[None, :, None]
    return scaled_dot_product_attention(heads, heads, heads)[0, :, 0]


def recurrent(
    parameters: tuple[Float[Array, "M M"], Float[Array, "M M"]], x: Float[Array, "N M"]
) -> Float[Array, "N M"]:
    """h_t = tanh(x_t W + h_{t-1} U), with h_0 = 0."""

    def step(h, x_t):
        h = recurrent_step(parameters, x_t, h)
        return h, h

    return jax.lax.scan(step, jnp.zeros_like(x[0]), x)[1]


def recurrent_step(
    parameters: tuple[Float[Array, "M M"], Float[Array, "M M"]],
    x_t: Float[Array, "*N M"],
    h: Float[Array, "*N M"],
) -> Float[Array, "*N M"]:
    """One time step; given a row for each t, all time steps at once."""
    inward, recur = parameters
    return jnp.tanh(x_t @ inward + h @ recur)


def convolution(
    kernel: Float[Array, "K M M"],
    x: Float[Array, "N M"],
    dilation: int = 1,
    causal: bool = False,
) -> Float[Array, "N M"]:
    """Kernel width K, from all channels to all, zeros beyond the ends.

    Centred on the output, or with `causal` ending there.
    """
    return jax.lax.conv_general_dilated(
        x[None],
        kernel,
        window_strides=(1,),
        padding=[((kernel.shape[0] - 1) * dilation, 0)] if causal else "SAME",
        rhs_dilation=(dilation,),
        dimension_numbers=("NWC", "WIO", "NWC"),
    )[0]


def restricted_attention(
    parameters: tuple[()], x: Float[Array, "N M"], neighbourhood: int
) -> Float[Array, "N M"]:
    """Every position looks at the `neighbourhood` positions around it and at no other.

    Their keys and values are gathered, so that nothing is computed for the rest: each position is
    a sentence of its own with one query. The FLOPs are the paper's; the time is mostly that of
    writing and reading r copies of x.
    """
    length = x.shape[0]
    near = jnp.arange(length)[:, None] + jnp.arange(neighbourhood)[None] - neighbourhood // 2
    inside = (near >= 0) & (near < length)
    around = x[jnp.clip(near, 0, length - 1)][:, :, None]
    return scaled_dot_product_attention(x[:, None, None], around, around, inside[:, None, None])[
        :, 0, 0
    ]


class Layer(NamedTuple):
    """A row of the table: what is printed, and the function that is measured."""

    name: str
    complexity: str
    sequential: str
    path: str
    apply: Callable[[Any, Array], Array]
    parameters: Callable[[int], Any]


def layers(kernel: int, neighbourhood: int) -> list[Layer]:
    """The rows of Table 1 in its order, with k = `kernel` and r = `neighbourhood`."""
    return [
        Layer("self-attention", "O(n^2 d)", "O(1)", "O(1)", self_attention, lambda d: ()),
        Layer("recurrent", "O(n d^2)", "O(n)", "O(n)", recurrent, lambda d: _random(2, d)),
        Layer(
            "convolutional",
            "O(k n d^2)",
            "O(1)",
            "O(log_k n)",  # dilated; undilated O(n/k), says section 4
            convolution,
            lambda d: jnp.stack(_random(kernel, d)),
        ),
        Layer(
            "self-attention, restricted",
            "O(r n d)",
            "O(1)",
            "O(n/r)",
            partial(restricted_attention, neighbourhood=neighbourhood),
            lambda d: (),
        ),
    ]


def _random(matrices, d):
    keys = jax.random.split(jax.random.key(1), matrices)
    return tuple(jax.random.normal(key, (d, d)) / d**0.5 for key in keys)


def _input(n, d):
    return jax.random.normal(jax.random.key(0), (n, d))


def measure(layer: Layer, n: int, d: int, repeats: int) -> tuple[float, float]:
    """FLOPs and seconds of the layer on n positions of width d.

    The time is the median of so many calls, after one that is not counted.
    """
    parameters, x = layer.parameters(d), _input(n, d)
    compiled = jax.jit(layer.apply).lower(parameters, x).compile()
    compiled(parameters, x).block_until_ready()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        compiled(parameters, x).block_until_ready()
        times.append(time.perf_counter() - start)
    if layer.apply is recurrent:
        step = jax.jit(recurrent_step).lower(parameters, x[0], x[0]).compile()
        flops = n * _flops(step)
    else:
        flops = _flops(compiled)
    return flops, statistics.median(times)


def _flops(compiled):
    return float(compiled.cost_analysis()["flops"])


def exponents(sizes: Sequence[tuple[int, int]], values: Sequence[float]) -> tuple[float, float]:
    """a and b of value = c n^a d^b, by least squares on the logarithms; sizes are (n, d)."""
    logs = np.log(np.array(sizes, float))
    design = np.column_stack([np.ones(len(sizes)), logs])
    _, a, b = np.linalg.lstsq(design, np.log(values))[0]
    return float(a), float(b)


def crossover(lengths: Sequence[int], one: Sequence[float], other: Sequence[float]) -> float | None:
    """The n at which `one` overtakes `other`, between two lengths on a straight line of logarithms.

    None if it is below at all lengths, or not below at the first.
    """
    excess = np.log(np.array(one) / np.array(other))
    for i in range(len(lengths) - 1):
        if excess[i] < 0 <= excess[i + 1]:
            share = excess[i] / (excess[i] - excess[i + 1])
            return float(lengths[i] * (lengths[i + 1] / lengths[i]) ** share)
    return None


def sequential_operations(layer: Layer, n: int) -> int:
    """The longest chain of operations that wait for each other, of the layer on n positions."""
    jaxpr = jax.make_jaxpr(layer.apply)(layer.parameters(2), _input(n, 2))
    return _chain(jaxpr.jaxpr)


def _chain(jaxpr):
    done = {}  # variable -> operations before it is there

    def ready(variables):
        return max((done.get(v, 0) for v in variables if not isinstance(v, Literal)), default=0)

    for equation in jaxpr.eqns:
        bodies = [getattr(value, "jaxpr", value) for value in equation.params.values()]
        bodies = [_chain(body) for body in bodies if hasattr(body, "eqns")]
        own = max(bodies, default=1) * equation.params.get("length", 1)
        for variable in equation.outvars:
            done[variable] = ready(equation.invars) + own
    return ready(jaxpr.outvars)


def connections(function: Callable[[Array], Array], n: int) -> Bool[np.ndarray, "{n} {n}"]:
    """[t, s]: output t depends on input s, that is, their block of the Jacobian is not zero."""
    jacobian = jax.jit(jax.jacobian(function))(_input(n, 2))
    return np.any(np.asarray(jacobian) != 0, axis=(1, 3))


def stacked(edges: Iterable[Bool[np.ndarray, "N N"]], causal: bool = False) -> int:
    """How many layers, each given by its connections, let every output see every input.

    With `causal`, every input that is not later.
    """
    reach = None
    for depth, layer in enumerate(edges, 1):
        reach = layer if reach is None else layer @ reach
        if reach[np.tril_indices_from(reach)].all() if causal else reach.all():
            return depth
    raise ValueError("there are not enough layers for every output to see every input")


def path_length(layer: Layer, n: int) -> int:
    """The layers, or time steps, between the input and the output farthest from each other."""
    parameters = layer.parameters(2)
    if layer.apply is not recurrent:
        edge = connections(partial(layer.apply, parameters), n)
        return stacked(itertools.repeat(edge, n))
    # All time steps at once: each takes its input and the state of the step before. After so many
    # of these rounds the last state has seen the first input.
    x, before = _input(n, 2), partial(jnp.pad, pad_width=((1, 0), (0, 0)))
    from_input = connections(lambda x: recurrent_step(parameters, x, x * 0), n)
    from_state = connections(lambda h: recurrent_step(parameters, x, before(h)[:-1]), n)
    reach, rounds = from_input, 1
    while not reach[-1, 0]:
        reach, rounds = from_input | from_state @ reach, rounds + 1
    return rounds


def dilated_path_length(kernel: int, n: int) -> int:
    """As `path_length`, of causal convolutions with dilation 1, k, k^2, ..., as in ByteNet.

    Causal, since with centred ones the last dilations would reach beyond both ends.
    """
    weights = jnp.stack(_random(kernel, 2))
    edges = (
        connections(partial(convolution, weights, dilation=kernel**i, causal=True), n)
        for i in range(n)
    )
    return stacked(edges, causal=True)


class Measured(NamedTuple):
    """FLOPs and seconds of a layer at each (n, d) of a grid."""

    layer: Layer
    flops: dict[tuple[int, int], float]
    seconds: dict[tuple[int, int], float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    numbers = {"type": plots.whole_numbers, "metavar": "N,N,..."}
    parser.add_argument("--n", default=[64, 128, 256, 512, 1024, 2048], help="lengths", **numbers)
    parser.add_argument("--d", default=[128, 256, 512], help="widths", **numbers)
    parser.add_argument("--kernel", type=int, default=3, metavar="K", help="k of the convolution")
    parser.add_argument(
        "--neighbourhood", type=int, default=31, metavar="R", help="r of restricted attention"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="calls whose median time counts"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draws FLOPs and time to FILE.png and FILE.svg"
    )


def run(arguments: argparse.Namespace) -> None:
    lengths, widths = sorted(set(arguments.n)), sorted(set(arguments.d))
    for name, values in (("n", lengths), ("d", widths)):
        if len(values) < 2 or values[0] < 1:
            given = ",".join(map(str, getattr(arguments, name)))
            raise InputError(f"--{name} is {given}: give two or more sizes, each 1 or more")
    for name in ("kernel", "neighbourhood"):
        value = getattr(arguments, name)
        if value < 3 or value % 2 == 0:
            raise InputError(f"--{name} is {value}: give an odd number, 3 or more")
    if arguments.repeats < 1:
        raise InputError(f"--repeats is {arguments.repeats}: give 1 or more")
    if arguments.plot is not None:
        plots.prepare(arguments.plot.parent)

    rows = layers(arguments.kernel, arguments.neighbourhood)
    grid = list(itertools.product(lengths, widths))
    measured = []
    for layer in rows:
        costs = [measure(layer, n, d, arguments.repeats) for n, d in grid]
        flops, seconds = (
            dict(zip(grid, column, strict=True)) for column in zip(*costs, strict=True)
        )
        measured.append(Measured(layer, flops, seconds))
    device = jax.devices()[0]
    machine = f"{device.device_kind} ({platform.machine()})"
    print(
        f"Table 1 with k = {arguments.kernel}, r = {arguments.neighbourhood}, float32; exponents "
        f"fitted over n = {_list(lengths)} and d = {_list(widths)};\noperations and paths counted "
        f"at n = {_list(_LENGTHS)}; times on {machine}, jax {jax.__version__}.\n"
    )
    print(_summary(measured, arguments.kernel))
    print("\nMeasured, FLOPs and milliseconds:\n")
    print(_details(measured, grid))
    print()
    print(_crossovers(measured[0], measured[1], lengths, widths))
    if arguments.plot is not None:
        print()
        _draw(measured, lengths, widths[(len(widths) - 1) // 2], arguments.plot)


def _list(values):
    return ", ".join(map(str, values))


def _summary(measured, kernel):
    rows = [
        [
            "layer",
            "complexity",
            "FLOPs",
            "time",
            "sequential operations",
            "counted",
            "maximum path length",
            "counted",
        ]
    ]
    for layer, counted, times in measured:
        paths = _list(path_length(layer, n) for n in _LENGTHS)
        if layer.apply is convolution:
            paths += "; dilated " + _list(dilated_path_length(kernel, n) for n in _LENGTHS)
        rows.append(
            [
                layer.name,
                layer.complexity,
                _powers(counted),
                _powers(times),
                layer.sequential,
                _list(sequential_operations(layer, n) for n in _LENGTHS),
                layer.path,
                paths,
            ]
        )
    return markdown(rows[0], rows[1:])


def _powers(values):
    a, b = exponents(list(values), list(values.values()))
    return f"n^{a:.2f} d^{b:.2f}"


def _details(measured, grid):
    rows = [["d", "n"]]
    for layer, *_ in measured:
        rows[0] += [layer.name, "ms"]
    for n, d in sorted(grid, key=lambda size: size[::-1]):
        row = [str(d), str(n)]
        for _, counted, times in measured:
            row += [f"{counted[n, d]:.2e}", f"{times[n, d] * 1e3:.3f}"]
        rows.append(row)
    return markdown(rows[0], rows[1:])


def _crossovers(attention, recurrence, lengths, widths):
    lines = ["Self-attention costs more than the recurrent layer from about"]
    for d in widths:
        found = []
        for name in ("flops", "seconds"):
            one, other = (
                [getattr(row, name)[n, d] for n in lengths] for row in (attention, recurrence)
            )
            n = crossover(lengths, one, other)
            if n is not None:
                found.append(f"n = {n:,.0f}")
            elif one[0] >= other[0]:
                found.append(f"below n = {lengths[0]}")
            else:
                found.append(f"beyond n = {lengths[-1]:,}")
        lines.append(f"  d = {d}: {found[0]} by FLOPs, {found[1]} by time")
    lines.append("By the printed orders, n^2 d against n d^2, from n = d.")
    return "\n".join(lines)


def _draw(measured, lengths, d, stem):
    with plots.drawing(stem, 3.7) as figure:
        axes = plots.panels(figure, 1, 2)
        for axis, name in zip(axes, ("flops", "seconds"), strict=True):
            for row, colour, mark in zip(measured, plots.COLOURS, "osD^", strict=False):
                values = [getattr(row, name)[n, d] for n in lengths]
                axis.plot(
                    lengths, values, color=colour, marker=mark, markersize=4, label=row.layer.name
                )
            axis.set(xscale="log", yscale="log", xlabel="length n")
            axis.set_xticks(lengths, [str(n) for n in lengths], minor=False)
            axis.minorticks_off()
            axis.grid(True, axis="y")
            if lengths[0] <= d <= lengths[-1]:
                axis.axvline(d, color=plots.GREY, linewidth=0.9, linestyle=":")
                axis.annotate(
                    f"n = d = {d}",
                    (d, 0.02),
                    xycoords=("data", "axes fraction"),
                    xytext=(4, 0),
                    textcoords="offset points",
                    color=plots.GREY,
                    fontsize=9,
                )
        axes[0].set_ylabel("FLOPs of a layer")
        axes[1].set_ylabel("seconds of a layer")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
