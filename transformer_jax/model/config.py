"""The model's shape, in the paper's letters."""

import dataclasses

import jax.numpy as jnp

from transformer_jax.errors import InputError

_POSITIONS = ("sinusoidal", "learned")
_NORMS = ("post", "pre")
_DTYPES = ("float32", "bfloat16")


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
    """Table 3's columns; the defaults are its base row.

    `d_k` and `d_v`, the widths of a head's keys and values, are d_model / num_heads unless given
    (row B); `key_width` and `value_width` say what they are. `positions="learned"` is row E, with
    a table of `max_positions` rows. `norm="pre"` is not in the paper:
    x + Dropout(sublayer(LayerNorm(x))), with one more LayerNorm at the end of each stack.
    `attention_dropout_rate` is that of attention weights, which section 6.3 speaks of and 5.4 does
    not. `neighbourhood` is section 4's r: self-attention looks at most r / 2 positions away.
    `scale_scores=False` leaves out the 1 / sqrt(d_k) of equation 1, to see what it is for
    (section 3.2.1). `dtype` is that of activations; parameters are float32.
    """

    vocab_size: int
    num_layers: int = 6
    d_model: int = 512
    d_ff: int = 2048
    num_heads: int = 8
    d_k: int | None = None
    d_v: int | None = None
    dropout_rate: float = 0.1
    attention_dropout_rate: float = 0.0
    positions: str = "sinusoidal"
    max_positions: int = 1024
    norm: str = "post"
    neighbourhood: int | None = None
    scale_scores: bool = True
    dtype: str = "float32"

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if type(value) is int and not field.name.endswith("_rate") and value < 1:
                raise InputError(f"model.{field.name} is {value}: give 1 or more")
        if None in (self.d_k, self.d_v) and self.d_model % self.num_heads:
            raise InputError(
                f"model.num_heads {self.num_heads} does not divide model.d_model {self.d_model}: "
                "change one of them, or give both model.d_k and model.d_v"
            )
        for name in ("dropout_rate", "attention_dropout_rate"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"model.{name} is {getattr(self, name)}: give 0 or more, under 1")
        for name, known in (("positions", _POSITIONS), ("norm", _NORMS), ("dtype", _DTYPES)):
            if getattr(self, name) not in known:
                raise InputError(f"model.{name} is {getattr(self, name)!r}: give one of {known}")

    @property
    def key_width(self) -> int:
        return self.d_k or self.d_model // self.num_heads

    @property
    def value_width(self) -> int:
        return self.d_v or self.d_model // self.num_heads

    @property
    def compute_dtype(self) -> jnp.dtype:
        return jnp.dtype(self.dtype)
