"""Table 4: what is printed, and runs of parsing."""

import argparse
import json

import pytest

from configs import wsj_parsing
from transformer_jax.errors import InputError
from transformer_jax.paper import table4
from transformer_jax.paper.printed import TABLE_4

SCORES = {
    "f1": 81.25,
    "recall": 80.5,
    "precision": 82.0,
    "exact_match": 20.0,
    "repaired_share": 0.015,
    "sentences": 2416,
    "error_sentences": 7,
    "skipped_sentences": 2,
    "averaged_steps": [10],
}


@pytest.fixture
def workdir(tmp_path):
    config = wsj_parsing.get_config("small").to_dict()
    config["data"]["directory"] = "data/a_treebank"
    path = tmp_path / "run"
    (path / "eval").mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for split in ("dev", "test"):
        (path / "eval" / f"{split}.json").write_text(json.dumps(SCORES), encoding="utf-8")
    return path


def table_of(*paths):
    table4.run(argparse.Namespace(runs=list(map(str, paths))))


def test_every_printed_parser_has_its_training_and_f1(capsys):
    table_of()
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith("| ")][2:]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert cells == [(name, kind, str(f1)) for name, kind, f1 in TABLE_4]


def test_runs_stand_below_under_the_name_of_their_treebank(workdir, capsys):
    (workdir / "eval" / "dev_of_yesterday.json").write_text("{}", encoding="utf-8")
    table_of(workdir)
    printed, own = capsys.readouterr().out.split("This project's runs on the treebank ")
    assert "WSJ 23" in printed
    assert "WSJ" not in own
    assert own.startswith("data/a_treebank. ")
    rows = [line for line in own.splitlines() if str(workdir) in line]
    cells = [[cell.strip() for cell in row.strip("|").split("|")][1:] for row in rows]
    numbers = ["2,416", "9", "81.25", "80.50", "82.00", "20.00", "1.50"]
    assert cells == [["dev (dev.mrg)", *numbers], ["test (dev.mrg)", *numbers]]


def test_each_treebank_has_a_table_of_its_own(workdir, tmp_path):
    other = tmp_path / "other"
    (other / "eval").mkdir(parents=True)
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    config["data"]["directory"] = "data/another"
    (other / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (other / "eval" / "test.json").write_text(json.dumps(SCORES), encoding="utf-8")
    assert table4.of_runs([workdir, other]).count("on the treebank data/a") == 2


def test_a_run_of_translation_is_refused(workdir):
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    config["task"] = "translation"
    (workdir / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=r"is a run of translation, and Table 4 is of parsing"):
        table_of(workdir)


def test_a_run_without_scores_is_refused(workdir):
    for file in (workdir / "eval").iterdir():
        file.unlink()
    with pytest.raises(InputError, match=r"no scores in .*: python eval\.py --workdir="):
        table_of(workdir)
