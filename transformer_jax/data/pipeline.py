"""The stream of batches: a plan's epochs one after the other, made ahead of time by grain.

The position in the stream is the whole state of an iterator: `get_state()` after n batches, given
to `set_state` of a fresh iterator, continues with batch n, whatever happened in between.
"""

import operator
import sys
import threading
from bisect import bisect_right
from collections.abc import Sequence
from typing import SupportsIndex

import grain

from transformer_jax.batch import Batch
from transformer_jax.data.batching import Plan, PlannedBatch, make_batch
from transformer_jax.data.ragged import TokenPairs
from transformer_jax.errors import InputError

# Batches are made from memory: two threads keep ahead of any training step.
_READ_OPTIONS = grain.ReadOptions(num_threads=2, prefetch_buffer_size=16)


class BatchSource:
    """Element i is batch i of the endless sequence of epochs; `len` says where to stop.

    A process gets its own rows of each batch: of `rows` rows the p-th of `process_count` equal
    blocks. All processes together have exactly the batch that one process alone would have.
    May be read from several threads.

    Raises:
      InputError: the rows of a shape do not divide by `process_count`.
    """

    def __init__(
        self,
        pairs: TokenPairs,
        plan: Plan,
        num_batches: int,
        process_index: int = 0,
        process_count: int = 1,
    ):
        for shape in plan.shapes:
            if shape.rows % process_count:
                raise InputError(
                    f"batches of {shape.rows} rows do not divide among {process_count} processes; "
                    "plan their rows as a multiple of the number of devices"
                )
        self._pairs, self._plan = pairs, plan
        self._num_batches = num_batches
        self._process_index, self._process_count = process_index, process_count
        # By the index of the first batch: two epochs, as threads meet at the turn of an epoch.
        self._epochs: dict[int, Sequence[PlannedBatch]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._num_batches

    def __getitem__(self, index: SupportsIndex) -> Batch:
        planned = self._planned(operator.index(index))
        shape = self._plan.shapes[planned.shape]
        rows = shape.rows // self._process_count
        start = rows * self._process_index
        ids = planned.pairs[start : start + rows]
        return make_batch(self._pairs, ids, shape._replace(rows=rows))

    def _planned(self, index: int) -> PlannedBatch:
        """Batch `index` as planned; its epoch, if not at hand, is found in the closed form."""
        with self._lock:
            for start, epoch in self._epochs.items():
                if 0 <= index - start < len(epoch):
                    return epoch[index - start]
            before = self._plan.batches_before
            number = bisect_right(range(sys.maxsize), index, key=before) - 1
            if len(self._epochs) == 2:
                del self._epochs[next(iter(self._epochs))]
            start = before(number)
            self._epochs[start] = self._plan.epoch(number)
            return self._epochs[start][index - start]

    def __repr__(self) -> str:
        return f"BatchSource({len(self._pairs)} pairs, {self._plan.shapes})"


def batches(
    pairs: TokenPairs,
    plan: Plan,
    *,
    num_batches: int,
    process_index: int = 0,
    process_count: int = 1,
) -> grain.IterDataset[Batch]:
    """The first `num_batches` batches of the plan's epochs: `Batch`es, made in the background.

    For one pass give `plan.batches_before(1)`, for training the number of steps. Iterators have
    `get_state`, `set_state` and `close`.

    Raises:
      InputError: the rows of a shape do not divide by `process_count`.
    """
    source = BatchSource(pairs, plan, num_batches, process_index, process_count)
    return grain.MapDataset.source(source).to_iter_dataset(_READ_OPTIONS)
