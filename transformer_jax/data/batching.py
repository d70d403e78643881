"""Which pairs make which batch: pairs of similar length together, in a few fixed shapes.

Section 5.1: "Sentence pairs were batched together by approximate sequence length. Each training
batch contained a set of sentence pairs containing approximately 25000 source tokens and 25000
target tokens." A batch here has one of K shapes, and at most `tokens_per_batch` slots on either
side. The length of a pair is that of its longer side with EOS; K boundaries on it make K buckets,
and a shape is as long on each side as the longest pair of its bucket. (That matters where one side
is always the longer one, as trees are.) A plan deals in numbers of pairs; `make_batch` turns them
into ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int, Int32

from transformer_jax.batch import EOS, PAD, Batch
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.errors import InputError

# Sentences beyond the largest boundary are padded to a multiple of this in evaluation.
_LONG_STEP = 64


class Shape(NamedTuple):
    """The shape of a batch: the source is [rows, source], the target [rows, target]."""

    rows: int
    source: int
    target: int


class PlannedBatch(NamedTuple):
    """One batch to make: `shapes[shape]` filled with these pairs, then with rows of PAD."""

    shape: int
    pairs: Int[np.ndarray, " N"]


@runtime_checkable
class Plan(Protocol):
    """The batches of each epoch, in order. Shapes ascend in length; each has a bucket of pairs."""

    @property
    def shapes(self) -> tuple[Shape, ...]: ...

    @property
    def buckets(self) -> tuple[Int[np.ndarray, " _"], ...]: ...

    @property
    def batches_per_epoch(self) -> tuple[float, ...]:
        """How many batches of each shape an epoch has on average."""
        ...

    def batches_before(self, epoch: int) -> int:
        """How many batches all epochs before this one have."""
        ...

    def epoch(self, epoch: int) -> Sequence[PlannedBatch]: ...


@dataclass(frozen=True)
class TrainingPlan:
    """Full batches in random order, drawn anew every epoch; see `plan_training`.

    Each bucket is an endless stream, a permutation of its pairs for each epoch, one after the
    other, cut into batches. So a batch may begin with the last pairs of the epoch before (of
    several, and then with repeats, where the bucket is smaller than the batch). It belongs to the
    epoch that completes it; an epoch may have one batch of a shape more than another, or none.

    Buckets of long pairs may join late. What is in the same place on both sides, such as the i-th
    tag of the i-th word, is found much sooner in short sentences, and then for long ones too.

    Attributes:
      shapes: ascending in the length of their longest pair.
      buckets: for each shape the numbers of the pairs that it fits best, ascending; none is empty.
      seed: with the number of the epoch, all that the order depends on.
      num_dropped: pairs longer than the limit, which are in no batch.
      joins: for each bucket the first epoch that it is in.
    """

    shapes: tuple[Shape, ...]
    buckets: tuple[Int[np.ndarray, " _"], ...] = field(repr=False)
    seed: int
    num_dropped: int
    joins: tuple[int, ...]

    @property
    def batches_per_epoch(self) -> tuple[float, ...]:
        """Of the epochs with all buckets."""
        return tuple(
            len(bucket) / shape.rows
            for shape, bucket in zip(self.shapes, self.buckets, strict=True)
        )

    def batches_before(self, epoch: int) -> int:
        return sum(self._completed(index, epoch) for index in range(len(self.shapes)))

    def epoch(self, epoch: int) -> Sequence[PlannedBatch]:
        """The batches completed in an epoch, in order: a pure function of (seed, epoch)."""
        batches = []
        for index, shape in enumerate(self.shapes):
            start, stop = (self._completed(index, e) * shape.rows for e in (epoch, epoch + 1))
            if start < stop:
                batches += _batches(index, shape.rows, self._stream(index, start, stop))
        # Buckets draw from (seed, epoch, index); the order is drawn as if it were one more.
        order = self._generator(epoch, len(self.buckets)).permutation(len(batches))
        return [batches[i] for i in order]

    def _completed(self, index: int, epoch: int) -> int:
        """How many batches of a bucket all epochs before this one have."""
        passes = max(epoch - self.joins[index], 0)
        return passes * len(self.buckets[index]) // self.shapes[index].rows

    def _stream(self, index: int, start: int, stop: int) -> Int[np.ndarray, " N"]:
        """Items [start, stop) of the endless stream of a bucket; at least one."""
        bucket = self.buckets[index]
        first, last = start // len(bucket), (stop - 1) // len(bucket)
        epochs = [self._generator(e, index).permutation(bucket) for e in range(first, last + 1)]
        return np.concatenate(epochs)[start - first * len(bucket) : stop - first * len(bucket)]

    def _generator(self, epoch: int, index: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, epoch, index))


@dataclass(frozen=True)
class EvaluationPlan:
    """Every sentence once, in batches of ascending length, each epoch alike; `plan_evaluation`."""

    shapes: tuple[Shape, ...]
    buckets: tuple[Int[np.ndarray, " _"], ...] = field(repr=False)

    @property
    def batches_per_epoch(self) -> tuple[int, ...]:
        return tuple(
            -(-len(bucket) // shape.rows)
            for shape, bucket in zip(self.shapes, self.buckets, strict=True)
        )

    def batches_before(self, epoch: int) -> int:
        return epoch * sum(self.batches_per_epoch)

    def epoch(self, epoch: int) -> Sequence[PlannedBatch]:
        """The batches; `pairs` says where in the corpus each row comes from."""
        return [
            batch
            for index, (shape, bucket) in enumerate(zip(self.shapes, self.buckets, strict=True))
            for batch in _batches(index, shape.rows, bucket)
        ]


def choose_boundaries(lengths: Int[np.ndarray, " N"], num_shapes: int) -> tuple[int, ...]:
    """The `num_shapes` lengths to pad to that cost the fewest slots, ascending.

    Each pair is padded to the smallest boundary that it fits. Only lengths that occur can be
    boundaries of an optimum, and the last is the longest, so a dynamic programme over them is
    exact: with the first i lengths covered by k boundaries,
    cost[k, j] = min over i < j of cost[k - 1, i] + length[j] * (number of pairs in (i, j]).
    Fewer boundaries come back where fewer lengths occur. Takes O(num_shapes * lengths^2).

    Raises:
      InputError: `num_shapes` is less than 1, or there are no pairs.
    """
    if num_shapes < 1:
        raise InputError(f"num_shapes is {num_shapes}; batches need at least 1 shape")
    if not lengths.size:
        raise InputError("there are no sentence pairs to batch; give a corpus with text")
    candidates, counts = np.unique(lengths, return_counts=True)
    if len(candidates) <= num_shapes:
        return tuple(candidates.tolist())
    ends = np.concatenate([[0], candidates])
    below = np.concatenate([[0], np.cumsum(counts)])
    # slots[i, j]: all pairs longer than ends[i] and no longer than ends[j], padded to ends[j].
    unreachable = np.iinfo(np.int64).max // 2
    slots = ends[None, :] * (below[None, :] - below[:, None])
    slots[np.tril_indices(len(ends))] = unreachable
    cost, choices = slots[0], []
    for _ in range(num_shapes - 1):
        total = np.minimum(cost[:, None] + slots, unreachable)
        choices.append(total.argmin(axis=0))
        cost = total.min(axis=0)
    chosen = [len(ends) - 1]
    for choice in reversed(choices):
        chosen.append(choice[chosen[-1]])
    return tuple(int(ends[i]) for i in reversed(chosen))


def plan_training(
    pairs: TokenPairs,
    *,
    num_shapes: int,
    tokens_per_batch: int,
    max_length: int,
    seed: int,
    rows_multiple: int = 1,
    short_length: int = 0,
    short_epochs: int = 0,
) -> TrainingPlan:
    """Plans the epochs of training.

    Args:
      pairs: the corpus.
      num_shapes: shapes, and so programs to compile; more shapes, less padding.
      tokens_per_batch: most slots of a batch on either side.
      max_length: pairs longer than this (EOS counted) are dropped.
      seed: at least 0.
      rows_multiple: what the rows of every batch divide by: devices times micro-batches.
      short_length, short_epochs: so many epochs have only the shapes that are no longer.

    Raises:
      InputError: a value is out of range; all pairs are too long; a batch of `rows_multiple` rows
        has more than `tokens_per_batch` slots; no shape is short.
    """
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    lengths = pairs.lengths
    kept = np.flatnonzero(lengths <= max_length)
    if lengths.size and not kept.size:
        raise InputError(
            f"max_length (batch.max_length) {max_length} drops all {lengths.size} pairs, the "
            f"shortest of which has {lengths.min()} subwords with EOS; raise it"
        )
    boundaries = choose_boundaries(lengths[kept], num_shapes)
    if rows_multiple * boundaries[-1] > tokens_per_batch:
        raise InputError(
            f"tokens_per_batch (batch.tokens) {tokens_per_batch} is less than {rows_multiple} x "
            f"{boundaries[-1]}: batches come in multiples of {rows_multiple} (devices x "
            f"batch.micro_batches), and the longest pair has {boundaries[-1]} subwords; raise it "
            f"to {rows_multiple * boundaries[-1]} or lower max_length (batch.max_length)"
        )
    if short_epochs and boundaries[0] > short_length:
        raise InputError(
            f"short_length (batch.short_length) {short_length} is less than the shortest shape, "
            f"{boundaries[0]}: raise it to that"
        )
    buckets = _buckets(lengths, kept, boundaries)
    rows = [_rows(length, tokens_per_batch, rows_multiple) for length in boundaries]
    return TrainingPlan(
        shapes=tuple(_shape(pairs, bucket, n) for bucket, n in zip(buckets, rows, strict=True)),
        buckets=buckets,
        seed=seed,
        num_dropped=lengths.size - kept.size,
        joins=tuple(0 if length <= short_length else short_epochs for length in boundaries),
    )


def plan_evaluation(
    pairs: TokenPairs,
    *,
    boundaries: Sequence[int],
    tokens_per_batch: int,
    rows_multiple: int = 1,
) -> EvaluationPlan:
    """Plans one pass over a corpus: nothing is dropped, whatever its length.

    A pair longer than the largest boundary falls into the bucket of a multiple of 64. A batch has
    at most `tokens_per_batch` slots on either side, unless `rows_multiple` rows have more, and no
    more rows than it needs. Arguments as in `plan_training`.

    Raises:
      InputError: there are no pairs.
    """
    lengths = pairs.lengths
    if not lengths.size:
        raise InputError("there are no sentence pairs to evaluate; give a corpus with text")
    padded = np.ceil(lengths / _LONG_STEP).astype(np.int64) * _LONG_STEP
    for boundary in sorted(boundaries, reverse=True):
        padded[lengths <= boundary] = boundary
    used = np.unique(padded).tolist()
    order = np.argsort(lengths, kind="stable")
    buckets = _buckets(padded, order, used)
    shapes = []
    for length, bucket in zip(used, buckets, strict=True):
        needed = -(-len(bucket) // rows_multiple) * rows_multiple
        rows = min(_rows(length, tokens_per_batch, rows_multiple), needed)
        shapes.append(_shape(pairs, bucket, rows))
    return EvaluationPlan(tuple(shapes), buckets)


def make_batch(pairs: TokenPairs, ids: Int[np.ndarray, " N"], shape: Shape) -> Batch:
    """The batch of these pairs, in order: subwords, EOS, PAD; rows of PAD after the last pair."""
    return Batch(
        source=_pad(pairs.source, ids, shape.rows, shape.source),
        target=_pad(pairs.target, ids, shape.rows, shape.target),
    )


def padding_batch(shape: Shape) -> Batch:
    """A batch of a shape with no pair in it: what a program can be tried on."""
    return Batch(
        source=np.full((shape.rows, shape.source), PAD, np.int32),
        target=np.full((shape.rows, shape.target), PAD, np.int32),
    )


def non_pad_share(pairs: TokenPairs, plan: Plan) -> float:
    """The share of an average epoch's slots, source and target, that hold a subword or EOS."""
    sizes = pairs.source.lengths + pairs.target.lengths + 2
    tokens = sum(int(sizes[bucket].sum()) for bucket in plan.buckets)
    slots = sum(
        shape.rows * (shape.source + shape.target) * batches
        for shape, batches in zip(plan.shapes, plan.batches_per_epoch, strict=True)
    )
    return tokens / slots


