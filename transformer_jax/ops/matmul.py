"""The product that every projection of the model is."""

import jax
from jaxtyping import Array, Float


@jax.custom_vjp
def matmul(x: Float[Array, "B T M"], kernel: Float[Array, "M N"]) -> Float[Array, "B T N"]:
    """x W, with a gradient that a CPU computes faster.

    The gradient of W is x^T dy. XLA's CPU backend hands that to a slower routine than the other
    two products, unless the transpose stands in memory first; the base model's training step is
    about 5% shorter for it (`benchmarks/train_step.py`). Elsewhere it is left to XLA.
    """
    return x @ kernel


def _forward(x, kernel):
    return x @ kernel, (x, kernel)


def _backward(residuals, gradient):
    x, kernel = residuals
    rows, of_rows = (array.reshape(-1, array.shape[-1]) for array in (x, gradient))
    of_kernel = jax.lax.platform_dependent(
        rows,
        of_rows,
        cpu=lambda rows, of_rows: jax.lax.optimization_barrier(rows.T) @ of_rows,
        default=lambda rows, of_rows: rows.T @ of_rows,
    )
    return gradient @ kernel.T, of_kernel


matmul.defvjp(_forward, _backward)
