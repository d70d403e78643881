import itertools
import math

import numpy as np
import pytest

from transformer_jax.batch import EOS, PAD
from transformer_jax.data.batching import (
    Plan,
    Shape,
    choose_boundaries,
    make_batch,
    non_pad_share,
    plan_evaluation,
    plan_training,
)
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.errors import InputError


def random_lengths(seed, size=1000, longest=40):
    return np.random.default_rng(seed).integers(1, longest + 1, size)


def of_lengths(lengths):
    """Pairs of these lengths, EOS counted, on both sides."""
    side = Ragged.from_sequences([5] * (n - 1) for n in lengths)
    return TokenPairs(side, side)


def random_pairs(seed, size=300):
    generator = np.random.default_rng(seed)

    def side():
        return Ragged.from_sequences(
            generator.integers(4, 90, generator.integers(0, 30)) for _ in range(size)
        )

    return TokenPairs(side(), side())


def padded_size(lengths, boundaries):
    return sum(min(boundary for boundary in boundaries if boundary >= n) for n in lengths)


def test_ragged_gives_back_what_it_was_given():
    sequences = [[1, 2, 3], [], np.array([7], np.int64), (), [2**31 - 1, 0]]
    ragged = Ragged.from_sequences(iter(sequences))
    assert len(ragged) == 5
    assert [row.tolist() for row in ragged] == [list(sequence) for sequence in sequences]
    assert ragged.lengths.tolist() == [3, 0, 1, 0, 2]
    assert ragged.tokens.dtype == np.int32
    assert len(Ragged.from_sequences([])) == 0


def test_the_length_of_a_pair_is_that_of_its_longer_side_with_eos():
    pairs = TokenPairs(
        Ragged.from_sequences([[5] * 3, [], [5]]), Ragged.from_sequences([[5], [], [5] * 6])
    )
    assert pairs.lengths.tolist() == [4, 1, 7]
    with pytest.raises(ValueError, match="3 sources but 2 targets"):
        TokenPairs(pairs.source, Ragged.from_sequences([[], []]))


