"""The paper's tables and figures, from finished runs: `python -m transformer_jax.paper`."""
