"""The model against NumPy in float64, and what is true of it whatever its parameters."""

import dataclasses
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.model import reference
from transformer_jax.batch import BOS, EOS, PAD
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.model.layers import Dropout
from transformer_jax.ops import label_smoothed_cross_entropy

V = 11
BASE = TransformerConfig(V, num_layers=2, d_model=8, d_ff=12, num_heads=2)
VARIANT = dataclasses.replace(BASE, d_k=3, d_v=5, norm="pre", positions="learned", max_positions=9)
LOCAL = dataclasses.replace(BASE, num_layers=1, neighbourhood=2, scale_scores=False)
CONFIGS = {"base": BASE, "variant": VARIANT, "local": LOCAL}
PAIRS = [
    ([4, 5, 6, 7, EOS], [8, 9, EOS]),
    ([EOS], [10, 4, 4, 5, 7, EOS]),
    ([9, 10, EOS], [EOS]),
]


def padded(sentences, length, rows=None):
    array = np.full((rows or len(sentences), length), PAD, np.int32)
    for row, ids in enumerate(sentences):
        array[row, : len(ids)] = ids
    return array


SOURCE = padded([source for source, _ in PAIRS], 6)
TARGET = padded([target for _, target in PAIRS], 6)


def init(config, seed=0):
    """Random parameters: at the initial ones every bias is 0 and every scale 1."""
    model = Transformer(config)
    tokens = jnp.ones((1, 1), jnp.int32)
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens, tokens)["params"]
    generator = np.random.default_rng(seed)

    def draw(path, leaf):
        fan_in = 1 if leaf.ndim == 1 else leaf.shape[0]
        around = 1.0 if path[-1].key == "scale" else 0.0
        values = generator.normal(around, 0.5 * fan_in**-0.5, leaf.shape)
        return jnp.asarray(values, jnp.float32)

    return jax.tree_util.tree_map_with_path(draw, shapes)


class Subject:
    """A model with its parameters, and its functions compiled once for all tests."""

    def __init__(self, config):
        self.config = config
        self.model = Transformer(config)
        self.params = init(config)
        self._logits = jax.jit(lambda params, *ids: self.model.apply({"params": params}, *ids))
        self.gradient = jax.jit(jax.value_and_grad(self._loss))
        self.cached = jax.jit(self._cached)

    def logits(self, source=SOURCE, target=TARGET, params=None):
        return np.asarray(self._logits(self.params if params is None else params, source, target))

    def _loss(self, params, source, target):
        logits = self.model.apply({"params": params}, source, target)
        return label_smoothed_cross_entropy(logits, target, target != PAD, 0.1).loss

    def _cached(self, params, source, tokens, parents):
        """Logits of every position and beam; `tokens` and `parents` are [L, B, K]."""
        apply = partial(self.model.apply, {"params": params})
        length, _, beam_size = tokens.shape
        cache = apply(source, beam_size, length, method="start")

        def step(cache, inputs):
            position, tokens, parents = inputs
            logits, cache = apply(tokens, position, cache, method="step")
            return cache.reorder(parents), logits

        inputs = (jnp.arange(length), tokens, parents)
        return jax.lax.scan(step, cache, inputs)[1]


@pytest.fixture(scope="module")
def subjects():
    return {name: Subject(config) for name, config in CONFIGS.items()}


@pytest.fixture(params=CONFIGS)
def subject(request, subjects):
    return subjects[request.param]


@pytest.fixture
def base(subjects):
    return subjects["base"]


@pytest.fixture
def variant(subjects):
    return subjects["variant"]


def close(ours, theirs, ulps=10):
    """Equal up to that many roundings of the largest value."""
    return np.abs(ours - theirs).max() <= ulps * np.finfo(np.float32).eps * np.abs(theirs).max()


def test_the_logits_are_those_of_the_paper(subject):
    ours = subject.logits()
    params = reference.float64(subject.params)
    for row, (source, target) in enumerate(PAIRS):
        theirs = reference.logits(params, subject.config, source, target)
        assert close(ours[row, : len(target)], theirs)


