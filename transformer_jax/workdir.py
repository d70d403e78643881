"""What a run keeps in its folder, and who may use it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_jax.errors import InputError
from transformer_jax.model import TransformerConfig

# A run with one of these changed is another run.
_IDENTITY = ("task", "model", "subword")


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
        goes on. Writes nothing.
        """
        if not self.config_file.exists():
            return {}
        before, now = _flatten(self.config()), _flatten(config)
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
        """Makes the folder that of a run of `config`."""
        try:
            _write(self.config_file, json.dumps(config, indent=2) + "\n")
        except OSError as error:
            raise InputError(
                f"cannot write to the workdir {self.path}: {error.strerror}; give another --workdir"
            ) from None

    def config(self) -> dict[str, Any]:
        """The configuration of the run that is here."""
        try:
            return json.loads(self.config_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(
                f"{self.path} holds no run (no {self.config_file.name}): train first, "
                "or give the --workdir of a run"
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {self.config_file}: {error}") from None

    def write_evaluation(
        self, split: str, scores: Mapping[str, Any], hypotheses: Sequence[str]
    ) -> None:
        """Keeps scores as JSON and translations as text, a line each."""
        _write(self.eval / f"{split}.json", json.dumps(scores, indent=2) + "\n")
        _write(self.eval / f"{split}.hypotheses.txt", "".join(line + "\n" for line in hypotheses))


def model_config(config: Mapping[str, Any], vocab_size: int) -> TransformerConfig:
    """The model part of a run's configuration."""
    return TransformerConfig(vocab_size=vocab_size, **config["model"])


def _write(path: Path, text: str) -> None:
    """Writes a file, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


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
