"""Rows of Table 3 one after another."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from configs import table3 as rows
from transformer_jax.errors import InputError
from transformer_jax.paper import launch

ROOT = Path(__file__).parents[2]


class Programs:
    """Stands for train.py and eval.py: notes the commands and leaves what they leave."""

    def __init__(self, failing=()):
        self.commands = []
        self._failing = failing

    def __call__(self, command):
        program, flags = Path(command[1]).name, command[2:]
        workdir = Path(next(f for f in flags if f.startswith("--workdir=")).partition("=")[2])
        self.commands.append((program, workdir.name, *flags))
        if (program, workdir.name) in self._failing:
            return 1
        if program == "train.py":
            row = next(f for f in flags if f.startswith("--config=")).rpartition(":")[2]
            config = rows.get_config(row).to_dict()
            (workdir / "checkpoints" / str(config["steps"])).mkdir(parents=True)
            (workdir / "config.json").write_text(json.dumps(config), encoding="utf-8")
        else:
            (workdir / "eval").mkdir()
            scores = {"perplexity": 5.0, "bleu": 20.0, "averaged_steps": [3000]}
            (workdir / "eval" / "dev.json").write_text(json.dumps(scores), encoding="utf-8")
        return 0

    @property
    def done(self):
        return [command[:2] for command in self.commands]


def make(directory, size, rows, seeds=1, flags=(), check=lambda: None, execute=None):
    planned = launch.plan(directory, size, rows, seeds, flags)
    return launch.launch(planned, check, execute)


def test_a_row_is_trained_and_its_dev_set_scored_with_one_checkpoint(tmp_path):
    programs = Programs()
    flags = ["--config.report.every_steps=10"]
    assert not make(tmp_path, "small", ["A.h1"], 1, flags, execute=programs)
    (train, evaluate) = programs.commands
    workdir = f"--workdir={tmp_path / 'A.h1'}"
    config = f"--config={ROOT / 'configs' / 'table3.py'}:A.h1,size=small"
    assert train == ("train.py", "A.h1", config, *flags, workdir)
    assert evaluate == ("eval.py", "A.h1", workdir, "--split=dev", "--average=1")


def test_seeds_are_of_base_alone(tmp_path):
    programs = Programs()
    make(tmp_path, "small", ["base", "A.h1"], 3, execute=programs)
    names = [name for program, name in programs.done if program == "train.py"]
    assert names == ["base", "base-seed1", "base-seed2", "A.h1"]
    seeds = [[f for f in command if "seed=" in f] for command in programs.commands]
    assert seeds == [[], [], ["--config.seed=1"], [], ["--config.seed=2"], [], [], []]


def test_what_is_finished_is_left_and_what_is_not_goes_on(tmp_path, capsys):
    make(tmp_path, "small", ["base", "A.h1", "A.h4"], 1, execute=Programs())
    (tmp_path / "A.h1" / "checkpoints" / "3000").rename(tmp_path / "A.h1" / "checkpoints" / "500")
    (tmp_path / "A.h4" / "eval" / "dev.json").unlink()
    (tmp_path / "A.h4" / "eval").rmdir()
    again = Programs(failing=[("eval.py", "A.h1")])
    assert make(tmp_path, "small", ["base", "A.h1", "A.h4"], 1, execute=again) == ["A.h1"]
    assert again.done == [("train.py", "A.h1"), ("eval.py", "A.h1"), ("eval.py", "A.h4")]
    assert "[1/3] base: finished already" in capsys.readouterr().out


def test_runs_that_do_not_go_together_end_the_launch_after_the_first_of_them(tmp_path):
    def check():
        if (tmp_path / "A.h4").exists():
            raise InputError("they differ")

    programs = Programs()
    with pytest.raises(InputError, match="they differ"):
        make(tmp_path, "small", ["base", "A.h4", "A.h16"], 1, (), check, programs)
    assert [name for _, name in programs.done] == ["base", "base", "A.h4", "A.h4"]


def test_a_folder_with_another_run_is_refused_before_any_row_is_trained(tmp_path):
    make(tmp_path, "small", ["A.h4"], 1, execute=Programs())
    programs = Programs()
    with pytest.raises(InputError, match=r"A\.h4 holds the run table3/small/A\.h4, not "):
        make(tmp_path, "text", ["A.h1", "A.h4"], 1, execute=programs)
    assert not programs.commands


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--config.step=3", "no such field: .*step"),
        ("--config.steps=x", "flag --config.steps=x"),
        ("--steps=3", "Unknown command line flag 'steps'"),
        ("steps=3", "unknown argument 'steps=3'"),
        ("--config.steps=-1", "steps is -1: give 0 or more"),
    ],
)
def test_a_flag_that_train_would_refuse_is_one_error_and_not_one_a_row(tmp_path, flag, message):
    with pytest.raises(InputError, match=message):
        launch.plan(tmp_path, "small", ["base", "A.h1"], 1, [flag])


def test_a_row_named_twice_is_trained_once(tmp_path):
    assert len(launch.plan(tmp_path, "small", ["A.h1", "A.h1"], 1)) == 1


def test_a_finished_run_that_the_flags_would_change_is_refused(tmp_path):
    make(tmp_path, "small", ["A.h1"], execute=Programs())
    for flag, message in (
        ("--config.optimizer.factor=2.0", r"already, with optimizer\.factor = 0\.28, not 2\.0"),
        ("--config.steps=20", "trained to step 3,000, further than 20"),
        ("--config.model.d_ff=8", r"holds a run with model\.d_ff = 512, not 8"),
    ):
        with pytest.raises(InputError, match=message):
            launch.plan(tmp_path, "small", ["A.h1"], 1, [flag])
    programs = Programs(failing=[("train.py", "A.h1")])
    make(tmp_path, "small", ["A.h1"], flags=["--config.report.every_steps=7"], execute=programs)
    assert not programs.done
    make(tmp_path, "small", ["A.h1"], flags=["--config.steps=3001"], execute=programs)
    assert programs.done == [("train.py", "A.h1")]


def test_seeds_without_base_are_refused(tmp_path):
    with pytest.raises(InputError, match="--seeds is 3, but --rows has no base"):
        make(tmp_path, "small", ["A.h1"], 3, execute=Programs())


def test_a_row_that_fails_is_reported_and_the_others_go_on(tmp_path, capsys):
    programs = Programs(failing=[("train.py", "A.h1")])
    failed = make(tmp_path, "small", ["A.h1", "A.h4"], 1, execute=programs)
    assert failed == ["A.h1"]
    assert programs.done == [("train.py", "A.h1"), ("train.py", "A.h4"), ("eval.py", "A.h4")]
    assert "[1/2] A.h1: FAILED after" in capsys.readouterr().out


@pytest.mark.parametrize("row", ["A.h3", "local.r0", "base,size=small"])
def test_an_unknown_row_is_an_error_that_lists_the_rows(tmp_path, row):
    programs = Programs()
    with pytest.raises(InputError, match=r"no row .* give some of base, A\.h1, .*local\.rR"):
        make(tmp_path, "small", ["base", row], 1, execute=programs)
    assert not programs.commands


def test_without_the_programs_there_is_nothing_to_launch(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "__file__", str(tmp_path / "a" / "b" / "launch.py"))
    with pytest.raises(InputError, match=r"no .*train\.py: --launch needs the project's folder"):
        make(tmp_path, "small", ["base"], 1, execute=Programs())


def test_a_terminated_launch_terminates_the_program_and_waits_until_it_has_saved(tmp_path):
    program = (
        "import pathlib, signal, sys, time\n"
        "def save(*_):\n    pathlib.Path('saved').touch()\n    sys.exit(1)\n"
        "signal.signal(signal.SIGTERM, save)\n"
        "pathlib.Path('ready').touch()\n"
        "time.sleep(60)\n"
    )

    def terminate_when_ready():
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=terminate_when_ready)
    before = signal.getsignal(signal.SIGTERM)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        launch.execute([sys.executable, "-c", f"import os; os.chdir({str(tmp_path)!r})\n{program}"])
    thread.join()
    assert (tmp_path / "saved").exists()
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_exit_status_of_a_program_is_handed_on():
    assert launch.execute([sys.executable, "-c", "raise SystemExit(3)"]) == 3
