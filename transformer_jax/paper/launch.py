"""Trains rows of Table 3 one after another."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_jax.errors import InputError
from transformer_jax.paper.printed import TABLE_3
from transformer_jax.paper.tables import read_scores

if TYPE_CHECKING:  # it brings all tasks along, and table3 --params should not wait for them
    from transformer_jax.workdir import Workdir

_PRINTED = [row.name for row in TABLE_3]

# What else configs/table3.py has, which the installed package does not.
_UNPRINTED = re.compile(r"local\.r[1-9]\d*|unscaled|prenorm")


def execute(command: Sequence[str]) -> int:
    """Runs a command to its end and gives its exit status.

    When this process is interrupted or terminated, so is the command, which may save first.
    """
    process = subprocess.Popen(command)

    def terminate(*_):
        process.terminate()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        return process.wait()
    except KeyboardInterrupt:  # of a terminal, which has interrupted the command as well
        process.wait()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def launch(
    directory: Path,
    size: str,
    rows: Sequence[str],
    seeds: int,
    train_flags: Sequence[str] = (),
    check: Callable[[Path], object] = lambda directory: None,
    execute: Callable[[Sequence[str]], int] = execute,
) -> list[str]:
    """Trains rows one after another and scores the dev set; gives the names of those that failed.

    A run is in `directory/ROW`, further seeds of base in `directory/base-seed1` and so on. A
    finished run is left as it is, an interrupted one goes on. After each new run `check` may raise
    if the runs in the directory do not go together, as those of an earlier trial may not.

    Raises:
      InputError: a row is unknown, there are seeds of base without base, a folder holds another
        run, or the programs are not beside the package.
    """
    from transformer_jax.workdir import Workdir

    for row in rows:
        if row not in _PRINTED and not _UNPRINTED.fullmatch(row):
            raise InputError(
                f"no row {row!r} in Table 3: give some of {', '.join(_PRINTED)}, unscaled, prenorm "
                "or local.rR"
            )
    if seeds < 1:
        raise InputError(f"--seeds is {seeds}: give 1 or more")
    if seeds > 1 and "base" not in rows:
        raise InputError(f"--seeds is {seeds}, but --rows has no base: they are runs of base")
    root = Path(__file__).parents[2]
    programs = [root / name for name in ("train.py", "eval.py", "configs/table3.py")]
    for program in programs:
        if not program.exists():
            raise InputError(f"no {program}: --launch needs the project's folder, not a wheel")
    train, evaluate, config = map(str, programs)

    names = []
    for row in rows:
        names.append((row, row, []))
        if row == "base":
            names += [
                (f"base-seed{seed}", row, [f"--config.seed={seed}"]) for seed in range(1, seeds)
            ]
    for name, row, _ in names:
        _check_free(Workdir(directory / name), f"table3/{size}/{row}")
    failed = []
    for number, (name, row, flags) in enumerate(names, start=1):
        start = time.monotonic()
        workdir = Workdir(directory / name)
        to_run = []
        if not _trained(workdir):
            to_run.append(
                [
                    *(sys.executable, train, f"--config={config}:{row},size={size}"),
                    *(f"--workdir={workdir.path}", *flags, *train_flags),
                ]
            )
        if to_run or not _scored(workdir):
            to_run.append(
                [
                    *(sys.executable, evaluate, f"--workdir={workdir.path}"),
                    *("--split=dev", "--average=1"),
                ]
            )
        title = f"[{number}/{len(names)}] {name}"
        if not to_run:
            print(f"{title}: finished already", flush=True)
            continue
        print(f"{title}: {workdir.path}", flush=True)
        # `any` stops at the first command that fails.
        if any(execute(command) for command in to_run):
            failed.append(name)
        result = "FAILED" if name in failed else "finished"
        print(f"{title}: {result} after {time.monotonic() - start:.0f} s", flush=True)
        if name not in failed:
            check(directory)
    return failed


def _check_free(workdir: "Workdir", name: str) -> None:
    if workdir.config_file.exists() and (found := workdir.config().get("name")) != name:
        raise InputError(f"{workdir.path} holds the run {found}, not {name}: give another --runs")


def _trained(workdir: "Workdir") -> bool:
    return workdir.config_file.exists() and workdir.last_step() >= workdir.config()["steps"]


def _scored(workdir: "Workdir") -> bool:
    """The last checkpoint alone, on the dev set."""
    try:
        scores = read_scores(workdir.eval / "dev.json")
    except InputError:  # none, or broken
        return False
    return scores["averaged_steps"] == [workdir.last_step()]
