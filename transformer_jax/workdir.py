"""What a run keeps in its folder, and who may use it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from transformer_jax import files
from transformer_jax.configuration import flatten
from transformer_jax.errors import InputError
from transformer_jax.model import TransformerConfig

# A run with one of these changed is another run.
_IDENTITY = ("task", "model", "subword")

# What every configuration of a run has.
_SECTIONS = {"task", "data", "subword", "batch", "model", "search", "checkpoint"}


class Workdir:
    """The folder of one run.

    config.json       the configuration
    subword.model     the vocabulary
    checkpoints/      a folder a step
    metrics.jsonl     a line a report
    tensorboard/      the same as curves
    eval/             scores and translations, or trees, of the test and dev sets
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
        # A run from before a field of the model was thought of had the field's default.
        defaults = {
            f"model.{field.name}": field.default
            for field in fields(TransformerConfig)
            if field.default is not MISSING
        }
        before, now = defaults | flatten(self.config()), flatten(config)
        if self.last_step() < 0:
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
        started = self.config_file.exists() and self.last_step() < 0
        if started and flatten(self.config()) != flatten(config):
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
        self, split: str, scores: Mapping[str, Any], hypotheses: Sequence[str], report: str
    ) -> None:
        """Keeps scores as JSON, outputs as text, a line each, and the report, if there is one."""
        self._write(self.eval / f"{split}.json", json.dumps(scores, indent=2) + "\n")
        lines = "".join(line + "\n" for line in hypotheses)
        self._write(self.eval / f"{split}.hypotheses.txt", lines)
        if report:
            self._write(self.eval / f"{split}.report.txt", report)

    def last_step(self) -> int:
        """The step of the newest checkpoint; -1 if there is none."""
        names = [path.name for path in self.checkpoints.glob("*")]
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def _write(self, path: Path, text: str) -> None:
        try:
            files.write(path, text.encode())
        except OSError as error:
            raise InputError(
                f"cannot write to the workdir {self.path}: {error.strerror}; "
                "make room there or give another --workdir"
            ) from None
