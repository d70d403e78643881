"""What the text and the array columns share: the special ids and the shape of a batch."""

from typing import TypedDict

import numpy as np
from jaxtyping import Int32

PAD = 0
EOS = 1
BOS = 2
UNK = 3


class Batch(TypedDict):
    """Sentence pairs as ids, one pair a row.

    Each row is the sentence's subwords, then EOS, then PAD. A row of PAD alone fills up a batch
    and has no weight. Whoever needs the decoder's input shifts `target` right behind BOS.
    """

    source: Int32[np.ndarray, "B S"]
    target: Int32[np.ndarray, "B T"]
