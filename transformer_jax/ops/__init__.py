"""Pure functions of arrays: the paper's mathematics without Linen, data code or flags.

Letters of the shapes, here and in `model`:

    B  sentences of a batch        M  d_model                 F  d_ff
    S  source positions            H  heads                   V  vocabulary
    T  target or query positions   D  width of a head: d_k for queries and keys, E = d_v for values
    K  beams of a sentence         L  positions of the decoder's cache
"""

from transformer_jax.ops.attention import (
    attend,
    attention_weights,
    causal_mask,
    local_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from transformer_jax.ops.beam_search import Hypotheses, beam_search
from transformer_jax.ops.dropout import dropout
from transformer_jax.ops.loss import TokenLoss, label_smoothed_cross_entropy
from transformer_jax.ops.matmul import matmul
from transformer_jax.ops.positions import sinusoidal_positions
from transformer_jax.ops.schedule import noam_schedule, peak_schedule

__all__ = [
    "Hypotheses",
    "TokenLoss",
    "attend",
    "attention_weights",
    "beam_search",
    "causal_mask",
    "dropout",
    "label_smoothed_cross_entropy",
    "local_mask",
    "matmul",
    "noam_schedule",
    "padding_mask",
    "peak_schedule",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
]