def test_the_loss_and_its_gradient_are_those_of_the_paper(subject):
    loss, gradient = subject.gradient(subject.params, SOURCE, TARGET)
    params = reference.float64(subject.params)

    def theirs(params):
        return reference.loss(params, subject.config, PAIRS, 0.1)

    assert float(loss) == pytest.approx(theirs(params), rel=1e-6)

    # Along a random direction of every parameter by itself, by central differences.
    generator = np.random.default_rng(0)
    leaves, structure = jax.tree.flatten(params)
    whole = float(optax.tree.norm(gradient))
    for index, ours in enumerate(jax.tree.leaves(gradient)):
        direction = generator.normal(size=ours.shape)
        direction /= np.linalg.norm(direction)
        ends = []
        for sign in (1, -1):
            moved = list(leaves)
            moved[index] = moved[index] + sign * 1e-6 * direction
            ends.append(theirs(jax.tree.unflatten(structure, moved)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert np.sum(ours * direction) == pytest.approx(slope, rel=1e-5, abs=1e-6 * whole)


def test_the_future_is_invisible(base):
    before = base.logits()
    for t in range(TARGET.shape[1]):
        changed = TARGET.copy()
        changed[:, t] = 4 + (changed[:, t] + 1) % 7
        assert (changed[:, t] != TARGET[:, t]).all()
        after = base.logits(target=changed)
        assert np.array_equal(after[:, : t + 1], before[:, : t + 1])
        if t + 1 < TARGET.shape[1]:
            assert (after[:, t + 1] != before[:, t + 1]).any(axis=-1).all()


def test_no_gradient_flows_from_a_position_to_its_future(variant):
    # Rows 2 to 5 of the table of positions are used by the decoder alone.
    source, target = jnp.asarray(SOURCE[:, :2]), jnp.asarray(TARGET)
    weights = np.random.default_rng(0).normal(size=(*TARGET.shape, V)).astype(np.float32)

    def outputs(table):
        params = {**variant.params, "positions": table}
        logits = variant.model.apply({"params": params}, source, target)
        return jnp.einsum("BTV,BTV->T", logits, weights)

    jacobian = np.asarray(jax.jit(jax.jacrev(outputs))(variant.params["positions"]))
    seen = np.abs(jacobian[:, 2:6]).max(axis=-1) > 0
    assert np.array_equal(seen, np.tril(np.ones((6, 6), bool))[:, 2:])


def test_padding_changes_nothing(base):
    """Longer rows, rows of padding and other sentences beside: each sentence stays as it is."""
    alone = base.logits()
    source = padded([source for source, _ in PAIRS][::-1], 9, rows=5)
    target = padded([target for _, target in PAIRS][::-1], 8, rows=5)
    together = base.logits(source, target)
    assert np.isfinite(together).all()
    for row, (_, target) in enumerate(PAIRS):
        assert close(together[2 - row, : len(target)], alone[row, : len(target)])


def test_a_row_of_padding_adds_nothing_to_the_gradient(base):
    source, target = SOURCE.copy(), TARGET.copy()
    source[1], target[1] = PAD, PAD
    loss, gradient = base.gradient(base.params, source, target)
    total, parts = 0.0, []
    for row in (0, 2):
        source, target = np.zeros_like(SOURCE), np.zeros_like(TARGET)
        source[0], target[0] = SOURCE[row], TARGET[row]
        part, of_part = base.gradient(base.params, source, target)
        total += float(part)
        parts.append(of_part)
    assert float(loss) == pytest.approx(total, rel=1e-6)
    summed = jax.tree.map(lambda a, b: np.asarray(a) + b, *parts)
    for ours, theirs in zip(jax.tree.leaves(gradient), jax.tree.leaves(summed), strict=True):
        assert close(ours, theirs)


def test_without_positions_permuting_the_source_permutes_its_encoding(variant):
    source = np.array([[4, 5, 6, 7, 8, EOS]], np.int32)
    order = np.array([3, 0, 5, 1, 4, 2])

    @jax.jit
    def encode(params, source):
        return variant.model.apply({"params": params}, source, method="encode")

    params = {**variant.params, "positions": jnp.zeros_like(variant.params["positions"])}
    straight, permuted = encode(params, source), encode(params, source[:, order])
    assert close(permuted, straight[:, order])
    positioned = encode(variant.params, source[:, order])
    assert not close(positioned, encode(variant.params, source)[:, order], ulps=1e5)


def check_cache(subject, length, positions):
    """Decoding with a cache against teacher forcing of what each beam has said."""
    batch, beams = 3, 3
    generator = np.random.default_rng(0)
    tokens = generator.integers(3, V, (length, batch, beams), np.int32)
    tokens[0] = BOS
    parents = generator.integers(0, beams, (length, batch, beams), np.int32)
    cached = subject.cached(subject.params, SOURCE, tokens, parents)

    said = np.full((length, batch, beams, length), PAD, np.int32)  # before each position
    for t in range(1, length):
        for b in range(batch):
            for k in range(beams):
                said[t, b, k] = said[t - 1, b, parents[t - 1, b, k]]
                said[t, b, k, t - 1] = tokens[t, b, k]
    said = said[positions]
    sources = np.broadcast_to(SOURCE[:, None], (len(positions), batch, beams, SOURCE.shape[1]))
    forced = subject.logits(sources.reshape(-1, SOURCE.shape[1]), said.reshape(-1, length))
    forced = forced.reshape(len(positions), batch, beams, length, V)
    for i, t in enumerate(positions):
        assert close(cached[t], forced[i, :, :, t]), t


def test_decoding_with_the_cache_is_teacher_forcing_of_what_each_beam_has_said(subject):
    check_cache(subject, 6, list(range(6)))


def test_decoding_sees_all_that_was_said_however_long(base):
    """Of the cache the first 32, then 64, then all 130 positions are read."""
    check_cache(base, 130, [0, 31, 32, 33, 63, 64, 65, 129])


def test_attention_weights_are_returned_when_asked_for(base):
    """For every layer and head; they sum to one over the keys and see no padding."""
    source, target = jnp.asarray(SOURCE), jnp.asarray(TARGET)
    _, sown = base.model.apply({"params": base.params}, source, target, mutable=["attention"])
    seen = {
        f"{layer}/{kind}": np.asarray(parts["weights"][0])
        for layer, kinds in sown["attention"].items()
        for kind, parts in kinds.items()
    }
    assert len(seen) == 3 * BASE.num_layers
    for name, weights in seen.items():
        assert weights.shape == (len(PAIRS), BASE.num_heads, 6, 6)
        assert np.allclose(weights.sum(axis=-1), 1, atol=1e-6), name
    assert not seen["encoder_1/self_attention"][1, :, :, 1:].any()  # of a sentence of one token
    assert not np.triu(seen["decoder_0/self_attention"], 1).any()


def test_dropout_needs_a_key_and_is_a_function_of_it(base):
    @jax.jit
    def logits(key):
        ids = jnp.asarray(SOURCE), jnp.asarray(TARGET)
        return base.model.apply({"params": base.params}, *ids, rngs={"dropout": key})

    one, other = jax.random.split(jax.random.key(0))
    assert BASE.dropout_rate > 0
    assert np.array_equal(logits(one), logits(one))
    assert not close(logits(one), logits(other), ulps=1e5)
    assert not close(logits(one), base.logits(), ulps=1e5)


def dropped_shapes(config, source, target):
    """The shapes of everything that has dropout."""
    model = Transformer(config)
    dropped = []

    def note(call, arguments, options, context):
        module = context.module
        if isinstance(module, Dropout) and context.method_name == "__call__" and module.rate:
            dropped.append(arguments[0].shape)
        return call(*arguments, **options)

    with nn.intercept_methods(note):
        jax.eval_shape(model.init, jax.random.key(0), source, target)
    return dropped


def test_dropout_is_on_embeddings_and_sublayers_and_nowhere_else():
    # Of different lengths, so that the shapes tell the stack.
    source, target = jnp.asarray(SOURCE[:, :4]), jnp.asarray(TARGET)
    dropped = dropped_shapes(BASE, source, target)
    layers = BASE.num_layers
    assert dropped.count((*source.shape, BASE.d_model)) == 1 + 2 * layers
    assert dropped.count((*target.shape, BASE.d_model)) == 1 + 3 * layers
    assert len(dropped) == 2 + 5 * layers


def test_attention_dropout_is_on_the_weights_of_every_attention():
    source, target = jnp.asarray(SOURCE[:, :4]), jnp.asarray(TARGET)
    config = dataclasses.replace(BASE, dropout_rate=0.0, attention_dropout_rate=0.2)
    (b, s), (_, t), heads = source.shape, target.shape, BASE.num_heads
    each = [(b, heads, s, s), (b, heads, t, t), (b, heads, t, s)]
    assert sorted(dropped_shapes(config, source, target)) == sorted(each * BASE.num_layers)


def test_bfloat16_is_float32_up_to_its_rounding(base):
    half = Subject(dataclasses.replace(BASE, dtype="bfloat16"))
    ours, theirs = half.logits(params=base.params), base.logits()
    assert ours.dtype == np.float32
    assert not np.array_equal(ours, theirs)
    # Some 16 roundings of at most 2^-9 lie between a token and its logits, one after the other:
    # a sum, a norm and two products for each of 2 + 2 layers. At random they add up to 4 of them.
    error = np.sqrt(np.mean((ours - theirs) ** 2) / np.mean(theirs**2))
    assert error < 8 * 2**-9


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_layers", 0),
        ("d_model", -8),
        ("vocab_size", 0),
        ("num_heads", 3),
        ("dropout_rate", 1.0),
        ("dropout_rate", -0.1),
        ("positions", "rotary"),
        ("norm", "rms"),
        ("neighbourhood", 0),
        ("dtype", "float16"),
    ],
)
def test_a_value_that_makes_no_model_is_named(field, value):
    with pytest.raises(InputError, match=rf"model\.{field}.*{value}"):
        dataclasses.replace(BASE, **{field: value})


def test_any_number_of_heads_will_do_once_both_widths_are_given():
    config = dataclasses.replace(BASE, num_heads=3, d_k=2, d_v=4)
    assert (config.key_width, config.value_width) == (2, 4)


def test_more_positions_than_a_learned_table_has_are_refused(variant):
    source = jnp.full((1, 10), 4, jnp.int32)
    with pytest.raises(InputError, match=r"10 positions.* 9 \(model\.max_positions\)"):
        variant.model.apply({"params": variant.params}, source, source)
