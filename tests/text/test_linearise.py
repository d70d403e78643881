import random
from pathlib import Path

import pytest

from tests.text.trees import CAT, LABELS, TAGS, random_trees, tree_of
from transformer_jax.errors import InputError
from transformer_jax.text.linearise import linearise, restore
from transformer_jax.text.tree import iterate_trees, labels, strip, tags, words

TREEBANK = Path(__file__).parents[2].parent / "shared" / "data" / "craft_penn"
needs_treebank = pytest.mark.skipif(not TREEBANK.is_dir(), reason="no shared treebank here")


def test_a_tree_is_linearised_as_in_tensor2tensor():
    tokens = "S NP DT NN /NP VP VBZ /VP . /S"
    assert " ".join(linearise(tree_of(f"(TOP {CAT})"))) == tokens
    assert linearise(tree_of("(TOP (NN cat))")) == ["NN"]


def test_linearised_trees_are_restored():
    for tree in random_trees(3000):
        assert restore(linearise(tree), words(tree), LABELS) == (tree, False)


def test_with_tags_that_are_labels_too_the_tokens_are_restored():
    for tree in random_trees(1000, ["NP", "X", "NN"]):
        again, repaired = restore(linearise(tree), words(tree), LABELS, tags_too={"NP", "X"})
        assert (linearise(again), words(again), repaired) == (linearise(tree), words(tree), False)


@pytest.mark.parametrize("text", ["(X (X a))", "(X (X a) (X b))", "(S (X a) (X (NN b)) (NP c))"])
def test_a_tag_that_is_a_label_too_is_told_from_an_opening(text):
    tree = tree_of(text)
    assert restore(linearise(tree), words(tree), LABELS, tags_too={"X", "NP"}) == (tree, False)


def test_deep_trees_do_not_exhaust_the_stack():
    tree = tree_of("(X " * 3000 + "(A a)" + ")" * 3000)
    assert restore(linearise(tree), ["a"], {"X"}) == (tree, False)


@needs_treebank
@pytest.mark.parametrize(("name", "step"), [("dev.mrg", 10), ("train.mrg", 50)])
def test_trees_of_a_treebank_are_restored(name, step):
    lines = (TREEBANK / name).read_text(encoding="utf-8").split("\n")[:-1][::step]
    trees = list(iterate_trees(lines, name))
    phrases = set().union(*map(labels, trees))
    assert not phrases & {tag for tree in trees for tag in tags(tree)}
    for line, tree in zip(lines, trees, strict=True):
        assert f"(TOP {tree})" == line
        assert strip(tree) == tree
        assert restore(linearise(tree), words(tree), phrases) == (tree, False)


# Repairs


def test_any_tokens_give_a_tree_over_the_words_that_is_itself_in_order():
    generator = random.Random(1)
    tokens = [*LABELS, *TAGS, *(f"/{label}" for label in LABELS), "/QP", "", "(", ")", "//"]
    for trial in range(1500):
        sentence = generator.choices(["a", ",", "."], k=generator.randrange(1, 8))
        emitted = generator.choices(tokens, k=generator.randrange(20))
        tags_too = {"X", "NP"} if trial % 2 else set()
        tree, repaired = restore(emitted, sentence, LABELS, tags_too)
        assert words(tree) == sentence
        assert repaired == (linearise(tree) != emitted)
        if not tags_too:
            assert restore(linearise(tree), sentence, LABELS) == (tree, False)


REPAIRS = {
    "a closing closes what is open inside": (
        ("S NP NN VP VB /S", "a b", "(S (NP (NN a) (VP (VB b))))"),
        ("S NP NP NN /NP VB /S", "a b", "(S (NP (NP (NN a)) (VB b)))"),
    ),
    "a closing without an opening is ignored": (
        ("S NN /VP VB /S", "a b", "(S (NN a) (VB b))"),
        ("S NN /QP VB /S", "a b", "(S (NN a) (VB b))"),
    ),
    "the end closes what is open": (
        ("S NP NN VB", "a b", "(S (NP (NN a) (VB b)))"),
        ("S NP NN /NP VP VB", "a b", "(S (NP (NN a)) (VP (VB b)))"),
    ),
    "tags left over are dropped": (
        ("S NP NN /NP VP VB VB /VP /S", "a b", "(S (NP (NN a)) (VP (VB b)))"),
        ("S DT NN , VB . /S", "a , b .", "(S (DT a) (, ,) (VB b) (. .))"),
    ),
    "words left over stand beside the word before": (
        ("S NP DT /NP VP VB /VP . /S", "a b c .", "(S (NP (DT a)) (VP (VB b) (NN c)) (. .))"),
        ("S NP DT /NP . /S", "a b .", "(S (NP (DT a) (NN b)) (. .))"),
        ("S NP , NN /NP /S", "a , b", "(S (NP (NN a) (, ,) (NN b)))"),
        ("S NP NN /NP /S", "a ; ?", "(S (NP (NN a) (: ;) (. ?)))"),
    ),
    "a tag that missed its word gives way": (
        ("S NN VB NN /S", "a .", "(S (NN a) (. .))"),
        ("S NP , /NP /S", "a [", "(S (NP (NN a) (-LRB- [)))"),
        ("S NN HYPH /S", "-", "(S (NN -))"),
    ),
    "constituents without a word are removed": (
        ("S NP /NP NN VP /VP /S", "a", "(S (NN a))"),
        ("S NN VP VB /VP /S", "a", "(S (NN a))"),
    ),
    "several roots are put under one S": (
        ("NP NN /NP VP VB /VP", "a b", "(S (NP (NN a)) (VP (VB b)))"),
        ("NN S VB /S .", "a b .", "(S (NN a) (VB b) (. .))"),
    ),
    "without constituents or tags there is an X over the words": (
        ("NN VB", "a b", "(X (NN a) (VB b))"),
        ("NN", "a .", "(X (NN a) (. .))"),
        ("", "a , b", "(X (NN a) (, ,) (NN b))"),
        ("S NP /NP /S", "a", "(X (NN a))"),
    ),
}


@pytest.mark.parametrize("rule", REPAIRS)
def test_repair(rule):
    for tokens, sentence, tree in REPAIRS[rule]:
        restored = restore(tokens.split(), sentence.split(), LABELS)
        assert str(restored.tree) == tree
        assert restored.repaired
        assert words(restored.tree) == sentence.split()


def test_without_words_there_is_no_tree():
    with pytest.raises(InputError, match="no words"):
        restore(["S", "NN", "/S"], [], LABELS)