@pytest.mark.parametrize("num_shapes", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("seed", range(8))
def test_boundaries_are_the_best_of_all_sets(seed, num_shapes):
    generator = np.random.default_rng(seed)
    lengths = generator.choice(generator.integers(1, 15, 9), 50)
    longest = lengths.max()
    best = min(
        padded_size(lengths, [*chosen, longest])
        for count in range(num_shapes)
        for chosen in itertools.combinations(range(1, longest), count)
    )
    boundaries = choose_boundaries(lengths, num_shapes)
    assert padded_size(lengths, boundaries) == best
    assert list(boundaries) == sorted(set(boundaries))
    assert len(boundaries) == min(num_shapes, len(np.unique(lengths)))
    assert boundaries[-1] == longest


def test_every_batch_is_full_of_pairs_that_its_shape_fits_best():
    lengths = random_lengths(0)
    plan = plan_training(
        of_lengths(lengths), num_shapes=5, tokens_per_batch=300, max_length=35, seed=3
    )
    assert plan.num_dropped == np.sum(lengths > 35)
    boundaries = [0, *(shape.target for shape in plan.shapes)]
    for epoch in range(4):
        for shape, ids in plan.epoch(epoch):
            assert len(ids) == plan.shapes[shape].rows
            assert boundaries[shape] < lengths[ids].min()
            assert lengths[ids].max() <= boundaries[shape + 1]


@pytest.mark.parametrize("size", [1, 2, 30, 1000])
@pytest.mark.parametrize("num_shapes", [1, 4, 100])
def test_no_pair_is_ever_used_twice_more_than_another_of_its_bucket(size, num_shapes):
    plan = plan_training(
        of_lengths(random_lengths(size, size)),
        num_shapes=num_shapes,
        tokens_per_batch=200,
        max_length=40,
        seed=0,
    )
    used = np.zeros(size, np.int64)
    for epoch in range(25):
        for _, ids in plan.epoch(epoch):
            np.add.at(used, ids, 1)
        for shape, bucket in zip(plan.shapes, plan.buckets, strict=True):
            assert np.ptp(used[bucket]) <= 1
            # What is not used yet waits for the rest of its batch.
            assert 0 <= (epoch + 1) * len(bucket) - used[bucket].sum() < shape.rows


@pytest.mark.parametrize("size", [1, 2, 30, 1000])
@pytest.mark.parametrize("num_shapes", [1, 4, 100])
def test_the_number_of_batches_is_what_counting_gives(size, num_shapes):
    lengths = random_lengths(size, size)
    training = plan_training(
        of_lengths(lengths), num_shapes=num_shapes, tokens_per_batch=200, max_length=40, seed=0
    )
    evaluation = plan_evaluation(of_lengths(lengths), boundaries=(10, 30), tokens_per_batch=200)
    for plan in (training, evaluation):
        counted = np.zeros(len(plan.shapes))
        for epoch in range(25):
            assert plan.batches_before(epoch) == counted.sum()
            for shape, _ in plan.epoch(epoch):
                counted[shape] += 1
        # An average is off by less than the batch of each shape that is not complete yet.
        assert np.all(np.abs(25 * np.array(plan.batches_per_epoch) - counted) < 1)


def test_long_pairs_may_join_late():
    pairs = of_lengths(random_lengths(6))
    settings = {"num_shapes": 4, "tokens_per_batch": 200, "max_length": 40, "seed": 0}
    whole = plan_training(pairs, **settings)
    late = plan_training(pairs, **settings, short_length=whole.shapes[1].target, short_epochs=3)
    assert late.joins == (0, 0, 3, 3)
    for epoch in range(6):
        shapes = {planned.shape for planned in late.epoch(epoch)}
        assert shapes == ({0, 1} if epoch < 3 else {0, 1, 2, 3})
        assert late.batches_before(epoch + 1) - late.batches_before(epoch) == len(late.epoch(epoch))
    assert late.batches_per_epoch == whole.batches_per_epoch
    # Those that join late have the same stream from then on.
    long = [
        [p.pairs.tolist() for p in plan.epoch(e) if p.shape == 3]
        for plan, e in ((whole, 0), (late, 3))
    ]
    assert sorted(long[0]) == sorted(long[1])
    with pytest.raises(InputError, match=r"short_length \(batch.short_length\) 1 is less than"):
        plan_training(pairs, **settings, short_length=1, short_epochs=1)


def test_pairs_meet_other_pairs_every_epoch():
    plan = plan_training(
        of_lengths(random_lengths(2)), num_shapes=3, tokens_per_batch=400, max_length=40, seed=0
    )
    first, second = ({frozenset(ids.tolist()) for _, ids in plan.epoch(e)} for e in range(2))
    assert first.isdisjoint(second)


def test_the_order_depends_on_seed_and_epoch_alone():
    def order(seed, epoch):
        plan = plan_training(
            of_lengths(random_lengths(1)),
            num_shapes=4,
            tokens_per_batch=200,
            max_length=40,
            seed=seed,
        )
        return [(shape, ids.tolist()) for shape, ids in plan.epoch(epoch)]

    assert order(0, 5) == order(0, 5)
    assert order(0, 5) != order(0, 6)
    assert order(0, 5) != order(1, 5)
    assert order(0, 1) != order(1, 0)


@pytest.mark.parametrize("rows_multiple", [1, 2, 8])
def test_rows_fill_the_budget_and_divide(rows_multiple):
    plan = plan_training(
        of_lengths(random_lengths(4)),
        num_shapes=7,
        tokens_per_batch=500,
        max_length=40,
        seed=0,
        rows_multiple=rows_multiple,
    )
    for rows, _, length in plan.shapes:
        assert rows % rows_multiple == 0
        assert rows * length <= 500 < (rows + rows_multiple) * length


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens_per_batch": 319, "rows_multiple": 8}, r"\(batch.tokens\) 319 .* raise it to 320"),
        ({"max_length": 0}, r"max_length \(batch.max_length\) 0 drops all 1000 pairs"),
        ({"num_shapes": 0}, r"num_shapes is 0"),
        ({"seed": -1}, r"seed is -1"),
    ],
)
def test_values_that_cannot_be_planned_are_reported(change, message):
    values = {"num_shapes": 4, "tokens_per_batch": 500, "max_length": 40, "seed": 0}
    lengths = np.append(random_lengths(0, 999), 40)
    with pytest.raises(InputError, match=message):
        plan_training(of_lengths(lengths), **{**values, **change})
    with pytest.raises(InputError, match="no sentence pairs"):
        plan_training(of_lengths(lengths[:0]), **values)