def _shape(pairs: TokenPairs, bucket: Int[np.ndarray, " N"], rows: int) -> Shape:
    """As long on each side as the longest pair of the bucket, with EOS."""
    source, target = (side.lengths[bucket].max() + 1 for side in (pairs.source, pairs.target))
    return Shape(rows, int(source), int(target))


def _rows(length: int, tokens_per_batch: int, rows_multiple: int) -> int:
    return max(tokens_per_batch // length // rows_multiple, 1) * rows_multiple


def _buckets(
    lengths: Int[np.ndarray, " N"], ids: Int[np.ndarray, " M"], boundaries: Sequence[int]
) -> tuple[Int[np.ndarray, " _"], ...]:
    """Of these ids, in order, those in (previous boundary, boundary] for each boundary."""
    bucket = np.searchsorted(boundaries, lengths[ids])
    return tuple(ids[bucket == index] for index in range(len(boundaries)))


def _batches(shape: int, rows: int, ids: Int[np.ndarray, " N"]) -> list[PlannedBatch]:
    return [PlannedBatch(shape, ids[start : start + rows]) for start in range(0, len(ids), rows)]


def _pad(
    sequences: Ragged, ids: Int[np.ndarray, " N"], rows: int, length: int
) -> Int32[np.ndarray, "{rows} {length}"]:
    starts, sizes = sequences.offsets[ids], sequences.offsets[ids + 1] - sequences.offsets[ids]
    padded = np.full((rows, length), PAD, np.int32)
    filled = padded[: len(ids)]
    # Position of each token in `sequences.tokens`: its row's start plus its place in the row.
    places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    filled[np.arange(length) < sizes[:, None]] = sequences.tokens[np.repeat(starts, sizes) + places]
    filled[np.arange(len(ids)), sizes] = EOS
    return padded
