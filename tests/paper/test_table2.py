"""Table 2: what is printed, and the cost that is counted for a run."""

import argparse
import json
from pathlib import Path

import pytest

from configs import quickstart
from transformer_jax.data.batching import plan_training
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.paper import table2
from transformer_jax.paper.printed import TABLE_2, TABLE_3, TABLE_4
from transformer_jax.paper.tables import bleu_name, markdown
from transformer_jax.tasks import translation
from transformer_jax.text import subword

PAPER = Path(__file__).parents[2].parent / "shared" / "reference" / "paper_tables.md"

PAIRS = translation.Pairs(
    [f"the {noun} sleeps" for noun in ("dog", "cat", "big old tree")],
    [f"das {noun} schläft" for noun in ("Hündchen", "Kätzchen", "Bäumchen")],
)


def rows_of(section: str) -> list[list[str]]:
    """The cells of the table in a section of the reference."""
    text = PAPER.read_text(encoding="utf-8").split(f"## {section}")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.skipif(not PAPER.is_file(), reason="no shared reference here")
def test_every_value_is_printed_in_the_paper():
    def number(cell):
        return float(cell.split(" ")[0].replace("K", "000")) if cell else None

    rows = rows_of("Table 2")
    assert [row[0] for row in rows] == [system.name for system in TABLE_2]
    for row, system in zip(rows, TABLE_2, strict=True):
        cells = [*(cell or None for cell in row[1:3]), *map(number, row[3:])]
        if system.name.startswith("Transformer"):
            cells[3] = cells[2]  # one figure across both columns
        assert cells == list(system[1:])

    rows = rows_of("Table 3")
    assert [row[0] for row in rows] == [row.name for row in TABLE_3]
    for row, printed in zip(rows, TABLE_3, strict=True):
        if printed.name == "E.learned":
            row[1] = ""  # said in words, across the columns
            row += [""] * (len(rows[0]) - len(row))
        if printed.name == "big":
            row[5:7] = "", ""  # d_k and d_v are blank in the paper
        left, right = list(printed[1:10]), list(printed[11:])
        assert [number(cell) for cell in row[1:]] == left + right

    rows = rows_of("Table 4")
    assert [(name, kind, float(f1)) for name, kind, f1 in rows] == list(TABLE_4)


def test_the_cost_of_the_transformers_is_time_times_devices_times_rate():
    costs = {system.name: system.cost_de for system in TABLE_2}
    base = table2.training_cost(hours=12.0, devices=8, rate=9.5e12)
    big = table2.training_cost(hours=3.5 * 24, devices=8, rate=9.5e12)
    assert f"{base:.1e}" == f"{costs['Transformer (base)']:.1e}"
    assert f"{big:.1e}" == f"{costs['Transformer (big)']:.1e}"


def test_the_big_models_second_figure_is_named():
    text = table2.printed()
    assert "41.8*" in text
    assert "41.0 in section 6.1" in text


def test_columns_are_aligned_and_blank_cells_stay_blank():
    assert markdown(("a", "b"), [("long name", "1.0"), ("x", "")]) == (
        "| a         |   b |\n| --------- | --: |\n| long name | 1.0 |\n| x         |     |"
    )


def test_the_papers_bleu_is_taken_where_all_runs_have_it():
    assert bleu_name([{"bleu": 1, "bleu_compound": 2}]) == "bleu_compound"
    assert bleu_name([{"bleu": 1, "bleu_compound": 2}, {"bleu": 1}]) == "bleu"


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "subword.model"
    return subword.train((text for side in PAIRS for text in side), path, 300)


# Two shapes, which a tiny model compiles in seconds.
TINY = TransformerConfig(512, num_layers=1, d_model=128, d_ff=256, num_heads=2, dropout_rate=0.0)


@pytest.fixture(scope="module")
def plan(vocabulary):
    return plan_training(
        translation.encode(vocabulary, PAIRS),
        num_shapes=1,
        tokens_per_batch=256,
        max_length=64,
        seed=0,
    )


