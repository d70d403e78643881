"""Every configuration: complete, valid, and the paper's where it says so."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from ml_collections import ConfigDict

from configs import table3, wmt14_ende_base, wsj_parsing
from transformer_jax.configuration import check_values, model_config
from transformer_jax.ops import noam_schedule

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "configs").glob("[!_]*.py"))


def load(name: str) -> ConfigDict:
    return importlib.import_module(f"configs.{name}").get_config()


def flat(config: ConfigDict) -> dict:
    """Field, with dots -> value."""
    fields = {}
    for name, value in config.items():
        inner = flat(value) if isinstance(value, ConfigDict) else {"": value}
        fields |= {f"{name}.{field}".rstrip("."): value for field, value in inner.items()}
    return fields


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_is_named_as_its_file_and_has_the_fields_of_the_base(name):
    config = load(name)
    base = wsj_parsing if config.task == "parsing" else wmt14_ende_base
    ours, theirs = flat(config), flat(base.get_config())
    assert config.name.split("/")[0] == name  # table3 has a name for each row
    assert ours.keys() == theirs.keys()
    for field, value in theirs.items():
        if value is not None:
            assert type(ours[field]) is type(value), field


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_has_values_that_a_run_can_have(name):
    config = load(name).to_dict()
    check_values(config)
    assert model_config(config, config["subword"]["vocab_size"]).num_layers >= 1
    assert config["checkpoint"]["average"] <= config["checkpoint"]["keep"]
    assert config["checkpoint"]["every_steps"] or config["checkpoint"]["every_minutes"]


def test_a_configuration_is_made_anew_for_everyone():
    wmt14_ende_base.get_config().model.num_layers = 1
    assert wmt14_ende_base.get_config().model.num_layers == 6


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_field_is_an_error_in_the_line_that_sets_it(name):
    config = load(name)
    with pytest.raises(AttributeError, match=r'Did you mean "num_layers" instead of "num_layer"'):
        config.model.num_layer = 3


# Section 5 and 6.1 and the rows "base" and "big" of Table 3; English-French has 32,000 subwords
# (5.1) and, for big, dropout 0.1 (6.1).
PAPER = {
    "subword.vocab_size": 37_000,
    "batch.tokens": 25_000,
    "steps": 100_000,
    "model.num_layers": 6,
    "model.d_model": 512,
    "model.d_ff": 2048,
    "model.num_heads": 8,
    "model.dropout_rate": 0.1,
    "model.positions": "sinusoidal",
    "model.norm": "post",
    "loss.label_smoothing": 0.1,
    "optimizer.b1": 0.9,
    "optimizer.b2": 0.98,
    "optimizer.eps": 1e-9,
    "optimizer.clip_norm": None,
    "optimizer.warmup_steps": 4000,
    "optimizer.factor": 1.0,
    "optimizer.peak": None,
    "search.beam_size": 4,
    "search.length_penalty": 0.6,
    "search.extra_length": 50,
    "checkpoint.every_minutes": 10.0,
    "checkpoint.average": 5,
}
BIG = {
    "steps": 300_000,
    "model.d_model": 1024,
    "model.d_ff": 4096,
    "model.num_heads": 16,
    "model.dropout_rate": 0.3,
    "checkpoint.average": 20,
}
FRENCH = {"subword.vocab_size": 32_000, "data.target_language": "fr"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wmt14_ende_base", PAPER),
        ("wmt14_ende_big", PAPER | BIG),
        ("wmt14_enfr_base", PAPER | FRENCH),
        ("wmt14_enfr_big", PAPER | BIG | FRENCH | {"model.dropout_rate": 0.1}),
    ],
)
def test_base_and_big_are_the_papers(name, expected):
    fields = flat(load(name))
    assert {field: fields[field] for field in expected} == expected
    model = model_config(load(name).to_dict(), expected["subword.vocab_size"])
    assert model.key_width == model.value_width == 64


@pytest.mark.parametrize("name", ["wmt14_ende_base", "wmt14_ende_big"])
def test_the_learning_rate_rises_until_step_4000(name):
    """Its peak is (d_model * 4000)^-0.5, about 7e-4 for base."""
    config = load(name)
    schedule = noam_schedule(
        config.model.d_model, config.optimizer.warmup_steps, config.optimizer.factor
    )
    rates = [float(schedule(update - 1)) for update in (3999, 4000, 4001)]
    assert rates[0] < rates[1] > rates[2]
    assert rates[1] == pytest.approx((config.model.d_model * 4000) ** -0.5, rel=1e-6)


ROWS = [*table3.ROWS, "local.r1", "local.r16"]


@pytest.mark.parametrize("size", table3.SIZES)
@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_table_3_is_a_run_that_can_be_made(row, size):
    config = table3.get_config(f"{row},size={size}").to_dict()
    assert config["name"] == f"table3/{size}/{row}"
    check_values(config)
    model = model_config(config, config["subword"]["vocab_size"])
    assert model.key_width >= 2
    assert config["checkpoint"]["average"] <= config["checkpoint"]["keep"]


@pytest.mark.parametrize("size", table3.SIZES)
@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_table_3_changes_in_base_what_its_line_says(row, size):
    base = flat(table3.get_config(f"base,size={size}"))
    found = flat(table3.get_config(f"{row},size={size}"))
    changed = {field for field in base if base[field] != found[field]}
    local = {"model.neighbourhood"} if row.startswith("local") else set()
    assert changed == {"name", *table3.ROWS.get(row, local)} - (
        {"name"} if row == "base" else set()
    )


def test_the_paper_size_of_base_and_big_is_the_papers():
    for row, name in (("base", "wmt14_ende_base"), ("big", "wmt14_ende_big")):
        paper, expected = flat(table3.get_config(row)), flat(load(name))
        expected |= {"name": f"table3/paper/{row}", "checkpoint.average": 1}
        assert paper == expected


# Base's 512, 2048, 64, 6 and 100,000 in each size; heads, rates and r are never scaled.
@pytest.mark.parametrize(
    ("row", "small", "text"),
    [
        ("base", (128, 512, 8, 16, 16, 3, 3000), (256, 1024, 8, 32, 32, 3, 20_000)),
        ("A.h1", (128, 512, 1, 128, 128, 3, 3000), (256, 1024, 1, 256, 256, 3, 20_000)),
        ("A.h32", (128, 512, 32, 4, 4, 3, 3000), (256, 1024, 32, 8, 8, 3, 20_000)),
        ("B.dk16", (128, 512, 8, 4, 16, 3, 3000), (256, 1024, 8, 8, 32, 3, 20_000)),
        ("C.N2", (128, 512, 8, 16, 16, 1, 3000), (256, 1024, 8, 32, 32, 1, 20_000)),
        ("C.N8", (128, 512, 8, 16, 16, 4, 3000), (256, 1024, 8, 32, 32, 4, 20_000)),
        ("C.d256", (64, 512, 8, 8, 8, 3, 3000), (128, 1024, 8, 16, 16, 3, 20_000)),
        ("C.ff1024", (128, 256, 8, 16, 16, 3, 3000), (256, 512, 8, 32, 32, 3, 20_000)),
        ("big", (256, 1024, 16, 16, 16, 3, 9000), (512, 2048, 16, 32, 32, 3, 60_000)),
    ],
)
def test_sizes_scale_widths_and_depths_of_base_and_of_the_row(row, small, text):
    for size, expected in (("small", small), ("text", text)):
        config = table3.get_config(f"{row},size={size}").to_dict()
        model = model_config(config, 2000)
        widths = (model.d_model, model.d_ff, model.num_heads, model.key_width, model.value_width)
        assert (*widths, model.num_layers, config["steps"]) == expected


@pytest.mark.parametrize(("size", "rate"), [("small", 0.00175), ("text", 1e-3)])
def test_the_rate_of_a_row_is_the_recipes_at_bases_width_and_follows_the_width(size, rate):
    def peak(row):
        config = table3.get_config(f"{row},size={size}")
        assert config.optimizer.peak is None
        warmup = config.optimizer.warmup_steps
        schedule = noam_schedule(config.model.d_model, warmup, config.optimizer.factor)
        return float(schedule(warmup - 1))

    assert peak("base") == pytest.approx(rate, rel=0.01)
    assert peak("C.d1024") == pytest.approx(peak("base") / 2**0.5, rel=1e-6)
    assert peak("C.d256") == pytest.approx(peak("base") * 2**0.5, rel=1e-6)


@pytest.mark.parametrize("argument", ["A.h3", "", "local.r", "local.r0", "a.h1,size=small"])
def test_an_unknown_row_of_table_3_is_an_error_that_lists_the_rows(argument):
    with pytest.raises(ValueError, match=r"^no row '.*give base, A\.h1, .* or local\.rR$"):
        table3.get_config(argument)


@pytest.mark.parametrize("option", ["small", "size=", "size=tiny", "sizes=small", "size=small,x"])
def test_an_unknown_size_of_table_3_is_an_error_that_lists_the_sizes(option):
    with pytest.raises(ValueError, match=r"give size= and paper, small or text$"):
        table3.get_config(f"base,{option}")


def test_what_differs_from_the_base_is_where_and_what_the_files_are():
    """English-French base is English-German base but for the corpus and its vocabulary."""
    base, french = flat(load("wmt14_ende_base")), flat(load("wmt14_enfr_base"))
    changed = {field for field in base if base[field] != french[field]}
    assert all(field.split(".")[0] in ("name", "data", "subword") for field in changed)


def test_configurations_import_nothing_of_the_package():
    program = (
        f"import sys, {', '.join(f'configs.{name}' for name in NAMES)};"
        "print(*[m for m in ('transformer_jax', 'jax', 'flax') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == []


def test_parsing_is_the_base_but_for_what_section_6_3_and_the_authors_code_say():
    parsing, base = flat(wsj_parsing.get_config()), flat(wmt14_ende_base.get_config())
    changed = {
        field: parsing[field]
        for field in parsing
        if not field.startswith(("name", "task", "data.")) and parsing[field] != base[field]
    }
    assert changed == {
        "subword.vocab_size": 16_384,
        "batch.max_length": 512,
        "model.num_layers": 4,
        "model.d_model": 1024,
        "model.dropout_rate": 0.2,
        "model.attention_dropout_rate": 0.2,
        "optimizer.factor": 0.5,
        "optimizer.warmup_steps": 16_000,
        "search.beam_size": 21,
        "search.length_penalty": 0.3,
        "search.extra_length": 300,
        "search.tokens_per_batch": 256,
    }


@pytest.mark.parametrize("variant", wsj_parsing.VARIANTS)
def test_every_variant_of_parsing_is_valid_and_semi_supervised_has_two_corpora(variant):
    config = wsj_parsing.get_config(variant).to_dict()
    check_values(config)
    assert bool(config["data"]["more"]["trees"]) == (variant == "semi")
    assert config["subword"]["vocab_size"] == {"": 2**14, "semi": 2**15, "small": 8000}[variant]
    warmup = {"": 16_000, "semi": 4000, "small": 800}[variant]
    assert config["optimizer"]["warmup_steps"] == warmup
    if variant == "semi":
        model, search = config["model"], config["search"]
        assert model["dropout_rate"] == model["attention_dropout_rate"] == 0.1
        found = [search[name] for name in ("beam_size", "length_penalty", "extra_length")]
        assert found == [21, 0.3, 300]


def test_an_unknown_variant_of_parsing_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no variant 'large'.*:semi, :small"):
        wsj_parsing.get_config("large")
