"""Many sequences of ids in two flat arrays: four bytes an id, nothing a sequence but its offset."""

import operator
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from jaxtyping import Int32, Int64


@dataclass(frozen=True)
class Ragged:
    """N sequences; sequence i is `tokens[offsets[i]:offsets[i + 1]]`, so K = N + 1."""

    tokens: Int32[np.ndarray, " M"]
    offsets: Int64[np.ndarray, " K"]

    @classmethod
    def from_sequences(cls, sequences: Iterable[Iterable[int] | np.ndarray]) -> "Ragged":
        """Copies the sequences; they may come from a generator."""
        tokens, offsets = array("i"), array("q", [0])
        for sequence in sequences:
            tokens.frombytes(np.asarray(sequence, np.int32).tobytes())
            offsets.append(len(tokens))
        return cls(np.array(tokens, np.int32), np.array(offsets, np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: SupportsIndex) -> Int32[np.ndarray, " L"]:
        """Sequence `index`, a view."""
        place = operator.index(index)
        if not 0 <= place < len(self):
            raise IndexError(f"sequence {place} of {len(self)}")
        return self.tokens[self.offsets[place] : self.offsets[place + 1]]

    @property
    def lengths(self) -> Int64[np.ndarray, " N"]:
        """The number of ids of each sequence."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class TokenPairs:
    """Sentence pairs as ids, without EOS: `source[i]` and `target[i]` belong together."""

    source: Ragged
    target: Ragged

    def __post_init__(self):
        if len(self.source) != len(self.target):
            raise ValueError(f"{len(self.source)} sources but {len(self.target)} targets")

    def __len__(self) -> int:
        return len(self.source)

    @property
    def lengths(self) -> Int64[np.ndarray, " N"]:
        """The length of each pair: that of its longer side, EOS counted."""
        return np.maximum(self.source.lengths, self.target.lengths) + 1
