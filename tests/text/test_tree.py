import gzip

import pytest

from tests.text.trees import CAT, parse_trees, random_trees, tree_of
from transformer_jax.errors import InputError
from transformer_jax.text.tree import (
    Tree,
    iterate_trees,
    labels,
    read_trees,
    strip,
    tags,
    words,
)


def test_a_tree_is_read_and_written_in_brackets():
    tree = tree_of(CAT)
    assert str(tree) == CAT
    assert words(tree) == ["The", "cat", "sits", "."]
    assert tags(tree) == ["DT", "NN", "VBZ", "."]
    assert labels(tree) == {"S", "NP", "VP"}
    assert tree.children[0] == Tree("NP", (Tree("DT", word="The"), Tree("NN", word="cat")))


def test_writing_and_reading_are_inverse():
    for tree in random_trees(1000, ["DT", "NN", "-LRB-"]):
        text = str(tree)
        assert str(tree_of(text)) == text


def test_trees_may_share_a_line_and_span_lines():
    trees = parse_trees("(S (A a)) (S\n\n  (B b)\r\n)(\nS(C\tc))\n", "text")
    assert [str(tree) for tree in trees] == ["(S (A a))", "(S (B b))", "(S (C c))"]
    assert list(iterate_trees(["(S (A a))", "(S (B", "b))"], "lines")) == trees[:2]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(TOP (S (A a)))", "(S (A a))"),
        ("(ROOT (S (A a)))", "(S (A a))"),
        ("(S1 (S (A a)))", "(S (A a))"),
        ("( (S (A a)) )", "(S (A a))"),
        ("((S (A a)))", "(S (A a))"),
        ("(TOP (A a))", "(A a)"),
        ("( (S (A a)) (. .))", "(TOP (S (A a)) (. .))"),
        ("(TOP (S (A a)) (. .))", "(TOP (S (A a)) (. .))"),
        ("(ROOT (S (A a)) (. .))", "(TOP (S (A a)) (. .))"),
        ("(S1 (TOP (S (A a)) (. .)))", "(TOP (S (A a)) (. .))"),
        ("(S (TOP (A a)))", "(S (TOP (A a)))"),
        ("(SINV (A a))", "(SINV (A a))"),
    ],
)
def test_the_wrapper_is_taken_off_if_it_holds_one_tree(text, tree):
    assert str(tree_of(text)) == tree


def test_words_stay_as_the_treebank_writes_them():
    text = r"(NP (-LRB- -LRB-) (CD 1\/2) (SYM \*) (NN Nummer5) (-RRB- -RRB-))"
    assert words(tree_of(text)) == ["-LRB-", r"1\/2", r"\*", "Nummer5", "-RRB-"]
    assert words(tree_of("(NN a\u00a0b)")) == ["a\u00a0b"]


def test_round_brackets_in_words_are_written_so_that_the_tree_can_be_read():
    assert str(Tree("(", word="a(b)")) == "(-LRB- a-LRB-b-RRB-)"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(S (A a))\n(S (A a)\n", 2, "(S is not closed by the end"),
        ("(S (A a)))", 1, "a closing bracket without its opening one"),
        ("\n()", 2, "the bracket () is empty"),
        ("(S (A a) (NP ))", 1, "the bracket (NP) is empty"),
        ("(S\n(NN a b))", 2, "two words in one bracket: (NN a b"),
        ("(NP word (NN x))", 1, "a word beside a bracket in (NP word"),
        ("(NP (NN x) word)", 1, "the word 'word' beside a bracket in (NP ...)"),
        ("(S (A a)) b", 1, "'b' stands outside brackets"),
        ("( (S (A a))\n( (S (A a)) )", 2, "no label, in the tree that begins in line 1;"),
        ("(S ((A a)))", 1, "a bracket has no label"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(text, line, problem):
    with pytest.raises(InputError) as error:
        parse_trees(text, "wsj.mrg")
    assert str(error.value).startswith(f"wsj.mrg, line {line}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_text_without_trees_is_refused(text):
    with pytest.raises(InputError, match=r"wsj\.mrg: there are no trees"):
        parse_trees(text, "wsj.mrg")


def test_trees_are_read_from_plain_and_compressed_files(tmp_path):
    text = "(S (NN Häuser))\n".encode()
    (tmp_path / "a.mrg").write_bytes(b"\xef\xbb\xbf" + text)
    (tmp_path / "a.mrg.gz").write_bytes(gzip.compress(text))
    for name in ("a.mrg", "a.mrg.gz"):
        [tree] = read_trees(tmp_path / name)
        assert words(tree) == ["Häuser"]


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "latin.mrg").write_bytes(b"(S (NN a))\n(S (NN H\xe4user))\n")
    (tmp_path / "broken.gz").write_bytes(b"(S (NN a))")
    with pytest.raises(InputError, match=r"latin\.mrg, line 2: not UTF-8"):
        list(read_trees(tmp_path / "latin.mrg"))
    for name, problem in (("broken.gz", "broken gzip"), ("missing.mrg", "No such file")):
        with pytest.raises(InputError, match=f"{name}: {problem}"):
            list(read_trees(tmp_path / name))


def test_deep_trees_do_not_exhaust_the_stack():
    depth = 3_000
    tree = tree_of("(X " * depth + "(A a)" + ")" * depth)
    assert strip(tree) == tree
    assert hash(tree_of(str(tree))) == hash(tree)


# Traces and function tags


def test_traces_and_function_tags_are_removed():
    tree = tree_of(
        "(S (NP-SBJ-1 (-LRB- -LRB-) (NN a)) (VP=2 (VBD was) (NP (-NONE- *-1)) "
        "(PP-LOC|X (IN in)) (S (NP (-NONE- *)) (VP (-NONE- *?*)))))"
    )
    assert str(strip(tree)) == "(S (NP (-LRB- -LRB-) (NN a)) (VP (VBD was) (PP (IN in))))"


@pytest.mark.parametrize("text", ["(-NONE- *)", "(S (NP-SBJ (-NONE- *)) (VP (-NONE- *)))"])
def test_nothing_is_left_of_a_tree_of_traces(text):
    assert strip(tree_of(text)) is None