def forward_flops(config, shape):
    """Two a multiplication and addition, of the products of matrices alone."""
    source, target = shape.rows * shape.source, shape.rows * shape.target
    d_model, width = config.d_model, config.num_heads * config.key_width
    projection = 2 * d_model * width
    encoder = source * (4 * projection + 4 * shape.source * width + 4 * d_model * config.d_ff)
    decoder = target * (4 * projection + 4 * shape.target * width + 4 * d_model * config.d_ff)
    cross = 2 * (source + target) * projection + 4 * target * shape.source * width
    softmax = 2 * target * d_model * config.vocab_size
    return config.num_layers * (encoder + decoder + cross) + softmax


def test_an_update_is_three_times_the_products_of_the_forward_pass(plan):
    """The backward pass has two products for each; the rest is a few per cent."""
    (shape,) = plan.shapes
    counted = table2.step_flops(Transformer(TINY), shape, 0.1)
    assert 1 < counted / (3 * forward_flops(TINY, shape)) < 1.06


def test_the_mean_update_weighs_each_shape_by_its_batches(plan, monkeypatch, vocabulary):
    plan = plan_training(
        translation.encode(vocabulary, PAIRS),
        num_shapes=2,
        tokens_per_batch=64,
        max_length=64,
        seed=0,
    )
    assert len(plan.shapes) == 2
    monkeypatch.setattr(table2, "step_flops", lambda model, shape, smoothing: float(shape.rows))
    batches = sum(plan.batches_per_epoch)
    # rows a batch times batches an epoch is the number of pairs
    mean = table2.mean_step_flops(quickstart.get_config().to_dict(), 300, plan)
    assert mean == pytest.approx(len(PAIRS.source) / batches)


@pytest.fixture
def workdir(tmp_path, vocabulary):
    """A run of 40 steps on PAIRS."""
    config = quickstart.get_config().to_dict()
    config["data"] |= {"corpus": "text", "directory": str(tmp_path / "corpus")}
    config["batch"] |= {"shapes": 1, "micro_batches": 2}
    (tmp_path / "corpus").mkdir()
    for name, side in (("train.en", PAIRS.source), ("train.de", PAIRS.target)):
        (tmp_path / "corpus" / name).write_text("\n".join(side) + "\n", encoding="utf-8")
    scores = {"bleu": 20.0, "bleu_compound": 21.5, "averaged_steps": [20, 40]}
    return write_run(tmp_path / "run", config, scores, vocabulary)


def write_run(path, config, scores, vocabulary):
    (path / "eval").mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (path / "eval" / "test.json").write_text(json.dumps(scores), encoding="utf-8")
    vocabulary.save(path / "subword.model")
    return path


def table_of(*paths):
    table2.run(argparse.Namespace(runs=list(map(str, paths))))


def test_a_run_has_its_bleu_and_the_cost_of_its_steps(workdir, monkeypatch, capsys):
    monkeypatch.setattr(table2, "step_flops", lambda model, shape, smoothing: 5e9)
    table_of(workdir)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if str(workdir) in line]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1].endswith("newstest2014.de")
    assert cells[2:] == ["21.50", "", "2.0e11", ""]


def test_a_run_whose_corpus_is_gone_has_no_cost_and_it_is_said_why(workdir, capsys):
    (workdir.parent / "corpus" / "train.en").unlink()
    table_of(workdir)
    out = capsys.readouterr().out
    assert f"No cost of {workdir}: cannot read" in out
    assert "| 21.50 |" in " ".join(out.split())


@pytest.mark.parametrize(
    ("section", "field", "value", "message"),
    [
        (None, "task", "parsing", "is a run of parsing"),
        ("data", "target_language", "cs", "translates into 'cs'"),
    ],
)
def test_a_run_without_a_column_is_refused(workdir, section, field, value, message):
    config = json.loads((workdir / "config.json").read_text(encoding="utf-8"))
    (config[section] if section else config)[field] = value
    (workdir / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        table_of(workdir)


def test_a_run_without_scores_is_one_line(workdir):
    (workdir / "eval" / "test.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot read the scores in .*test\.json"):
        table_of(workdir)
    (workdir / "eval" / "test.json").unlink()
    with pytest.raises(
        InputError, match=r"test\.json: No such file or directory; score it: python eval"
    ):
        table_of(workdir)
