"""What the package offers by its front door."""

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import transformer_jax
from transformer_jax import ops

ROOT = Path(__file__).parents[1]


def test_the_translator_is_at_the_front_door():
    from transformer_jax import Translator
    from transformer_jax.translator import Translator as same

    assert Translator is same
    assert "Translator" in transformer_jax.__all__


def test_an_unknown_name_is_an_error_that_says_it():
    with pytest.raises(AttributeError, match=r"'transformer_jax' has no attribute 'Translater'"):
        transformer_jax.Translater  # noqa: B018
    with pytest.raises(ImportError, match="Translater"):
        from transformer_jax import Translater  # noqa: F401


def test_the_pure_functions_bring_no_linen_data_code_or_flags():
    heavy = ["absl", "flax", "grain", "ml_collections", "orbax", "sacrebleu", "sentencepiece"]
    program = (
        "import sys; from transformer_jax.ops import beam_search, attention;"
        f"print(*[m for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (found.stdout.split(), found.stderr) == ([], "")


def test_every_name_of_ops_is_there_and_attention_is_its_module():
    from transformer_jax.ops import attention, beam_search

    assert callable(beam_search)
    assert isinstance(attention, ModuleType)
    assert attention.scaled_dot_product_attention is ops.scaled_dot_product_attention
    for name in ops.__all__:
        assert callable(getattr(ops, name))


def test_type_checkers_find_the_types():
    """PEP 561: an empty `py.typed` is installed with the package."""
    marker = Path(transformer_jax.__file__).with_name("py.typed")
    assert marker.read_text("utf-8") == ""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "py.typed" in settings["tool"]["setuptools"]["package-data"]["transformer_jax"]
