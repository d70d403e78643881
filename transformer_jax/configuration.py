"""A run's configuration as plain values: `configs/` makes it, `config.json` keeps it."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from absl import flags
from jax.sharding import Mesh

from transformer_jax import sharding, tasks
from transformer_jax.data.batching import TrainingPlan, plan_training
from transformer_jax.data.ragged import TokenPairs
from transformer_jax.errors import InputError
from transformer_jax.model import TransformerConfig

# The least that a field may be.
_LEAST = {
    "seed": 0,
    "steps": 0,
    "batch.tokens": 1,
    "batch.shapes": 1,
    "batch.max_length": 2,
    "batch.micro_batches": 1,
    "batch.short_length": 0,
    "batch.short_epochs": 0,
    "optimizer.warmup_steps": 1,
    "search.beam_size": 1,
    "search.length_penalty": 0,
    "search.extra_length": 0,
    "search.tokens_per_batch": 1,
    "checkpoint.every_steps": 0,
    "checkpoint.every_minutes": 0,
    "checkpoint.keep": 1,
    "checkpoint.average": 1,
    "report.every_steps": 1,
    "report.evaluate_every_steps": 0,
    "report.evaluate_sentences": 1,
}
_UNDER_ONE = ("loss.label_smoothing", "optimizer.b1", "optimizer.b2")
_POSITIVE = ("optimizer.eps", "optimizer.factor", "optimizer.peak", "optimizer.clip_norm")


def model_config(config: Mapping[str, Any], vocab_size: int) -> TransformerConfig:
    """The model part of a run's configuration.

    Raises:
      InputError: a field is unknown, or its value is no model's.
    """
    model = config["model"]
    if unknown := model.keys() - {field.name for field in fields(TransformerConfig)}:
        raise InputError(
            f"there is no model.{min(unknown)}: is the configuration of a later version?"
        )
    return TransformerConfig(vocab_size=vocab_size, **model)


def training_plan(config: Mapping[str, Any], tokens: TokenPairs, mesh: Mesh) -> TrainingPlan:
    """The batches of a run's training."""
    batch = config["batch"]
    return plan_training(
        tokens,
        num_shapes=batch["shapes"],
        tokens_per_batch=batch["tokens"],
        max_length=batch["max_length"],
        seed=config["seed"],
        rows_multiple=batch["micro_batches"] * sharding.data_size(mesh),
        # A run from before these fields had none of it.
        short_length=batch.get("short_length", 0),
        short_epochs=batch.get("short_epochs", 0),
    )


def check_values(config: Mapping[str, Any]) -> None:
    """Names the first field whose value no run can have, before anything is read or written."""
    try:
        tasks.named(config["task"]).check(config["data"])
    except KeyError as error:
        raise InputError(
            f"task is {config['task']!r}, but there is no data.{error.args[0]}: start from a "
            "configuration of that task"
        ) from None
    values = flatten(config)
    for field, least in _LEAST.items():
        if values[field] < least:
            raise InputError(f"{field} is {values[field]}: give {least} or more")
    for field in _UNDER_ONE:
        if not 0 <= values[field] < 1:
            raise InputError(f"{field} is {values[field]}: give 0 or more, under 1")
    for field in _POSITIVE:
        if values[field] is not None and not values[field] > 0:
            raise InputError(f"{field} is {values[field]}: give more than 0")
    layout, devices = values["mesh.layout"], values["mesh.model"]
    sharding.layout(layout)
    if (layout == "tensor") != (devices > 1):
        raise InputError(
            f"mesh.layout is {layout!r} and mesh.model {devices}: 'tensor' needs 2 devices or more "
            "for mesh.model, the other layouts need 1"
        )
    model_config(config, max(values["subword.vocab_size"], 1))
    # The search pads sources to powers of two.
    padded = 1 << (values["batch.max_length"] - 1).bit_length()
    longest = padded + values["search.extra_length"]
    if values["model.positions"] == "learned" and values["model.max_positions"] < longest:
        raise InputError(
            f"model.max_positions is {values['model.max_positions']}, too few for batch.max_length "
            f"and search.extra_length: give {longest} or more"
        )


def why_refused(error: Exception) -> str:
    """In one line why absl or ml_collections took no flag, configuration or field of it."""
    # ml_collections wraps a KeyError, whose text names the field and the nearest one.
    cause = error.__context__ or error if isinstance(error, AttributeError) else error
    text = str(cause.args[-1] if isinstance(cause, KeyError) else cause)
    last = (text.strip().splitlines() or [""])[-1].strip().split(" Other fields present")[0]
    if isinstance(cause, flags.Error):
        return last
    if isinstance(cause, TypeError) and last.startswith("get_config() takes 0 positional"):
        return "this configuration has no variants: leave out the colon and what follows"
    kind = "no such field" if isinstance(cause, KeyError) else type(cause).__name__
    return f"{kind}: {last}"


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Every field by its path, such as `model.num_heads`."""
    # Through JSON, so that a tuple equals the list it is read back as.
    tree = json.loads(json.dumps(tree)) if not prefix else tree
    flat = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
