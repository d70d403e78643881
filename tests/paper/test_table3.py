"""Table 3: parameters without training, the table from runs, and how the runs come about."""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from configs import table3 as rows
from transformer_jax.configuration import model_config
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.paper import __main__ as program
from transformer_jax.paper import launch, table3
from transformer_jax.paper.printed import TABLE_3
from transformer_jax.text import subword

ROOT = Path(__file__).parents[2]
TEXT = ["the dog sleeps", "das Hündchen schläft", "a cat", "eine Katze"]


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabularies")
    return [subword.train(TEXT, folder / str(size), size) for size in (285, 290)]


@pytest.fixture
def write_run(tmp_path, vocabularies):
    """Makes a workdir as train.py and eval.py leave it, with these scores on the dev set."""

    def write_run(name, row, perplexity, bleu, *, seed=0, vocabulary=0, size="small", **scores):
        config = rows.get_config(f"{row},size={size}").to_dict() | {"seed": seed}
        path = tmp_path / "runs" / name
        (path / "eval").mkdir(parents=True)
        (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        vocabularies[vocabulary].save(path / "subword.model")
        scores = {
            "perplexity": perplexity,
            "bleu": bleu,
            "averaged_steps": [config["steps"]],
        } | scores
        (path / "eval" / "dev.json").write_text(json.dumps(scores), encoding="utf-8")
        return path

    return write_run


def table_of(folder):
    return table3.results(table3.find_runs(folder / "runs"))


def cells(text, row):
    """The lines of a row, without its name."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {row} ")]
    return [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines]


@pytest.mark.parametrize("printed", TABLE_3, ids=lambda row: row.name)
def test_the_configuration_of_a_row_has_the_columns_that_the_paper_prints(printed):
    config = rows.get_config(printed.name)
    assert model_config(config.to_dict(), 37_000).key_width == (
        table3.paper_model(printed, 37_000).key_width
    )
    base = TABLE_3[0]
    model = model_config(config.to_dict(), 37_000)
    found = {
        "num_layers": model.num_layers,
        "d_model": model.d_model,
        "d_ff": model.d_ff,
        "num_heads": model.num_heads,
        "d_k": model.key_width,
        "d_v": model.value_width,
        "dropout_rate": model.dropout_rate,
        "positions": model.positions,
        "label_smoothing": config.loss.label_smoothing,
        "steps": config.steps,
    }
    for name, value in found.items():
        given = getattr(printed, name)
        assert value == (getattr(base, name) if given is None else given), name


def test_the_programs_know_the_same_rows_and_sizes():
    assert list(table3.PRINTED) == [row for row in rows.ROWS if row in table3.PRINTED]
    assert table3.SIZES == rows.SIZES
    for row in [*rows.ROWS, "local.r16"]:
        assert row in table3.PRINTED or launch._UNPRINTED.fullmatch(row)


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "d_k": 3}, {"positions": "learned"}])
def test_parameters_counted_from_one_layer_are_those_of_the_whole_model(changes):
    config = TransformerConfig(50, num_layers=3, d_model=8, d_ff=16, num_heads=2, **changes)
    tokens = jnp.ones((1, 1), jnp.int32)
    shapes = jax.eval_shape(Transformer(config).init, jax.random.key(0), tokens, tokens)
    whole = sum(leaf.size for leaf in jax.tree.leaves(shapes["params"]))
    assert table3.count_parameters(config) == whole


def test_differences_of_parameters_to_base_are_the_printed_ones_but_where_d_model_differs():
    text = table3.parameters(37_000)
    assert cells(text, "base")[0] == ["63.0", "65", "-2.0", "+0.0", "+0"]
    assert cells(text, "prenorm")[0] == ["63.0", "", "", "+0.0", ""]
    for row in ("B.dk16", "B.dk32", "C.N2", "C.N4", "C.N8", "C.ff1024", "C.ff4096"):
        *_, ours, paper = cells(text, row)[0]
        assert abs(float(ours) - int(paper)) < 1


def test_parameters_are_counted_without_the_text_column():
    heavy = ["sacrebleu", "grain", "orbax.checkpoint.v1", "matplotlib", "ml_collections"]
    program = (
        "import sys; from transformer_jax.paper import table3; table3.parameters(37_000);"
        f"print(*[m for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == []


def test_the_table_has_every_printed_row_in_order_and_blanks_where_no_run_is(write_run, tmp_path):
    write_run("x", "unscaled", 9.0, 10.0)
    write_run("deep/inside/h1", "A.h1", 6.0, 21.25)
    text = table_of(tmp_path)
    first = text.split("\n\n")[1]
    names = [line.split("|")[1].strip() for line in first.splitlines()[2:]]
    assert names == [*table3.PRINTED, "unscaled"]
    found = cells(text, "A.h1")[0]
    assert found[:9] == ["3", "128", "512", "1", "128", "128", "0.1", "0.1", "3,000"]
    assert found[9:11] == ["6.000", "21.2"]
    assert found[12:] == ["5.29", "24.9", ""]
    assert cells(text, "C.N2")[0] == [""] * 12 + ["6.11", "23.7", "36"]
    assert cells(text, "unscaled")[0][-3:] == ["", "", ""]


def test_parameters_in_the_table_are_those_of_the_runs_vocabulary(
    write_run, tmp_path, vocabularies
):
    write_run("h1", "A.h1", 6.0, 21.0)
    config = rows.get_config("A.h1,size=small").to_dict()
    count = table3.count_parameters(model_config(config, vocabularies[0].size))
    assert cells(table_of(tmp_path), "A.h1")[0][11] == f"{count / 1e6:.2f}"


def test_several_seeds_give_mean_and_spread_and_say_what_is_beyond_it(write_run, tmp_path):
    for seed, (perplexity, bleu) in enumerate([(5.0, 20.0), (5.2, 21.0), (5.1, 20.5)]):
        write_run(f"base-seed{seed}", "base", perplexity, bleu, seed=seed)
    write_run("h1", "A.h1", 5.45, 20.0)
    write_run("h4", "A.h4", 5.25, 22.0)
    text = table_of(tmp_path)
    assert cells(text, "base")[0][9:11] == ["5.100 (5.000-5.200, n=3)", "20.5 (20.0-21.0, n=3)"]
    assert cells(text, "A.h1")[1] == ["+0.350", "+0.37", "-0.5", "-0.9"]
    assert "3 runs of base, which differ in their seed alone, are 0.200 in" in text
    assert "in PPL: A.h1; in BLEU: A.h4." in text


def test_with_one_run_of_base_nothing_is_said_to_be_more_than_chance(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    write_run("h1", "A.h1", 9.0, 2.0)
    assert "base has one run: how far runs differ by chance is not known" in table_of(tmp_path)


def test_the_papers_bleu_is_shown_where_all_runs_have_it(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0, bleu_compound=22.0)
    assert cells(table_of(tmp_path), "base")[0][10] == "22.0"
    write_run("h1", "A.h1", 5.0, 20.0)
    assert cells(table_of(tmp_path), "base")[0][10] == "20.0"


def test_an_unfinished_run_is_left_blank_and_named(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    half = write_run("h1", "A.h1", 6.0, 10.0, averaged_steps=[500])
    (write_run("h4", "A.h4", 6.0, 10.0) / "eval" / "dev.json").unlink()
    text = table_of(tmp_path)
    assert cells(text, "A.h1")[0][:12] == [""] * 12
    assert f"{half}: scored at step 500 of 3,000" in text
    assert "h4: the dev set is not scored" in text


def refused(tmp_path, *names):
    with pytest.raises(InputError) as error:
        table_of(tmp_path)
    message = str(error.value)
    assert all(str(tmp_path / "runs" / name) in message for name in names)
    assert "\n" not in message
    return message


def test_runs_of_two_vocabularies_are_refused(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    write_run("h1", "A.h1", 5.0, 20.0, vocabulary=1)
    assert "differ in vocabulary" in refused(tmp_path, "base", "h1")


def test_runs_of_two_sizes_are_refused(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    write_run("h1", "A.h1", 5.0, 20.0, size="text")
    assert "differ in size, 'small' and 'text'" in refused(tmp_path, "base", "h1")


def change(path, section, field, value):
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    config[section][field] = value
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")


def test_runs_of_two_recipes_are_refused(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    change(write_run("h1", "A.h1", 5.0, 20.0), "optimizer", "factor", 2.0)
    assert "differ in optimizer.factor, 0.28 and 2.0" in refused(tmp_path, "base", "h1")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("model", "dtype", "bfloat16"),
        ("batch", "shapes", 3),
        ("model", "attention_dropout_rate", 0.5),
    ],
)
def test_what_no_row_changes_is_equal_in_all(write_run, tmp_path, section, field, value):
    write_run("base", "base", 5.0, 20.0)
    change(write_run("h1", "A.h1", 5.0, 20.0), section, field, value)
    assert f"differ in {section}.{field}" in refused(tmp_path, "base", "h1")


def change_steps(path, steps):
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps(config | {"steps": steps}), encoding="utf-8")


def test_a_short_trial_is_no_row_beside_long_ones(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    change_steps(write_run("h1", "A.h1", 5.0, 20.0, averaged_steps=[10]), 10)
    assert "differ in steps, 3000 and 10" in refused(tmp_path, "base", "h1")


@pytest.mark.parametrize(("steps", "fits"), [(9000, True), (3000, True), (10, False)])
def test_big_trains_as_long_as_the_others_or_three_times(write_run, tmp_path, steps, fits):
    write_run("base", "base", 5.0, 20.0)
    change_steps(write_run("big", "big", 4.0, 30.0, averaged_steps=[steps]), steps)
    if fits:
        assert cells(table_of(tmp_path), "big")[0][8] == f"{steps:,}"
    else:
        assert "differ in steps, 3000 and 10" in refused(tmp_path, "base", "big")


def test_every_other_field_of_a_model_is_in_no_row():
    changes = {field for row in rows.ROWS.values() for field in row}
    in_model = {field.partition(".")[2] for field in changes if field.startswith("model.")}
    assert in_model | {"neighbourhood"} == set(table3._OF_ROWS)


def test_seeds_of_a_row_that_differ_in_more_are_refused(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    change(write_run("base-seed1", "base", 5.0, 20.0, seed=1), "loss", "label_smoothing", 0.0)
    assert "differ in loss" in refused(tmp_path, "base", "base-seed1")


def test_the_same_run_twice_is_refused(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0)
    write_run("copy", "base", 5.0, 20.0)
    assert "both row base with seed 0" in refused(tmp_path, "base", "copy")


def test_a_mean_of_checkpoints_is_refused_with_the_remedy(write_run, tmp_path):
    write_run("base", "base", 5.0, 20.0, averaged_steps=[500, 3000])
    assert "--split=dev --average=1" in refused(tmp_path, "base")
    write_run("h1", "A.h1", 6.0, 10.0)
    assert "base: scored with the mean of 2 checkpoints" in table_of(tmp_path)


def test_a_run_of_older_code_has_the_defaults_of_newer_fields(write_run, tmp_path):
    for name, row in (("base", "base"), ("h1", "A.h1"), ("h4", "A.h4")):
        path = write_run(name, row, 5.0, 20.0)
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        if name != "h1":
            del config["batch"]["short_epochs"], config["model"]["neighbourhood"]
        (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert len(table3.find_runs(tmp_path / "runs").runs) == 3


def test_a_folder_without_runs_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"no folder .*runs: train with --launch"):
        table_of(tmp_path)
    (tmp_path / "runs").mkdir()
    with pytest.raises(InputError, match=r"has no finished run of configs/table3\.py"):
        table_of(tmp_path)


def test_differences_are_drawn_to_two_files(write_run, tmp_path):
    pytest.importorskip("matplotlib")
    write_run("base", "base", 5.0, 20.0)
    with pytest.raises(InputError, match="another row"):
        table3.plot(table3.find_runs(tmp_path / "runs").runs, tmp_path / "drawn")
    write_run("h1", "A.h1", 5.5, 19.0)
    write_run("unscaled", "unscaled", 5.5, 19.0)
    table3.plot(table3.find_runs(tmp_path / "runs").runs, tmp_path / "drawn")
    assert {path.suffix for path in tmp_path.glob("drawn.*")} == {".png", ".svg"}


def test_the_command_fails_if_a_row_failed(write_run, tmp_path, monkeypatch):
    write_run("base", "base", 5.0, 20.0)
    monkeypatch.setattr(table3, "launch", lambda *_: ["A.h1"])
    parser = argparse.ArgumentParser()
    table3.add_arguments(parser)
    arguments = parser.parse_args(["--launch", f"--runs={tmp_path / 'runs'}"])
    with pytest.raises(SystemExit, match=r"transformer_jax\.paper: failed: A\.h1"):
        table3.run(arguments)


def test_what_would_be_in_no_table_with_the_finished_runs_is_refused_before_it_is_trained(
    write_run, tmp_path
):
    runs = tmp_path / "runs"
    table3.check_planned(runs, launch.plan(runs, "small", ["base", "big", "A.h1"], 2))
    write_run("base", "base", 5.0, 20.0)
    table3.check_planned(runs, launch.plan(runs, "small", ["base", "big", "A.h1"], 2))
    with pytest.raises(InputError, match=r"differ in steps, 3000 and 5, .* give another --runs"):
        table3.check_planned(runs, launch.plan(runs, "small", ["A.h1"], 1, ["--config.steps=5"]))
    with pytest.raises(InputError, match="differ in size, 'small' and 'text'"):
        table3.check_planned(runs, launch.plan(runs, "text", ["A.h1"], 1))
    write_run("trial", "A.h4", 5.0, 20.0)
    with pytest.raises(InputError, match=r"trial and .* are both row A\.h4 with seed 0"):
        table3.check_planned(runs, launch.plan(runs, "small", ["A.h4"], 1))


def test_a_size_that_is_not_that_of_the_runs_is_refused(write_run, tmp_path, monkeypatch):
    write_run("base", "base", 5.0, 20.0)
    with pytest.raises(SystemExit, match="holds runs of size 'small', not 'text'"):
        command(monkeypatch, "table3", f"--runs={tmp_path / 'runs'}", "--size=text")


def command(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["paper", *arguments])
    program.main()


def test_every_table_is_a_command_with_its_first_line_as_help(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        command(monkeypatch, "--help")
    shown = " ".join(capsys.readouterr().out.split())
    for name in program._NAMES:
        module = importlib.import_module(f"transformer_jax.paper.{name}")
        assert f"{name} {module.__doc__.splitlines()[0]}" in shown


def test_what_a_user_can_mend_is_one_line(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        command(monkeypatch, "table3", f"--runs={tmp_path / 'absent'}")
    assert str(end.value.code).startswith("transformer_jax.paper: no folder ")
    for seeds in (0, 3):
        with pytest.raises(SystemExit, match="--seeds is of what to train: give --launch"):
            command(monkeypatch, "table3", f"--seeds={seeds}")
    with pytest.raises(SystemExit, match=r"'--config\.seed=1' is for train\.py: give --launch"):
        command(monkeypatch, "table3", "--params", "--", "--config.seed=1")
    with pytest.raises(SystemExit, match="--seeds is 0: give 1 or more"):
        command(monkeypatch, "table3", "--launch", "--seeds=0")
    with pytest.raises(SystemExit, match="no row '' in Table 3"):
        command(monkeypatch, "table3", "--launch", "--rows=")
    with pytest.raises(SystemExit, match="--params counts the printed rows: leave out --launch"):
        command(monkeypatch, "table3", "--params", "--launch")
    with pytest.raises(SystemExit):
        command(monkeypatch, "table3", "--size=tiny")
    assert "'tiny' (choose from" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="--vocab is of --params"):
        command(monkeypatch, "table3", "--vocab=100")
    with pytest.raises(SystemExit, match=r"'--config\.seed=1' is for train\.py: give --launch"):
        command(monkeypatch, "table3", "--", "--config.seed=1")


def test_a_reader_who_has_enough_is_no_error():
    run = [sys.executable, "-m", "transformer_jax.paper", "table3", "--params"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(run, cwd=ROOT, **pipes) as paper:
        paper.stdout.close()
        assert paper.stderr.read() == b""
    assert paper.returncode == 1
