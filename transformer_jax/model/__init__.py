"""The Transformer as Linen modules over the functions of `ops`."""

from transformer_jax.model.config import TransformerConfig
from transformer_jax.model.transformer import Cache, Transformer

__all__ = ["Cache", "Transformer", "TransformerConfig"]
