"""The paper's two experiments: translation (section 6.1) and constituency parsing (6.3)."""

from transformer_jax.errors import InputError
from transformer_jax.tasks import parsing, translation
from transformer_jax.tasks.task import SPLITS, Output, Scored, Task

_TASKS: dict[str, Task] = {"translation": translation, "parsing": parsing}


def named(name: str) -> Task:
    """The task that `config.task` names."""
    if name not in _TASKS:
        raise InputError(f"task is {name!r}: give one of {', '.join(map(repr, _TASKS))}")
    return _TASKS[name]


__all__ = ["SPLITS", "Output", "Scored", "Task", "named"]