def test_evaluation_has_every_sentence_once_whatever_its_length():
    lengths = np.concatenate([random_lengths(5), [100, 128, 129, 1500]])
    plan = plan_evaluation(
        of_lengths(lengths), boundaries=(10, 20, 40), tokens_per_batch=256, rows_multiple=4
    )
    batches = plan.epoch(0)
    assert len(batches) == plan.batches_before(1)
    ids = np.concatenate([batch.pairs for batch in batches])
    assert np.array_equal(np.sort(ids), np.arange(len(lengths)))
    assert np.all(np.diff(lengths[ids]) >= 0)
    assert [shape.target for shape in plan.shapes] == [10, 20, 40, 128, 129, 1500]
    for (rows, _, length), multiple in zip(plan.shapes, [24, 12, 4, 4, 4, 4], strict=True):
        assert rows == multiple
        assert rows == 4 or rows * length <= 256
    for shape, pairs in batches:
        assert len(pairs) <= plan.shapes[shape].rows
        assert lengths[pairs].max() <= plan.shapes[shape].target


def test_evaluation_of_a_small_corpus_takes_no_more_rows_than_it_has():
    plan = plan_evaluation(
        of_lengths(np.full(5, 9)), boundaries=(10, 20), tokens_per_batch=9999, rows_multiple=2
    )
    assert plan.shapes == (Shape(6, 9, 9),)
    with pytest.raises(InputError, match="no sentence pairs"):
        plan_evaluation(of_lengths(np.empty(0, np.int64)), boundaries=(10,), tokens_per_batch=100)


def test_each_side_of_a_shape_is_as_long_as_the_longest_pair_of_its_bucket():
    pairs = random_pairs(2)
    plan = plan_training(pairs, num_shapes=3, tokens_per_batch=100, max_length=28, seed=0)
    for shape, bucket in zip(plan.shapes, plan.buckets, strict=True):
        assert shape.source == 1 + max(len(pairs.source[i]) for i in bucket)
        assert shape.target == 1 + max(len(pairs.target[i]) for i in bucket)


def test_a_batch_holds_its_pairs_then_rows_of_pad():
    pairs = random_pairs(0)
    ids = np.array([17, 3, 250])
    batch = make_batch(pairs, ids, Shape(5, 31, 40))
    for name, sequences, length in [("source", pairs.source, 31), ("target", pairs.target, 40)]:
        rows = batch[name]
        assert rows.shape == (5, length)
        assert rows.dtype == np.int32
        for row, id in zip(rows, ids, strict=False):
            size = len(sequences[id])
            assert np.array_equal(row[:size], sequences[id])
            assert row[size] == EOS
            assert np.all(row[size + 1 :] == PAD)
        assert np.all(rows[3:] == PAD)


def test_the_non_pad_share_is_that_of_the_batches():
    pairs = random_pairs(1)
    for plan in (
        plan_training(pairs, num_shapes=3, tokens_per_batch=60, max_length=25, seed=0),
        plan_evaluation(pairs, boundaries=(20,), tokens_per_batch=200),
    ):
        assert isinstance(plan, Plan)
        # After so many epochs no bucket has a batch that is not complete.
        epochs = math.lcm(*(shape.rows for shape in plan.shapes))
        batches = [
            make_batch(pairs, ids, plan.shapes[shape])
            for epoch in range(epochs)
            for shape, ids in plan.epoch(epoch)
        ]
        slots = np.concatenate([batch[side].ravel() for batch in batches for side in batch])
        assert non_pad_share(pairs, plan) == pytest.approx(np.mean(slots != PAD), rel=1e-12)
