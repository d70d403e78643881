"""Positional encoding (section 3.5)."""

import numpy as np
from jaxtyping import Float32


def sinusoidal_positions(length: int, d_model: int) -> Float32[np.ndarray, "{length} {d_model}"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same angle.

    A constant table, computed in float64. Sines and cosines alternate as the paper prints them;
    the authors' code puts all sines before all cosines and spaces the wavelengths by
    i / (d_model/2 - 1), which is the same family of functions in another order. An odd `d_model`
    ends with a sine.
    """
    position = np.arange(length)[:, None]
    even = np.arange(0, d_model, 2)
    angle = position / 10000.0 ** (even / d_model)
    table = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    return table.reshape(length, -1)[:, :d_model].astype(np.float32)
