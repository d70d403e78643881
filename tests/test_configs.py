"""Every configuration: complete, valid, and the paper's where it says so."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from ml_collections import ConfigDict

from configs import wmt14_ende_base
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
    config, base = load(name), wmt14_ende_base.get_config()
    assert config.name == name
    assert flat(config).keys() == flat(base).keys()
    for field, value in flat(base).items():
        if value is not None:
            assert type(flat(config)[field]) is type(value), field


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
