"""The import order of the house, read from the source: `A < B` says that B may import A.

ops < model < {inference, training} < top      (arrays)
text, scoring < data < tasks < top             (text)

`batch`, `errors`, `files`, `memory` and `sharding` are leaves. The two columns never import each
other.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "transformer_jax"

# Which rooms of the package a room may import beside itself.
MAY_IMPORT = {
    "errors": set(),
    "batch": set(),
    "sharding": {"errors"},
    "memory": set(),
    "files": {"errors"},
    "ops": set(),
    "model": {"ops", "batch", "errors"},  # not sharding: the model does not know the mesh
    "inference": {"model", "ops", "sharding", "batch", "errors"},
    "training": {"model", "ops", "sharding", "batch", "errors"},
    "text": {"batch", "errors", "files"},
    "scoring": {"batch", "errors", "files"},
    "data": {"text", "scoring", "batch", "errors", "files"},
    "tasks": {"data", "text", "scoring", "batch", "errors"},
}
TOP = {"__init__", "configuration", "workdir", "translator", "evaluation", "paper"}
for top_room in TOP:
    MAY_IMPORT[top_room] = set(MAY_IMPORT) | TOP
PROGRAMS = {"train.py", "eval.py"}

# Rooms that may import these packages only, beside the standard library.
ONLY_PACKAGES = {
    "errors": set(),
    "batch": {"numpy", "jaxtyping"},
    "sharding": {"jax", "numpy", "jaxtyping"},
    "memory": {"jax"},
    "files": set(),
    "ops": {"jax", "numpy", "jaxtyping"},
    "configs": {"ml_collections"},
}
TEXT_COLUMN = {"text", "scoring", "data", "tasks"}
ARRAY_PACKAGES = {"jax", "jaxlib", "flax", "optax", "orbax"}
CHECKPOINT = f"{PACKAGE}/training/checkpoint.py"
PIPELINE = f"{PACKAGE}/data/pipeline.py"


def room_of_file(path: str) -> str:
    """`transformer_jax/ops/loss.py` -> "ops"; train.py, eval.py and configs have their own names.

    `path` is relative to the root of the repository.
    """
    parts = Path(path).parts
    if parts[0] == PACKAGE:
        return parts[1].removesuffix(".py")
    return parts[0]


def room_of_module(module: str) -> str:
    """`transformer_jax.ops.loss` -> "ops"; the package itself is "__init__"."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything imported, also inside functions.

    `from a import b` gives `a.b`, whether `b` is a module or a name in `a`.
    """
    package = list(Path(path).parts[:-1])
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            for alias in node.names:
                yield node.lineno, ".".join([*base, alias.name])


def objection(path: str, module: str) -> str | None:
    """Why the file may not import `module`, or None."""
    room = room_of_file(path)
    package = module.split(".")[0]
    if package in sys.stdlib_module_names:
        return None
    if room not in {*MAY_IMPORT, *PROGRAMS, "configs"}:
        return f"{room} is no room of the package: give it one in {Path(__file__).name}"
    if package == PACKAGE:
        if room == "configs":
            return "a config imports ml_collections and other configs only"
        if room in PROGRAMS:
            return None
        target = room_of_module(module)
        if target not in MAY_IMPORT:
            target = "__init__"  # a name taken from the package itself, or no room
        if target == room or target in MAY_IMPORT[room]:
            return None
        allowed = ", ".join(sorted(MAY_IMPORT[room])) or "nothing"
        return f"{room} may import {allowed} of the package"
    if package == "configs":
        if room in PROGRAMS or room == "configs":
            return None
        return "configs are not part of the installed package"
    if package in {"train", "eval"}:
        return "programs are run, not imported"
    if room in ONLY_PACKAGES and package not in ONLY_PACKAGES[room]:
        allowed = ", ".join(sorted(ONLY_PACKAGES[room])) or "nothing"
        return f"beside the standard library {room} imports {allowed} only"
    if package == "orbax" and path != CHECKPOINT:
        return f"only {CHECKPOINT} imports orbax"
    if room in TEXT_COLUMN and package in ARRAY_PACKAGES:
        return f"{room} belongs to the text column, which does not use JAX"
    if room in TEXT_COLUMN and package == "grain" and path != PIPELINE:
        return f"in the text column only {PIPELINE} imports grain"
    return None


def violations(path: str, source: str) -> list[str]:
    """One line for each import that runs the wrong way: `file:line imports module: why not`."""
    found = []
    for line, module in imports(path, source):
        reason = objection(path, module)
        if reason:
            found.append(f"{path}:{line} imports {module}: {reason}")
    return found


def files() -> list[str]:
    """Every Python file that the rule is about, relative to the root."""
    paths = [*ROOT.glob(f"{PACKAGE}/**/*.py"), *ROOT.glob("configs/**/*.py")]
    paths += [ROOT / program for program in PROGRAMS if (ROOT / program).exists()]
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def test_every_import_follows_the_layers():
    found = [
        line for path in files() for line in violations(path, (ROOT / path).read_text("utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


def test_every_module_of_the_package_belongs_to_a_room():
    homeless = [
        path
        for path in files()
        if path.startswith(f"{PACKAGE}/") and room_of_file(path) not in MAY_IMPORT
    ]
    assert not homeless, f"name their room in {Path(__file__).name}: {', '.join(homeless)}"


def test_the_order_has_no_cycle_below_the_top():
    rooms = {room: below for room, below in MAY_IMPORT.items() if room not in TOP}
    while rooms:
        ground = {room for room, below in rooms.items() if not below & rooms.keys()}
        assert ground, f"these rooms import each other in a circle: {sorted(rooms)}"
        rooms = {room: below for room, below in rooms.items() if room not in ground}


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("transformer_jax/ops/loss.py", "import flax.linen as nn"),
        ("transformer_jax/ops/loss.py", "import optax"),
        ("transformer_jax/ops/loss.py", "from transformer_jax.errors import InputError"),
        ("transformer_jax/ops/loss.py", "from ..model import layers"),
        ("transformer_jax/model/layers.py", "from transformer_jax import sharding"),
        ("transformer_jax/model/layers.py", "from transformer_jax.training.state import State"),
        ("transformer_jax/inference.py", "from transformer_jax.training import state"),
        ("transformer_jax/inference.py", "from .text import subword"),
        ("transformer_jax/training/loop.py", "from transformer_jax.inference import translate"),
        ("transformer_jax/training/loop.py", "import transformer_jax.data.pipeline"),
        ("transformer_jax/training/loop.py", "from transformer_jax import Translator"),
        ("transformer_jax/training/loop.py", "from orbax import checkpoint"),
        ("transformer_jax/training/loop.py", "from configs import quickstart"),
        ("transformer_jax/text/subword.py", "from transformer_jax.scoring.bleu import bleu"),
        ("transformer_jax/scoring/bleu.py", "from transformer_jax.data import sources"),
        ("transformer_jax/data/batching.py", "def f():\n    import jax.numpy as jnp"),
        ("transformer_jax/data/batching.py", "import grain"),
        ("transformer_jax/data/sources.py", "from transformer_jax.tasks import translation"),
        ("transformer_jax/tasks/parsing.py", "from transformer_jax.ops import loss"),
        ("transformer_jax/tasks/parsing.py", "import flax"),
        ("transformer_jax/batch.py", "import jax"),
        ("transformer_jax/sharding.py", "import flax"),
        ("transformer_jax/sharding.py", "from transformer_jax.model.config import C"),
        ("transformer_jax/errors.py", "import numpy"),
        ("transformer_jax/paper/table3.py", "import orbax.checkpoint as ocp"),
        ("transformer_jax/translator.py", "import train"),
        ("configs/table3.py", "import transformer_jax"),
        ("configs/table3.py", "import jax"),
        ("transformer_jax/attic.py", "from transformer_jax.errors import InputError"),
        ("transformer_jax/model/layers.py", "from transformer_jax.attic import f"),
        ("train.py", "import orbax.checkpoint"),
    ],
)
def test_a_wrong_arrow_is_reported_with_its_line(path, statement):
    found = violations(path, "\n\n" + statement)
    line = 3 + statement.count("\n")
    assert len(found) == 1
    assert found[0].startswith(f"{path}:{line} imports ")


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("transformer_jax/ops/loss.py", "import math\nimport jax.numpy as jnp\nimport numpy"),
        ("transformer_jax/ops/beam_search.py", "from jaxtyping import Float"),
        ("transformer_jax/ops/__init__.py", "from transformer_jax.ops.loss import nll"),
        ("transformer_jax/ops/__init__.py", "from .loss import nll"),
        ("transformer_jax/model/layers.py", "import flax\nfrom ..ops.attention import attention"),
        ("transformer_jax/inference.py", "from transformer_jax import sharding"),
        ("transformer_jax/training/checkpoint.py", "import orbax.checkpoint as ocp"),
        ("transformer_jax/data/pipeline.py", "import grain"),
        ("transformer_jax/data/sources.py", "from transformer_jax.text.tree import Tree"),
        ("transformer_jax/tasks/parsing.py", "from transformer_jax.scoring import bracket"),
        ("transformer_jax/translator.py", "from transformer_jax import inference, tasks"),
        ("transformer_jax/paper/__main__.py", "from transformer_jax import Translator"),
        ("configs/table3.py", "import ml_collections\nfrom configs import wmt14_ende_base"),
        ("train.py", "import jax\nfrom absl import app\nfrom transformer_jax.data import pipeline"),
    ],
)
def test_a_right_arrow_is_not_reported(path, statement):
    assert violations(path, statement) == []


def test_importing_the_package_alone_is_light():
    heavy = ["flax", "grain", "jax", "orbax", "sacrebleu", "tensorflow_datasets"]
    program = f"import sys, {PACKAGE}; print(*[m for m in {heavy} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == []
