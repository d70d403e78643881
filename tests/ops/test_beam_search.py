"""The search against brute force and against a beam search in plain Python that never stops early.

The model is a table: the logits after every prefix of every sentence are independent and random.
Its cache holds the table, one a sentence, beside the prefix of every beam.
"""

import itertools
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from transformer_jax.ops.beam_search import beam_search

PAD, EOS, BOS = 0, 1, 2
V = 6  # of which 3, 4 and 5 are ordinary


def model(seed, sentences, max_length, spread=1.5):
    """[sentences, prefixes, V] logits; a prefix is the number of its tokens as digits base V."""
    shape = (sentences, V ** (max_length - 1), V)
    return np.random.default_rng(seed).normal(scale=spread, size=shape).astype(np.float32)


def prefix_step(tokens, position, prefix):
    """Writes the tokens behind the prefixes; their codes. BOS, at position 0, is no digit."""
    prefix = prefix.at[:, :, position].set(jnp.where(position == 0, 0, tokens))
    digits = jnp.asarray(V ** np.arange(-1, prefix.shape[2] - 1).clip(0), jnp.int32)
    return prefix, jnp.sum(prefix * digits[None, None], axis=2)


def step(tokens, position, cache, dtype=jnp.float32):
    table, prefix = cache
    prefix, code = prefix_step(tokens, position, prefix)
    return jnp.take_along_axis(table, code[:, :, None], axis=1).astype(dtype), (table, prefix)


def reorder(cache, parents):
    table, prefix = cache
    return table, jnp.take_along_axis(prefix, parents[:, :, None], axis=1)


@partial(jax.jit, static_argnames=("step", "max_length", "beam_size", "n_best", "alpha", "bos"))
def search(table, limits, *, step=step, max_length, beam_size, n_best=1, alpha=0.6, bos=BOS):
    prefix = jnp.zeros_like(limits, shape=(limits.shape[0], beam_size, max_length))
    return beam_search(
        step,
        (table, prefix),
        limits,
        max_length=max_length,
        beam_size=beam_size,
        n_best=n_best,
        length_penalty=alpha,
        bos=bos,
        eos=EOS,
        pad=PAD,
        reorder=reorder,
    )


def run(table, limits, **settings):
    return jax.tree.map(np.asarray, search(table, np.asarray(limits, np.int32), **settings))


def log_probabilities(table, prefix):
    """Of one sentence's table, in float64."""
    logits = table[sum(token * V**i for i, token in enumerate(prefix))].astype(np.float64)
    return logits - np.logaddexp.reduce(logits)


def score(table, sequence, alpha):
    """The teacher-forced scorer: log p(y|x) / lp(|y|)."""
    logprob = sum(log_probabilities(table, sequence[:i])[y] for i, y in enumerate(sequence))
    return logprob / ((5 + len(sequence)) / 6) ** alpha


def brute_force(table, limit, n_best, alpha):
    sequences = [
        (*prefix, EOS)
        for length in range(limit)
        for prefix in itertools.product((3, 4, 5), repeat=length)
    ]
    return sorted(sequences, key=lambda y: -score(table, y, alpha))[:n_best]


def plain_search(table, limit, beam_size, n_best, alpha, ordinary=(3, 4, 5)):
    """The search as its docstring defines it, to the limit, with lists."""
    alive, finished = [(0.0, ())], []
    for position in range(limit):
        choices = (EOS,) if position == limit - 1 else sorted((EOS, *ordinary))
        extensions = [
            (logprob + log_probabilities(table, prefix)[y], (*prefix, y))
            for logprob, prefix in alive
            for y in choices
        ]
        extensions.sort(key=lambda pair: -pair[0])
        extensions = extensions[: 2 * beam_size]
        finished += [y for _, y in extensions if y[-1] == EOS]
        alive = [pair for pair in extensions if pair[1][-1] != EOS][:beam_size]
    return sorted(finished, key=lambda y: -score(table, y, alpha))[:n_best]


def sequences(found, sentence):
    """The hypotheses as tuples, checked to be followed by nothing but pad."""
    rows = list(zip(found.tokens[sentence], found.lengths[sentence], strict=True))
    assert all((tokens[length:] == PAD).all() for tokens, length in rows)
    return [tuple(tokens[:length].tolist()) for tokens, length in rows if length]


