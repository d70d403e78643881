"""The README's map of the paper names places in the code; each of them must exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEADING = "## The paper, section by section"

CODE = re.compile(r"`([^`]+)`")
# `path.py`, `path.py: name` or `path.py: Class.method`
PLACE = re.compile(r"(?P<path>[\w./-]+\.py)(?:: (?P<name>\w+(?:\.\w+)*))?")
STARTS_LIKE_A_PLACE = re.compile(r"[\w./-]+\.py\b")


def section(markdown: str) -> str:
    """The text between HEADING and the next heading of its level."""
    lines = markdown.splitlines()
    if lines.count(HEADING) != 1:
        raise ValueError(f"README.md has {lines.count(HEADING)} sections {HEADING!r}: 1 is needed")
    body = lines[lines.index(HEADING) + 1 :]
    end = next((i for i, line in enumerate(body) if line.startswith("## ")), len(body))
    return "\n".join(body[:end])


def last_cells(text: str) -> list[str]:
    """The last column of the tables in the text, without their heads."""
    rows = [line.strip() for line in text.splitlines() if line.lstrip().startswith("|")]
    cells = [re.split(r"(?<!\\)\|", row.strip("|"))[-1].strip() for row in rows]
    rules = [i for i, cell in enumerate(cells) if re.fullmatch(r":?-+:?", cell)]
    heads = {i - 1 for i in rules} | set(rules)
    return [cell for i, cell in enumerate(cells) if i not in heads]


def places(markdown: str) -> list[tuple[str, str]]:
    """(path, name) of each place in the section; the name is "" for a whole file.

    ValueError for what can not be checked: no table, a row without a place, a place that is
    written in another way.
    """
    text = section(markdown)
    cells = last_cells(text)
    if not cells:
        raise ValueError(f"{HEADING!r} has no table")
    for cell in cells:
        codes = CODE.findall(cell)
        if not codes or not all(PLACE.fullmatch(code) for code in codes):
            raise ValueError(f"the last column needs places such as `path.py: name`, not: {cell}")
    found = []
    for code in CODE.findall(text):
        match = PLACE.fullmatch(code)
        if match:
            found.append((match["path"], match["name"] or ""))
        elif STARTS_LIKE_A_PLACE.match(code):
            raise ValueError(f"write `path.py`, `path.py: name` or `path.py: A.b`, not `{code}`")
    return found


def defines(source: str, name: str) -> bool:
    """Whether the source defines `name` at top level, or `Class.member` in the class."""
    body = ast.parse(source).body
    parts = name.split(".")
    for i, part in enumerate(parts):
        node = next((node for node in body if part in names(node)), None)
        if node is None:
            return False
        if i < len(parts) - 1:
            if not isinstance(node, ast.ClassDef):
                return False
            body = node.body
    return True


def names(node: ast.stmt) -> set[str]:
    """What a statement defines: a function, a class, or the variables it assigns."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return {
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def test_every_place_in_the_map_exists():
    missing = []
    for path, name in places((ROOT / "README.md").read_text("utf-8")):
        file = ROOT / path
        if not file.is_file():
            missing.append(f"no file {path}")
        elif name and not defines(file.read_text("utf-8"), name):
            missing.append(f"no {name} in {path}")
    assert not missing, "\n" + "\n".join(missing)


MAP = f"""# Title
`before.py`
{HEADING}
As `ops/loss.py` says; run `python train.py`.

| Paper | What \\| where | Place |
|---|---|---|
| 3.2.1 | eq. 1, `softmax` | `a/attention.py: attend`, `b.py: Model.encode` |
| 5.4 | dropout | `b.py` |

### Deeper
`c/deep.py: K`
## Next
`after.py`
"""


def test_the_map_is_read_place_by_place():
    assert places(MAP) == [
        ("ops/loss.py", ""),
        ("a/attention.py", "attend"),
        ("b.py", "Model.encode"),
        ("b.py", ""),
        ("c/deep.py", "K"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (HEADING, "## Another", "0 sections"),
        ("| `b.py` |", "| nowhere |", "nowhere"),
        ("| `b.py` |", "| `b.py: f()` |", r"b\.py: f\(\)"),
        ("| `b.py` |", "| `model` |", "`model`"),
        ("`c/deep.py: K`", "`c/deep.py:K`", r"c/deep\.py:K"),
        ("\n|", "\n", "no table"),
    ],
)
def test_what_can_not_be_checked_is_an_error(old, new, message):
    assert old in MAP
    with pytest.raises(ValueError, match=message):
        places(MAP.replace(old, new))


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        ("f", True),
        ("A", True),
        ("A.m", True),
        ("A.B.x", True),
        ("A.field", True),
        ("X", True),
        ("Y", True),
        ("Z", True),
        ("m", False),
        ("A.f", False),
        ("f.inner", False),
        ("os", False),
        ("A.m.n", False),
    ],
)
def test_names_are_looked_up_where_they_are_defined(name, defined):
    source = """
import os
X, Y = 1, 2
Z: int = 3
def f():
    def inner(): ...
class A:
    field: int
    def m(self): ...
    class B:
        x = 1
"""
    assert defines(source, name) == defined
