"""What a task is: everything in which the paper's two experiments, 6.1 and 6.3, differ."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int32

from transformer_jax.data.ragged import TokenPairs
from transformer_jax.data.sources import Pairs
from transformer_jax.text.subword import Subword

SPLITS = ("train", "dev", "test")


class Output(NamedTuple):
    """What the model made of a sentence, and whether its ids had to be mended to be that."""

    text: str
    repaired: bool = False


class Scored(NamedTuple):
    """Scores by name, what to show of them while training, and a report, if the task has one."""

    scores: dict[str, float | int | str]
    summary: str
    report: str = ""


@runtime_checkable
class Task(Protocol):
    """The modules `tasks.translation` and `tasks.parsing`: text on one side, ids on the other.

    Source and target of a pair, and every output, are one line of text each. `data` is
    `config.data`, `settings` is `config.subword`.
    """

    @staticmethod
    def check(data: Mapping[str, Any]) -> None:
        """Finds out before hours of training what in `data` cannot work.

        Raises:
          InputError: it names the field.
        """

    @staticmethod
    def read_pairs(data: Mapping[str, Any], split: str) -> tuple[Pairs, int]:
        """The pairs of a split and how many were left out; training alone leaves any out."""
        ...

    @staticmethod
    def prepare_vocabulary(settings: Mapping[str, Any], pairs: Pairs, path: Path) -> Subword:
        """The vocabulary of a run, kept in `path`: there already, copied, or learned."""
        ...

    @staticmethod
    def encode_sources(
        vocabulary: Subword, sentences: Sequence[str]
    ) -> list[Int32[np.ndarray, " _"]]:
        """The ids of sentences to translate or parse, without EOS."""
        ...

    @staticmethod
    def encode(vocabulary: Subword, pairs: Pairs) -> TokenPairs:
        """The pairs as ids, without EOS."""
        ...

    @staticmethod
    def cut(
        vocabulary: Subword, ids: Int32[np.ndarray, " N"], most: int
    ) -> list[Int32[np.ndarray, " _"]]:
        """A source in the pieces to search one by one, of at most `most` ids where that can be."""
        ...

    @staticmethod
    def decode(
        vocabulary: Subword,
        sequences: Sequence[Int32[np.ndarray, " _"]],
        sources: Sequence[str],
    ) -> list[Output]:
        """The text of found ids, each with the sentence that it was found for."""
        ...

    @staticmethod
    def score(
        data: Mapping[str, Any], outputs: Sequence[Output], references: Sequence[str]
    ) -> Scored:
        """Outputs against the targets of their pairs."""
        ...
