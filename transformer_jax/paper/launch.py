"""Trains rows of Table 3 one after another."""

import importlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Planned(NamedTuple):
    """A run of a row: the further seeds of base are base-seed1 and so on."""

    name: str
    row: str
    size: str
    workdir: "Workdir"
    flags: list[str]
    """Of train.py, without --workdir."""
    config: dict[str, Any]
    """What train.py makes of them."""


def plan(
    directory: Path, size: str, rows: Sequence[str], seeds: int, train_flags: Sequence[str] = ()
) -> list[Planned]:
    """The runs that `launch` is to make of some rows; each is in `directory/NAME`.

    Raises:
      InputError: a row is unknown, there are seeds of base without base, a flag or a value is no
        configuration's, a folder holds another run or a longer one, or a finished one trained
        otherwise; or the programs are not beside the package.
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
    for program in ("train.py", "eval.py", "configs/table3.py"):
        if not (_root() / program).exists():
            raise InputError(
                f"no {_root() / program}: --launch needs the project's folder, not a wheel"
            )
    planned = []
    for row in dict.fromkeys(rows):
        runs = [(row, [])]
        if row == "base":
            runs += [(f"base-seed{seed}", [f"--config.seed={seed}"]) for seed in range(1, seeds)]
        for name, flags in runs:
            changes = [*flags, *train_flags]
            config = _configuration(f"{row},size={size}", changes)
            file = _root() / "configs/table3.py"
            flags = [f"--config={file}:{row},size={size}", *changes]
            planned.append(Planned(name, row, size, Workdir(directory / name), flags, config))
    for run in planned:
        _check_free(run)
    return planned


def launch(
    planned: Sequence[Planned],
    check: Callable[[], object] = lambda: None,
    execute: Callable[[Sequence[str]], int] = execute,
) -> list[str]:
    """Trains runs one after another and scores the dev set; gives the names of those that failed.

    A finished run is left as it is, an interrupted one goes on. After each new run `check` may
    raise if it does not go with the others.
    """
    train, evaluate = str(_root() / "train.py"), str(_root() / "eval.py")
    failed = []
    for number, run in enumerate(planned, start=1):
        start = time.monotonic()
        workdir = f"--workdir={run.workdir.path}"
        to_run = []
        if run.workdir.last_step() < run.config["steps"]:
            to_run.append([sys.executable, train, *run.flags, workdir])
        if to_run or not _scored(run.workdir):
            to_run.append([sys.executable, evaluate, workdir, "--split=dev", "--average=1"])
        title = f"[{number}/{len(planned)}] {run.name}"
        if not to_run:
            print(f"{title}: finished already", flush=True)
            continue
        print(f"{title}: {run.workdir.path}", flush=True)
        # `any` stops at the first command that fails.
        if any(execute(command) for command in to_run):
            failed.append(run.name)
        result = "FAILED" if run.name in failed else "finished"
        print(f"{title}: {result} after {time.monotonic() - start:.0f} s", flush=True)
        if run.name not in failed:
            check()
    return failed


def _root() -> Path:
    return Path(__file__).parents[2]


def _configuration(argument: str, changes: Sequence[str]) -> dict[str, Any]:
    """What train.py would train with configs/table3.py:ARGUMENT and these flags."""
    from absl import flags
    from ml_collections import config_flags

    from transformer_jax.configuration import check_values, why_refused

    if str(_root()) not in sys.path:
        sys.path.append(str(_root()))
    config = importlib.import_module("configs.table3").get_config(argument)
    values = flags.FlagValues()
    command = ["train.py", *changes]
    try:
        config_flags.DEFINE_config_dict("config", config, flag_values=values, sys_argv=command)
        rest = values(command)
    except Exception as error:  # ml_collections has many
        raise InputError(f"bad flag or configuration: {why_refused(error)}") from None
    if len(rest) > 1:
        raise InputError(f"unknown argument {rest[1]!r}: give --config.field=value")
    changed = values.config.to_dict()
    check_values(changed)
    return changed


def _check_free(run: Planned) -> None:
    from transformer_jax.configuration import flatten

    workdir, wanted = run.workdir, run.config
    if not workdir.config_file.exists():
        return
    if (found := workdir.config().get("name")) != wanted["name"]:
        raise InputError(
            f"{workdir.path} holds the run {found}, not {wanted['name']}: give another --runs"
        )
    before, changes = flatten(workdir.config()), workdir.check(wanted)
    if (last := workdir.last_step()) > wanted["steps"]:
        raise InputError(
            f"{workdir.path} is trained to step {last:,}, further than {wanted['steps']:,}: give "
            "another --runs"
        )
    for field, (was, now) in changes.items():
        # A run from before a field was thought of had its default.
        counts = field in before and field.partition(".")[0] not in _HARMLESS
        if counts and last == wanted["steps"]:
            raise InputError(
                f"{workdir.path} is trained already, with {field} = {was!r}, not {now!r}: give "
                "another --runs, or leave the row out"
            )


# Sections with which a finished run may differ from the one that is asked for.
_HARMLESS = ("checkpoint", "report", "mesh")


def _scored(workdir: "Workdir") -> bool:
    """The last checkpoint alone, on the dev set."""
    try:
        scores = read_scores(workdir.eval / "dev.json")
    except InputError:  # none, or broken
        return False
    return scores["averaged_steps"] == [workdir.last_step()]
