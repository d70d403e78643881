"""The loss of a batch: what training minimises and perplexity is made of."""

from collections.abc import Mapping
from typing import Any

import jax
from jaxtyping import PyTree

from transformer_jax.batch import PAD
from transformer_jax.model.transformer import Transformer
from transformer_jax.ops.loss import TokenLoss, label_smoothed_cross_entropy


def token_loss(
    model: Transformer,
    params: PyTree,
    batch: Mapping[str, jax.Array],
    label_smoothing: float = 0.0,
    dropout_key: jax.Array | None = None,
) -> TokenLoss:
    """Summed loss and nll over the real target tokens of a `Batch`, each given those before it.

    Without a key there is no dropout: evaluation. The perplexity is exp(nll / tokens).
    """
    keys = {} if dropout_key is None else {"dropout": dropout_key}
    source, target = batch["source"], batch["target"]
    logits: Any = model.apply({"params": params}, source, target, rngs=keys)
    return label_smoothed_cross_entropy(logits, target, target != PAD, label_smoothing)
