"""Penn-style bracketed trees: read, written, and stripped of traces and function tags."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer_jax import files
from transformer_jax.errors import InputError

# White space is ASCII's: a no-break space may be part of a word.
_TOKEN = re.compile(r"[()]|[^()\s]+", re.ASCII)

_WRAPPERS = {"", "TOP", "ROOT", "S1"}
_WRAPPER_OF_SEVERAL = "TOP"
_TRACE = "-NONE-"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A constituent with its children, or a preterminal: a tag with one word and no children.

    `str(tree)` is the tree in brackets on one line. A round bracket in a label or a word, which
    would make that line unreadable, is written -LRB- or -RRB- there.
    """

    label: str
    children: "tuple[Tree, ...]" = ()
    word: str | None = None

    # The methods that a dataclass would write recurse, and deep trees would not survive it.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and _flat(self) == _flat(other)

    def __hash__(self) -> int:
        return hash(tuple(_flat(self)))

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def __str__(self) -> str:
        parts = []
        for node, opens in walk(self):
            if node.word is not None:
                parts.append(f" ({_escaped(node.label)} {_escaped(node.word)})")
            else:
                parts.append(f" ({_escaped(node.label)}" if opens else ")")
        return "".join(parts)[1:]


def words(tree: Tree) -> list[str]:
    """The words from left to right: the source sentence."""
    return [node.word for node, _ in walk(tree) if node.word is not None]


def tags(tree: Tree) -> list[str]:
    """The part-of-speech tags, one a word."""
    return [node.label for node, _ in walk(tree) if node.word is not None]


def labels(tree: Tree) -> set[str]:
    """The labels of the constituents, tags not among them."""
    return {node.label for node, _ in walk(tree) if node.word is None}


def walk(tree: Tree) -> Iterator[tuple[Tree, bool]]:
    """Every constituent twice, (node, True) before and (node, False) after what is in it.

    A preterminal comes once.
    """
    stack = [(tree, True)]
    while stack:
        node, opens = stack.pop()
        yield node, opens
        if opens and node.word is None:
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.children))


def _flat(tree: Tree) -> list[tuple[str, str | None, bool]]:
    return [(node.label, node.word, opens) for node, opens in walk(tree)]


def _escaped(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def read_trees(path: str | Path) -> Iterator[Tree]:
    """The trees of a UTF-8 file, as `iterate_trees` reads them; a name that ends in `.gz` is gzip.

    Raises:
      InputError: as `iterate_trees`; the file is missing, unreadable, broken or not UTF-8.
    """
    return iterate_trees(files.read_lines(path), str(path))


def iterate_trees(lines: Iterable[str], name: str) -> Iterator[Tree]:
    r"""The trees of some lines, one by one: several may share a line, one may span several.

    - Wrapper: an outermost bracket labelled TOP, ROOT, S1 or not at all, as in `( (S ...))`, is
      taken off when it holds one constituent or preterminal. Holding several it stays, as TOP.
    - Words stay as they are written: -LRB- and -RRB- for round brackets, and the `\/` and `\*` of
      the Penn Treebank. Source sentences must be written in the same way.

    Raises:
      InputError: with `name` and the line: brackets do not match, a bracket is empty or has no
        label, holds two words, or a word beside a bracket; text outside brackets; no tree at all.
    """
    empty = True
    opened: list[_Bracket] = []
    number = 0
    after_opening = False
    for number, line in enumerate(lines, 1):
        for token in _TOKEN.findall(line):
            problem = None
            if token == "(":
                if opened and opened[-1].word is not None:
                    problem = f"a word beside a bracket in ({opened[-1].label} {opened[-1].word}"
                opened.append(_Bracket(number))
            elif not opened:
                problem = (
                    "a closing bracket without its opening one"
                    if token == ")"
                    else f"{token!r} stands outside brackets"
                )
            elif token == ")":
                bracket = opened.pop()
                problem = bracket.problem(outermost=not opened)
                if problem is None:
                    tree = Tree(bracket.label, tuple(bracket.children), bracket.word)
                    if opened:
                        opened[-1].children.append(tree)
                    else:
                        yield _unwrapped(tree)
                        empty = False
            elif after_opening:
                opened[-1].label = token
            elif opened[-1].children:
                problem = f"the word {token!r} beside a bracket in ({opened[-1].label} ...)"
            elif opened[-1].word is not None:
                problem = f"two words in one bracket: ({opened[-1].label} {opened[-1].word} {token}"
            else:
                opened[-1].word = token
            if problem:
                if opened and opened[0].line < number:
                    problem += f", in the tree that begins in line {opened[0].line}"
                raise InputError(f"{name}, line {number}: {problem}; a tree looks like {_EXAMPLE}")
            after_opening = token == "("
    if opened:
        raise InputError(
            f"{name}, line {opened[0].line}: the bracket ({opened[0].label} is not closed by the "
            f"end, line {number} ({len(opened)} closing brackets are missing); a tree looks like "
            f"{_EXAMPLE}"
        )
    if empty:
        raise InputError(f"{name}: there are no trees; a tree looks like {_EXAMPLE}")


_EXAMPLE = "(S (NP (DT The) (NN cat)) (VP (VBZ sits)))"


class _Bracket:
    """A bracket that is being read."""

    def __init__(self, line: int):
        self.line = line
        self.label = ""
        self.children: list[Tree] = []
        self.word: str | None = None

    def problem(self, outermost: bool) -> str | None:
        if not self.children and self.word is None:
            return f"the bracket ({self.label}) is empty"
        if not self.label and not (outermost and self.children):
            return "a bracket has no label"
        return None


def _unwrapped(tree: Tree) -> Tree:
    while tree.label in _WRAPPERS and len(tree.children) == 1:
        tree = tree.children[0]
    wraps_several = tree.label in _WRAPPERS and tree.children
    return Tree(_WRAPPER_OF_SEVERAL, tree.children) if wraps_several else tree


def strip(tree: Tree) -> Tree | None:
    """The tree as parsers learn it: without traces, function tags and indices.

    Traces are the preterminals tagged -NONE-, and the constituents that hold nothing else. Labels
    and tags end at their first `-` or `=`, so NP-SBJ-1 and NP=2 become NP, unless they begin with
    it, as -LRB- does. None when nothing is left.
    """
    levels: list[list[Tree]] = [[]]
    for node, opens in walk(tree):
        label = node.label[:1] + re.split("[-=]", node.label[1:])[0]
        if node.label.startswith("-"):
            label = node.label
        if node.word is not None:
            if node.label != _TRACE:
                levels[-1].append(Tree(label, word=node.word))
        elif opens:
            levels.append([])
        else:
            children = levels.pop()
            if children:
                levels[-1].append(Tree(label, tuple(children)))
    return _unwrapped(levels[0][0]) if levels[0] else None
