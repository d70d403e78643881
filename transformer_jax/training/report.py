"""What a run shows and keeps: progress bar, metrics.jsonl, TensorBoard."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import jax
from tensorboardX import SummaryWriter
from tqdm import tqdm


class Report:
    """Shows and writes the progress of one run; on processes other than the first, nothing.

    Lines of `metrics.jsonl` from later than `first_step` (left by a run that was killed after its
    last checkpoint) are removed, since their steps are made again.
    """

    def __init__(self, directory: Path, first_step: int, steps: int):
        self._lead = jax.process_index() == 0
        self._bar = tqdm(
            initial=first_step,
            total=steps,
            unit="step",
            disable=not (self._lead and sys.stderr.isatty()),
            dynamic_ncols=True,
            bar_format="{percentage:3.0f}%|{bar:20}| {n}/{total} {elapsed}<{remaining}  {desc}",
        )
        if self._lead:
            path = directory / "metrics.jsonl"
            _keep_until(path, first_step)
            self._lines = path.open("a", encoding="utf-8")
            self._board = SummaryWriter(str(directory / "tensorboard"), purge_step=first_step + 1)

    def __enter__(self) -> "Report":
        return self

    def __exit__(self, *_) -> None:
        self._bar.close()
        if self._lead:
            self._lines.close()
            self._board.close()

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Adds a line to metrics.jsonl and a point to each of TensorBoard's curves."""
        if self._lead:
            self._lines.write(json.dumps({"step": step, **values}) + "\n")
            self._lines.flush()
            for name, value in values.items():
                self._board.add_scalar(name, value, step)

    def progress(self, step: int, values: Mapping[str, float]) -> None:
        """As `write`, and moves the bar; where there is no terminal, prints a line."""
        self.write(step, values)
        shown = (
            f"loss {values['loss']:.3f}  lr {values['learning_rate']:.1e}  "
            f"{values['target_tokens_per_second']:,.0f} target tokens/s"
        )
        self._bar.set_description_str(shown, refresh=False)
        self._bar.update(step - self._bar.n)
        if self._lead and self._bar.disable:
            print(f"step {step}/{self._bar.total}  {shown}", flush=True)

    def say(self, text: str) -> None:
        """Prints above the bar."""
        if self._lead:
            self._bar.write(text, file=sys.stdout)
            sys.stdout.flush()


def _keep_until(path: Path, step: int) -> None:
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for line in lines if _step(line) <= step), encoding="utf-8")


def _step(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError):  # the last line of a killed run may be cut short
        return float("inf")
