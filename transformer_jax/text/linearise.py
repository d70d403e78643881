"""Trees as token sequences and back: parsing as translation (section 6.3).

`linearise` writes a tree as the sequence that the decoder learns to emit, `restore` makes a tree
of whatever it emits. The source is the tree's words. The form of the sequence is that of the
paper's code (tensor2tensor, `data_generators/wsj_parsing.py`), after Vinyals & Kaiser et al.
(2014).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from transformer_jax.errors import InputError
from transformer_jax.text.tree import Tree, walk

_ROOT = "S"
_UNBRACKETABLE = "X"  # the Penn Treebank's label of what is unknown or unbracketable

# Tags of the words that the model left without one. Those of punctuation are kept apart because
# EVALB deletes words by their tags: with a wrong one the sentence would not be scored at all.
# A hyphen is not here: between the parts of a word it is HYPH, elsewhere a dash.
_TAG_OF_MOST_WORDS = "NN"
_TAG_OF_PUNCTUATION = {
    **{mark: mark for mark in (",", ".", ":", "``", "''", "-LRB-", "-RRB-", "#", "$")},
    **dict.fromkeys(("?", "!"), "."),
    **dict.fromkeys((";", "--", "..."), ":"),
    **dict.fromkeys(("[", "{", "-LSB-", "-LCB-"), "-LRB-"),
    **dict.fromkeys(("]", "}", "-RSB-", "-RCB-"), "-RRB-"),
    **{"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"},
}
_PUNCTUATION_TAGS = set(_TAG_OF_PUNCTUATION.values())


def linearise(tree: Tree) -> list[str]:
    """The tree without its words, as the tokens that the decoder learns to emit.

    A constituent is its label, its children and a closing `/LABEL`; a preterminal is its tag
    alone. `(S (NP (DT The) (NN cat)) (VP (VBZ sits)) (. .))` becomes
    `S NP DT NN /NP VP VBZ /VP . /S`, and a tree that is one preterminal its tag.

    tensor2tensor drops the outermost label whatever it is; here `iterate_trees` has taken off
    the wrapper, and a TOP that it kept, over several constituents, is a label like the others.
    """
    tokens = []
    for node, opens in walk(tree):
        tokens.append(node.label if opens else f"/{node.label}")
    return tokens


class Restored(NamedTuple):
    """What `restore` made of a sequence of tokens."""

    tree: Tree
    repaired: bool
    """Whether the tokens were no linearised tree over these words, so that a rule was applied."""


def restore(
    tokens: Iterable[str],
    words: Sequence[str],
    labels: Collection[str],
    tags_too: Collection[str] = (),
) -> Restored:
    """A tree over exactly `words`, in order, from any tokens; the inverse of `linearise`.

    `labels` are the labels of constituents, those with a closing in the training data. A token
    `/...` is a closing, a token in `labels` an opening, and any other a tag; the i-th tag belongs
    to the i-th word. Tokens and words contain no white space.

    `tags_too` are labels that the treebank has as tags as well (neither the Penn Treebank nor CRAFT
    has any). Such a token is an opening if a later closing needs it, otherwise a tag: a closing
    takes the nearest opening with content, the last one the first token. The restored tree then
    linearises to the same tokens; where no such tag occurs it is the same tree.

    What a model emits need not be a tree. `repaired` says whether any of these was needed:

    - a closing closes the nearest opening of its label, and with it the unclosed ones inside;
    - a closing without an opening is ignored;
    - what is left unclosed is closed at the end;
    - more or fewer tags than words: they are aligned so that punctuation meets its tags as far
      as it can. Tags left over are dropped. A word left over stands beside the word before it,
      tagged as punctuation if it is punctuation, otherwise NN; so is, in its place, a word whose
      tag is of other punctuation than the word, or of punctuation where the word is none, or of
      none where the word is punctuation;
    - constituents without a word are removed;
    - several roots are put into the first of them that is an S, or under a new S;
    - no constituents, or no tags at all: an X over the words.

    The alignment counts most: with one tag missing, CRAFT's trees keep an F1 of 78, and of 41 if
    the i-th tag goes to the i-th word all the same.

    Raises:
      InputError: there are no words. (A blank line has no tree: leave it out.)
    """
    if not words:
        raise InputError("cannot build a tree over no words: leave blank sentences out")
    roots, repaired = _skeleton(list(tokens), set(labels), set(tags_too))
    trees, complete = _with_words(roots, words)
    if not trees:
        rest = tuple(Tree(_default_tag(word), word=word) for word in words)
        return Restored(Tree(_UNBRACKETABLE, rest), True)
    if len(trees) == 1:
        return Restored(trees[0], repaired or not complete)
    if all(tree.word is not None for tree in trees):
        return Restored(Tree(_UNBRACKETABLE, tuple(trees)), True)
    for i, tree in enumerate(trees):
        if tree.label == _ROOT and tree.word is None:
            trees[i : i + 1] = tree.children
            break
    return Restored(Tree(_ROOT, tuple(trees)), True)


class _Node:
    """A part of a tree whose words are not known yet: a tag, or an opening with its children."""

    def __init__(self, label: str, children: "list[_Node] | None" = None):
        self.label = label
        self.children = children


def _skeleton(tokens: list[str], labels: set[str], tags_too: set[str]) -> tuple[list[_Node], bool]:
    """The roots of what the tokens describe, and whether brackets had to be mended."""
    repaired = False
    nodes: list[_Node] = []  # what is complete, and tags, between the openings that wait
    waiting: list[int] = []  # the places of those openings in `nodes`

    def close(depth: int, last_is_closed: bool) -> None:
        nonlocal repaired
        while len(waiting) > depth:
            place = waiting.pop()
            closed = last_is_closed and len(waiting) == depth
            if not closed and nodes[place].label in tags_too:
                continue  # it was a tag
            repaired |= not closed
            nodes[place].children = nodes[place + 1 :]
            del nodes[place + 1 :]

    for position, token in enumerate(tokens):
        if token.startswith("/") and len(token) > 1:
            last = position == len(tokens) - 1
            depth = _opening(token[1:], nodes, waiting, tags_too, is_last=last)
            if depth is None:
                repaired = True
            else:
                close(depth, True)
            continue
        if token in labels:
            waiting.append(len(nodes))
        nodes.append(_Node(token))
    close(0, False)
    return nodes, repaired


def _opening(
    label: str, nodes: list[_Node], waiting: list[int], tags_too: set[str], is_last: bool
) -> int | None:
    """The depth in `waiting` of the opening that a closing belongs to."""
    depths = [depth for depth, place in enumerate(waiting) if nodes[place].label == label]
    if label in tags_too:
        if is_last and depths[:1] == [0] and waiting[0] == 0 and len(nodes) > 1:
            return 0
        depths = [depth for depth in depths if 0 < waiting[depth] < len(nodes) - 1]
    return depths[-1] if depths else None


def _with_words(roots: list[_Node], words: Sequence[str]) -> tuple[list[Tree], bool]:
    """The trees over the words, and whether there was one word a tag and none was empty."""
    tags = [node.label for node, _ in _walk_nodes(roots) if node.children is None]
    pairs = _align(tags, words)
    complete = len(pairs) == len(tags) == len(words)
    # A tag takes its word and those left over after it; the first takes those before it too.
    starts = [0] + [place for _, place in pairs[1:]] + [len(words)]
    taken = {tag: range(starts[i], starts[i + 1]) for i, (tag, _) in enumerate(pairs)}
    # What the alignment could not bring together, it has shifted: the tag is of another word.
    trusted = {
        (tag, place)
        for tag, place in pairs
        if len(tags) == len(words) or _agreement(tags[tag], words[place]) >= 0
    }
    levels: list[list[Tree]] = [[]]
    tag = 0
    for node, opens in _walk_nodes(roots):
        if node.children is None:
            for i in taken.get(tag, ()):
                label = node.label if (tag, i) in trusted else _default_tag(words[i])
                levels[-1].append(Tree(label, word=words[i]))
            tag += 1
        elif opens:
            levels.append([])
        elif children := levels.pop():
            levels[-1].append(Tree(node.label, tuple(children)))
        else:
            complete = False
    return levels[0], complete


def _walk_nodes(roots: list[_Node]) -> Iterator[tuple[_Node, bool]]:
    """As `tree.walk`."""
    stack = [(root, True) for root in reversed(roots)]
    while stack:
        node, opens = stack.pop()
        yield node, opens
        if opens and node.children is not None:
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.children))


def _align(tags: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """Which tag belongs to which word: pairs in order, all of the fewer, the best agreement.

    Among equally good ones, those where what is left over comes as late as possible.
    """
    few, extra = min(len(tags), len(words)), abs(len(tags) - len(words))
    if not extra:
        return [(i, i) for i in range(few)]
    more_tags = len(tags) > len(words)

    def pair(i: int, j: int) -> tuple[int, int]:
        return (j, i) if more_tags else (i, j)

    # best[i][skipped]: the first i of the fewer, set among the first i + skipped of the others.
    best = [[0] * (extra + 1)]
    for i in range(few):
        row: list[int] = []
        for skipped in range(extra + 1):
            tag, word = pair(i, i + skipped)
            value = best[i][skipped] + _agreement(tags[tag], words[word])
            row.append(max(value, row[-1]) if row else value)
        best.append(row)
    pairs = []
    skipped = extra
    for i in reversed(range(few)):
        while skipped and best[i + 1][skipped] == best[i + 1][skipped - 1]:
            skipped -= 1
        pairs.append(pair(i, i + skipped))
    return pairs[::-1]


def _agreement(tag: str, word: str) -> int:
    """Punctuation is what shows which tag belongs to which word."""
    wanted = _TAG_OF_PUNCTUATION.get(word)
    if wanted is None:
        return -1 if tag in _PUNCTUATION_TAGS else 0
    return 1 if tag == wanted else -1


def _default_tag(word: str) -> str:
    return _TAG_OF_PUNCTUATION.get(word, _TAG_OF_MOST_WORDS)
