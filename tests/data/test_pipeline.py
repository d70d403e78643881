import itertools
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from transformer_jax.data.batching import make_batch, plan_evaluation, plan_training
from transformer_jax.data.pipeline import BatchSource, batches
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.errors import InputError


@pytest.fixture(scope="module")
def pairs():
    generator = np.random.default_rng(0)

    def side():
        return Ragged.from_sequences(
            generator.integers(4, 90, generator.integers(0, 30)) for _ in range(300)
        )

    return TokenPairs(side(), side())


@pytest.fixture(scope="module")
def plan(pairs):
    return plan_training(
        pairs, num_shapes=4, tokens_per_batch=400, max_length=30, seed=0, rows_multiple=2
    )


def assert_equal(left, right):
    left, right = list(left), list(right)
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert a.keys() == b.keys() == {"source", "target"}
        for side in a:
            assert np.array_equal(a[side], b[side])


def made(pairs, plan, epoch):
    return [make_batch(pairs, ids, plan.shapes[shape]) for shape, ids in plan.epoch(epoch)]


def test_the_stream_is_the_epochs_one_after_the_other(pairs, plan):
    stream = list(batches(pairs, plan, num_batches=plan.batches_before(5)))
    assert_equal(stream, itertools.chain(*(made(pairs, plan, epoch) for epoch in range(5))))
    assert all(batch[side].any(axis=1).all() for batch in stream for side in batch)


def test_a_corpus_smaller_than_a_batch_fills_batches_too(pairs):
    few = TokenPairs(
        *(Ragged.from_sequences(side[i] for i in range(3)) for side in (pairs.source, pairs.target))
    )
    plan = plan_training(few, num_shapes=2, tokens_per_batch=400, max_length=30, seed=0)
    assert plan.batches_before(3) == 0
    stream = batches(pairs, plan, num_batches=plan.batches_before(100))
    assert_equal(stream, itertools.chain(*(made(pairs, plan, epoch) for epoch in range(100))))


def test_any_index_is_found_without_the_ones_before(pairs, plan):
    source = BatchSource(pairs, plan, 10**15)
    for epoch in (10**9, 0, 10**12, 10**6 + 1):
        start, expected = plan.batches_before(epoch), made(pairs, plan, epoch)
        ends = [source[start], source[start + len(expected) - 1]]
        assert_equal(ends, [expected[0], expected[-1]])
        assert_equal([source[start + len(expected)]], made(pairs, plan, epoch + 1)[:1])


def test_a_resumed_stream_equals_an_uninterrupted_one(pairs, plan):
    total = plan.batches_before(2) + 5
    whole = list(batches(pairs, plan, num_batches=total))
    for stop in (0, 1, plan.batches_before(1), total - 1):
        first = iter(batches(pairs, plan, num_batches=total))
        begin = list(itertools.islice(first, stop))
        second = iter(batches(pairs, plan, num_batches=total))
        second.set_state(first.get_state())
        assert_equal(begin + list(second), whole)


def test_the_state_is_the_number_of_batches_seen(pairs, plan):
    iterator = iter(batches(pairs, plan, num_batches=10**12))
    for _ in range(7):
        next(iterator)
    assert iterator.get_state() == {"next_index": 7}
    far = 10**9
    iterator.set_state({"next_index": far})
    assert_equal([next(iterator)], [BatchSource(pairs, plan, far + 1)[far]])


@pytest.mark.parametrize("process_count", [1, 2])
def test_all_processes_together_have_the_batch_of_one(pairs, plan, process_count):
    total = plan.batches_before(1) + 1
    parts = [
        batches(pairs, plan, num_batches=total, process_index=index, process_count=process_count)
        for index in range(process_count)
    ]
    together = [
        {side: np.concatenate([part[side] for part in group]) for side in ("source", "target")}
        for group in zip(*parts, strict=True)
    ]
    assert_equal(together, batches(pairs, plan, num_batches=total))


def test_rows_that_do_not_divide_among_processes_are_reported(pairs, plan):
    with pytest.raises(InputError, match="do not divide among 7 processes"):
        batches(pairs, plan, num_batches=1, process_count=7)


def test_evaluation_passes_once_over_the_corpus(pairs):
    plan = plan_evaluation(pairs, boundaries=(10, 20), tokens_per_batch=200)
    stream = batches(pairs, plan, num_batches=plan.batches_before(1))
    sources = [
        tuple(batch["source"][row][batch["source"][row] > 1].tolist())
        for batch, planned in zip(stream, plan.epoch(0), strict=True)
        for row in range(len(planned.pairs))
    ]
    ids = np.concatenate([planned.pairs for planned in plan.epoch(0)])
    assert sources == [tuple(pairs.source[id].tolist()) for id in ids]
    assert len(ids) == len(pairs)


def test_threads_reading_across_epochs_agree(pairs, plan):
    indices = np.random.default_rng(0).permutation(plan.batches_before(4)).tolist()
    shared = BatchSource(pairs, plan, len(indices))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.__getitem__, indices))
    alone = BatchSource(pairs, plan, len(indices))
    assert_equal(found, [alone[index] for index in indices])


def test_a_program_that_stops_midway_exits_at_once_and_quietly():
    program = """
        import numpy as np
        from transformer_jax.data.batching import plan_training
        from transformer_jax.data.pipeline import batches
        from transformer_jax.data.ragged import Ragged, TokenPairs
        side = Ragged.from_sequences([[5] * (i % 20) for i in range(500)])
        pairs = TokenPairs(side, side)
        plan = plan_training(
            pairs, num_shapes=3, tokens_per_batch=100, max_length=30, seed=0
        )
        iterator = iter(batches(pairs, plan, num_batches=10**9))
        for _ in range(100):
            next(iterator)
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
