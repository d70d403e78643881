"""Checkpoints: save, restore, average (section 6.1). The only file that imports orbax."""

import logging
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree
from orbax.checkpoint import v1 as ocp

from transformer_jax.errors import InputError
from transformer_jax.training.state import TrainState


class _WithoutRemarks(logging.Filter):
    """Drops orbax's remark, at every load, that an iterator has no metadata.

    Where parameters have none, `_read_metadata` says so. What else failed beside an error that is
    raised is dropped too.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(
            ("Failed to get metadata for checkpointable: ", "Task exception was never retrieved")
        )


logging.getLogger("absl").addFilter(_WithoutRemarks())


class Checkpoints:
    """The checkpoints of one run: a folder a step, the newest `keep` of them.

    Each holds `params`, `optimizer` (its state and the step), `data` (the position of the batch
    iterator) and, as metadata, the configuration. Saving is asynchronous and atomic: a folder
    that was not written to its end is no checkpoint. Use it as a context manager; leaving it
    waits for the save under way.
    """

    def __init__(self, directory: Path, keep: int | None = None):
        policies: Any = ocp.training.preservation_policies
        try:
            if keep is not None:
                directory.mkdir(parents=True, exist_ok=True)
            self._saver = ocp.training.Checkpointer(
                str(directory.absolute()),
                preservation_policy=policies.LatestN(keep) if keep else policies.PreserveAll(),
                cleanup_tmp_directories=keep is not None,
            )
        except OSError as error:
            raise InputError(f"cannot write checkpoints to {directory}: {error}") from None
        self._directory = directory

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_) -> None:
        with self._writing():
            self._saver.close()

    @property
    def steps(self) -> list[int]:
        """The steps that can be restored, oldest first."""
        return sorted(checkpoint.step for checkpoint in self._saver.checkpoints)

    def save(self, state: TrainState, step: int, iterator: Any, metadata: dict) -> None:
        """Start writing `state` and go on as soon as it is copied; a step is written once."""
        if step in self.steps:
            return
        with self._writing():
            self._saver.save_checkpointables_async(
                step,
                {
                    "params": state.params,
                    "optimizer": {"step": state.step, "state": state.opt_state},
                    "data": iterator,
                },
                force=True,
                custom_metadata=metadata,
            )

    def wait(self) -> None:
        """Return when nothing is being written any more."""
        with self._writing():
            self._saver.wait()

    def check_vocabulary(self, fingerprint: str) -> None:
        """Refuses another vocabulary than that of the newest checkpoint, if there is one."""
        for step in self.steps[-1:]:
            checkpoint = self._directory / str(step)
            if _read_metadata(checkpoint)[1] != fingerprint:
                raise InputError(
                    f"{checkpoint} was trained with another vocabulary than the one that is now "
                    "in its run's folder: put that one back, or give another --workdir"
                )

    def restore(self, abstract: TrainState, iterator: Any) -> TrainState:
        """The newest state, placed by the shardings of `abstract`; moves `iterator` there too."""
        step = self.steps[-1]
        with _reading(self._directory / str(step)):
            loaded = self._saver.load_checkpointables(
                step,
                {
                    "params": abstract.params,
                    "optimizer": {"step": abstract.step, "state": abstract.opt_state},
                    "data": iterator,
                },
            )
        optimizer = loaded["optimizer"]
        return TrainState(optimizer["step"], loaded["params"], optimizer["state"])

    def average(self, abstract: PyTree, last: int) -> tuple[PyTree, list[int]]:
        """The mean of the parameters of the `last` newest checkpoints, and their steps.

        The paper averages 5 for base and 20 for big (section 6.1). The mean is that of `average`;
        `last` 1 is the newest checkpoint as it is. Fewer checkpoints than `last` are all taken.
        """
        if last < 1:
            raise InputError(f"asked to average {last} checkpoints: give 1 or more")
        steps = self.steps[-last:]
        if not steps:
            raise InputError(f"{self._directory} holds no checkpoint: train first")
        return average([self._directory / str(step) for step in steps], abstract), steps

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # a full disk is a ValueError of tensorstore
            raise InputError(
                f"cannot write checkpoints to {self._directory}: {_last_line(error)}; "
                "the same command goes on from the last one that is complete"
            ) from error


def average(checkpoints: Sequence[Path], abstract: PyTree) -> PyTree:
    """The mean of the parameters of some checkpoints, summed in float32.

    Parameters alone; tensor2tensor averages Adam's moments too. Checkpoints whose parameters
    differ in name or shape from `abstract`, or that were made with another vocabulary than the
    first, are refused before any is read.
    """
    expected = {_name(path): leaf.shape for path, leaf in _leaves(abstract)}
    vocabulary = None
    for checkpoint in checkpoints:
        params, its_vocabulary = _read_metadata(checkpoint)
        found = {_name(path): leaf.shape for path, leaf in _leaves(params)}
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                raise InputError(
                    f"cannot average {checkpoint}: its parameter {name} is "
                    f"{found.get(name, 'absent')}, the model's {expected.get(name, 'absent')}"
                )
        if checkpoint is checkpoints[0]:
            vocabulary = its_vocabulary
        if its_vocabulary != vocabulary:
            raise InputError(
                f"cannot average {checkpoint}: its vocabulary {its_vocabulary} is not the "
                f"{vocabulary} of {checkpoints[0]}"
            )

    total = None
    for checkpoint in checkpoints:
        with _reading(checkpoint):
            loaded = ocp.load_checkpointables(str(checkpoint.absolute()), {"params": abstract})
        params = jax.tree.map(lambda leaf: leaf.astype(np.float32), loaded["params"])
        total = params if total is None else jax.tree.map(lambda a, b: a + b, total, params)
    return jax.tree.map(lambda leaf: leaf / len(checkpoints), total)


def _read_metadata(checkpoint: Path) -> tuple[PyTree, str]:
    """Shapes and dtypes of the parameters, and the fingerprint of the vocabulary."""
    with _reading(checkpoint):
        # What a crash of the machine leaves. Tensorstore, in threads of its own, prints much of it.
        for file in checkpoint.glob("**/d/*"):
            if not file.stat().st_size:
                raise ValueError(f"{file.relative_to(checkpoint)} is empty")
        metadata: Any = ocp.checkpointables_metadata(str(checkpoint.absolute()))
        if metadata.metadata["params"] is None:
            raise ValueError("its parameters have no metadata")
        return metadata.metadata["params"], metadata.custom_metadata["vocabulary"]


@contextmanager
def _reading(checkpoint: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # orbax has many
        raise InputError(
            f"cannot read {checkpoint}: {_last_line(error)}; if it is damaged, remove it, and the "
            "one before it is taken"
        ) from error


def _last_line(error: Exception) -> str:
    """What a reader can take in of it: orbax may print whole trees."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[-1]
    return textwrap.shorten(line, 300, placeholder=" ...")


def _leaves(tree: PyTree) -> list:
    return jax.tree_util.tree_leaves_with_path(tree)


def _name(path) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/")
