"""Trees to test with."""

import random

from transformer_jax.text.tree import Tree, iterate_trees

LABELS = {"S", "NP", "VP", "PP", "X"}
TAGS = ["DT", "NN", ".", ",", "-LRB-", "/", "<unk>"]
CAT = "(S (NP (DT The) (NN cat)) (VP (VBZ sits)) (. .))"


def parse_trees(text: str, name: str) -> list[Tree]:
    return list(iterate_trees(text.split("\n"), name))


def tree_of(text: str) -> Tree:
    (tree,) = parse_trees(text, "text")
    return tree


def random_tree(generator: random.Random, tag_set: list[str], depth: int = 6) -> Tree:
    """Unary chains and children with the label of their parent included."""
    if depth == 0 or generator.random() < 0.4:
        return Tree(generator.choice(tag_set), word=generator.choice(["a", "b", ",", "(x)", "."]))
    count = generator.choice([1, 1, 2, 3])
    children = tuple(random_tree(generator, tag_set, depth - 1) for _ in range(count))
    return Tree(generator.choice(sorted(LABELS)), children)


def random_trees(count: int, tag_set: list[str] = TAGS) -> list[Tree]:
    generator = random.Random(0)
    return [random_tree(generator, tag_set) for _ in range(count)]