def assert_identical(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_wide_beam_equals_brute_force(alpha):
    table, limits = model(0, 8, 4), [4, 4, 3, 4, 2, 4, 1, 4]
    found = run(table, limits, max_length=4, beam_size=27, n_best=3, alpha=alpha)
    for b, limit in enumerate(limits):
        assert sequences(found, b) == brute_force(table[b], limit, 3, alpha)


NARROW = {"max_length": 6, "beam_size": 3, "n_best": 2}
LIMITS = [6, 5, 6, 1, 4, 6, 0, 3, 6, 6, 2, 6, 5, 6, 6, 6]


@pytest.fixture(scope="module")
def narrow():
    table = model(1, len(LIMITS), 6)
    return table, run(table, LIMITS, **NARROW)


def test_stopping_early_changes_nothing(narrow):
    table, found = narrow
    for b, limit in enumerate(LIMITS):
        assert sequences(found, b) == plain_search(table[b], limit, 3, 2, 0.6)


def test_a_score_is_what_teacher_forcing_gives(narrow):
    table, found = narrow
    for b in range(len(LIMITS)):
        hypotheses = sequences(found, b)
        expected = [score(table[b], y, 0.6) for y in hypotheses] + [-np.inf] * 2
        np.testing.assert_allclose(found.scores[b], expected[:2], rtol=1e-5)
        assert all(y[-1] == EOS and y.count(EOS) == 1 and not {PAD, BOS} & {*y} for y in hypotheses)


def test_a_sentence_depends_on_itself_alone(narrow):
    table, found = narrow
    for b, limit in enumerate(LIMITS):
        alone = run(table[b : b + 1], [limit], **NARROW)
        assert_identical(alone, jax.tree.map(lambda leaf, b=b: leaf[b : b + 1], found))


def test_a_row_that_fills_up_the_batch_gets_no_hypothesis(narrow):
    _, found = narrow
    b = LIMITS.index(0)
    assert (found.tokens[b] == PAD).all()
    assert (found.scores[b] == -np.inf).all()
    assert (found.lengths[b] == 0).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_beam_of_one_is_greedy_whatever_the_penalty(alpha):
    table, limits = model(2, 16, 6), [6, 4] * 8
    found = run(table, limits, max_length=6, beam_size=1, alpha=alpha)
    for b, limit in enumerate(limits):
        greedy = ()
        while EOS not in greedy:
            choices = [EOS] if len(greedy) == limit - 1 else [EOS, 3, 4, 5]
            greedy += (max(choices, key=log_probabilities(table[b], greedy).__getitem__),)
        assert sequences(found, b) == [greedy]
        np.testing.assert_allclose(found.scores[b], [score(table[b], greedy, alpha)], rtol=1e-5)


def test_a_limit_counts_eos_and_the_buffer_cuts_it(narrow):
    table = narrow[0].copy()
    table[:, :, EOS] = -30.0
    limits = [limit if limit < 6 else 9 for limit in LIMITS]
    found = run(table, limits, **NARROW)
    assert (found.lengths == np.asarray(LIMITS)[:, None])[:, 0].all()
    for b, limit in enumerate(LIMITS):
        assert sequences(found, b) == plain_search(table[b], limit, 3, 2, 0.6)


def test_pad_and_bos_are_not_generated_and_give_nothing_away(narrow):
    table = narrow[0].copy()
    table[:, :, [PAD, BOS]] = 4.0
    found = run(table, LIMITS, **NARROW)
    for b, limit in enumerate(LIMITS):
        expected = plain_search(table[b], limit, 3, 2, 0.6)
        assert sequences(found, b) == expected
        for got, y in zip(found.scores[b], expected, strict=False):
            assert got == pytest.approx(score(table[b], y, 0.6), rel=1e-5)


def test_a_model_may_begin_with_eos(narrow):
    table, _ = narrow
    found = run(table, LIMITS, bos=EOS, **NARROW)
    for b, limit in enumerate(LIMITS):
        assert sequences(found, b) == plain_search(table[b], limit, 3, 2, 0.6, (BOS, 3, 4, 5))


def test_equals_come_in_the_order_of_beam_and_id(narrow):
    table = np.zeros_like(narrow[0])
    found = run(table, LIMITS, **NARROW)
    for b, limit in enumerate(LIMITS):
        assert sequences(found, b) == plain_search(table[b], limit, 3, 2, 0.6)


def test_the_search_goes_on_when_a_whole_beam_ends_at_once():
    table = np.full((1, V**5, V), -np.inf, np.float32)
    table[0, 0, [3, 4]] = np.log([0.6, 0.4])
    for first in (3, 4):  # eos is the best after both, but in the end 3 5 5 5 5 eos wins
        table[0, first, [EOS, 5]] = np.log([0.61, 0.39])
        for length in range(2, 6):
            token = 5 if length < 5 else EOS
            code = first + sum(5 * V**i for i in range(1, length))
            table[0, code, token] = 0.0
    found = run(table, [6], max_length=6, beam_size=2, alpha=1.0)
    assert sequences(found, 0) == [(3, 5, 5, 5, 5, EOS)]
    assert found.scores[0, 0] == pytest.approx(math.log(0.6 * 0.39) * 6 / 11, rel=1e-5)


def test_a_vocabulary_smaller_than_the_beam_gives_the_hypotheses_there_are():
    logits = np.asarray([0.5, 1.0, -1.0], np.float32)
    found = beam_search(
        lambda tokens, position, cache: (jnp.broadcast_to(logits, (*tokens.shape, 3)), cache),
        (),
        jnp.asarray([3, 2], jnp.int32),
        max_length=3,
        beam_size=4,
        n_best=4,
        bos=PAD,
        eos=EOS,
        pad=PAD,
    )
    chances = np.exp(logits - np.logaddexp.reduce(logits))
    for b, lengths in enumerate(([1, 2, 3, 0], [1, 2, 0, 0])):
        assert found.lengths[b].tolist() == lengths
        expected = [
            (np.log(chances[1]) + (n - 1) * np.log(chances[2])) / ((5 + n) / 6) ** 0.6
            if n
            else -np.inf
            for n in lengths
        ]
        np.testing.assert_allclose(found.scores[b], expected, rtol=1e-5)


def test_by_default_every_leaf_of_the_cache_follows_its_beam():
    table = jnp.asarray(model(3, 4, 5))
    limits = jnp.full((4,), 5, jnp.int32)

    def step_of_beams(tokens, position, cache):
        prefix, code = prefix_step(tokens, position, cache["prefix"])
        return jnp.take_along_axis(table, code[:, :, None], axis=1), {"prefix": prefix}

    found = beam_search(
        step_of_beams,
        {"prefix": jnp.zeros((4, 3, 5), jnp.int32)},
        limits,
        max_length=5,
        beam_size=3,
        bos=BOS,
        eos=EOS,
        pad=PAD,
    )
    table, found = jax.tree.map(np.asarray, (table, found))
    for b in range(4):
        assert sequences(found, b) == plain_search(table[b], 5, 3, 1, 0.6)


def test_the_loop_ends_with_its_last_sentence():
    positions = []

    def counting_step(tokens, position, cache):
        jax.debug.callback(lambda p: positions.append(int(p)), position)
        return step(tokens, position, cache)

    table = model(4, 3, 6)
    table[:, :, EOS] = [[-9.0], [-9.0], [9.0]]  # the last sentence is over at once
    table[1, 3:6, EOS] = 9.0  # the second after one token
    settings = {"step": counting_step, "max_length": 6, "beam_size": 2}
    for limits, steps in (
        ([6, 6, 6], 6),
        ([3, 6, 6], 3),
        ([0, 6, 6], 2),
        ([0, 0, 6], 1),
        ([0] * 3, 0),
    ):
        run(table, limits, **settings)
        jax.effects_barrier()
        assert sorted(positions) == list(range(steps))
        positions.clear()


def test_logits_that_are_not_numbers_end_at_the_limit(narrow):
    found = run(np.full_like(narrow[0], np.nan), LIMITS, **NARROW)
    assert (found.lengths <= np.asarray(LIMITS)[:, None]).all()


def test_bfloat16_logits_are_searched_in_float32(narrow):
    table, _ = narrow
    rounded = np.asarray(jnp.asarray(table).astype(jnp.bfloat16).astype(jnp.float32))
    found = run(table, LIMITS, step=partial(step, dtype=jnp.bfloat16), **NARROW)
    assert_identical(found, run(rounded, LIMITS, **NARROW))


@pytest.mark.skipif(jax.device_count() < 2, reason="one device")
@pytest.mark.parametrize("check_vma", [True, False])
def test_devices_that_stop_on_their_own_find_the_same(narrow, check_vma):
    table, found = narrow
    devices = math.gcd(jax.device_count(), len(LIMITS))
    mesh = jax.make_mesh((devices,), ("data",), axis_types=(AxisType.Auto,))
    sharded = jax.jit(
        jax.shard_map(
            partial(search, **NARROW),
            mesh=mesh,
            in_specs=P("data"),
            out_specs=P("data"),
            check_vma=check_vma,
        )
    )
    assert_identical(sharded(table, np.asarray(LIMITS, np.int32)), found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0"),
        ({"beam_size": 2, "n_best": 3}, "n_best is 3"),
        ({"n_best": 0}, "n_best is 0"),
        ({"length_penalty": -0.1}, r"length_penalty is -0\.1"),
        ({"length_penalty": math.nan}, "length_penalty is nan"),
        ({"max_length": 0}, "max_length is 0"),
        ({"eos": V}, f"eos is {V}"),
    ],
)
def test_a_static_argument_out_of_range_is_named_with_its_value(settings, message):
    settings = {"max_length": 2, "bos": BOS, "eos": EOS, "pad": PAD, **settings}
    with pytest.raises(ValueError, match=message):
        beam_search(
            lambda tokens, position, cache: (jnp.zeros((*tokens.shape, V)), cache),
            (),
            jnp.ones((1,), jnp.int32),
            **settings,
        )
