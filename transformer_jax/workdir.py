"""What a run keeps in its folder, and who may use it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_jax.errors import InputError
from transformer_jax.model import TransformerConfig

# A run with one of these changed is another run.
_IDENTITY = ("task", "model", "subword")

# What every configuration of a run has.
_SECTIONS = {"task", "data", "subword", "batch", "model", "search", "checkpoint"}

# The least that a field may be.
_LEAST = {
    "seed": 0,
    "steps": 0,
    "batch.tokens": 1,
    "batch.shapes": 1,
    "batch.max_length": 2,
    "batch.micro_batches": 1,
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


class Workdir:
    """The folder of one run.

    config.json       the configuration
    subword.model     the vocabulary
    checkpoints/      a folder a step
    metrics.jsonl     a line a report
    tensorboard/      the same as curves
    eval/             scores and translations of the test and dev sets
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.config_file = self.path / "config.json"
        self.vocabulary_file = self.path / "subword.model"
        self.checkpoints = self.path / "checkpoints"
        self.eval = self.path / "eval"

    def check(self, config: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """What changed since the run that is here, field -> (before, now); nothing in a new folder.

        A run of another task, model or vocabulary is refused; anything else may change when a run
        goes on. What was started but has no checkpoint yet is no run. Writes nothing.
        """
        if not self.config_file.exists():
            return {}
        before, now = _flatten(self.config()), _flatten(config)
        if not self._has_checkpoint():
            return {}
        changes = {
            field: (before.get(field), now.get(field))
            for field in sorted(before.keys() | now.keys())
            if before.get(field) != now.get(field)
        }
        for field, (was, wanted) in changes.items():
            if field.split(".")[0] in _IDENTITY:
                raise InputError(
                    f"{self.path} holds a run with {field} = {was!r}, not {wanted!r}: "
                    "give another --workdir, or the configuration of that run"
                )
        return changes

    def claim(self, config: Mapping[str, Any]) -> None:
        """Makes the folder that of a run of `config`.

        The vocabulary of another start, which came to no checkpoint, is removed.
        """
        started = self.config_file.exists() and not self._has_checkpoint()
        if started and _flatten(self.config()) != _flatten(config):
            self.vocabulary_file.unlink(missing_ok=True)
        self._write(self.config_file, json.dumps(config, indent=2) + "\n")

    def config(self) -> dict[str, Any]:
        """The configuration of the run that is here."""
        try:
            config = json.loads(self.config_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(
                f"{self.path} holds no run (no {self.config_file.name}): train first, "
                "or give the --workdir of a run"
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {self.config_file}: {error}") from None
        if not isinstance(config, dict) or not config.keys() >= _SECTIONS:
            raise InputError(f"{self.config_file} is not of a run: give the --workdir of a run")
        return config

    def write_evaluation(
        self, split: str, scores: Mapping[str, Any], hypotheses: Sequence[str]
    ) -> None:
        """Keeps scores as JSON and translations as text, a line each."""
        self._write(self.eval / f"{split}.json", json.dumps(scores, indent=2) + "\n")
        lines = "".join(line + "\n" for line in hypotheses)
        self._write(self.eval / f"{split}.hypotheses.txt", lines)

    def _has_checkpoint(self) -> bool:
        return any(path.name.isdigit() for path in self.checkpoints.glob("*"))

    def _write(self, path: Path, text: str) -> None:
        """Writes a file, complete or not at all."""
        temporary = path.with_name(f".{path.name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        except OSError as error:
            raise InputError(
                f"cannot write to the workdir {self.path}: {error.strerror}; "
                "make room there or give another --workdir"
            ) from None


def model_config(config: Mapping[str, Any], vocab_size: int) -> TransformerConfig:
    """The model part of a run's configuration."""
    return TransformerConfig(vocab_size=vocab_size, **config["model"])


def check_values(config: Mapping[str, Any]) -> None:
    """Names the first field whose value no run can have, before anything is read or written."""
    if config["task"] != "translation":
        raise InputError(f"task is {config['task']!r}: give 'translation'")
    values = _flatten(config)
    for field, least in _LEAST.items():
        if values[field] < least:
            raise InputError(f"{field} is {values[field]}: give {least} or more")
    for field in _UNDER_ONE:
        if not 0 <= values[field] < 1:
            raise InputError(f"{field} is {values[field]}: give 0 or more, under 1")
    for field in _POSITIVE:
        if values[field] is not None and not values[field] > 0:
            raise InputError(f"{field} is {values[field]}: give more than 0")
    model_config(config, max(values["subword.vocab_size"], 1))


def _flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    # Through JSON, so that a tuple equals the list it is read back as.
    tree = json.loads(json.dumps(tree)) if not prefix else tree
    flat = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
