"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017) in JAX and Flax Linen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer_jax.translator import Translator

__all__ = ["Translator"]


def __getattr__(name: str):
    # Only on demand, so that `from transformer_jax.ops import attention` brings no data code along.
    if name == "Translator":
        from transformer_jax.translator import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
