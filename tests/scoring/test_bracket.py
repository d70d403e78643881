import subprocess
import sys
from pathlib import Path

import pytest

from transformer_jax.errors import InputError
from transformer_jax.scoring.bracket import COLLINS, Parameters, evalb, main

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "evalb"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no shared trees here")

GOLD = "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (NNS mats)))) (. .)))"


def lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").split("\n")[:-1]


def scores(gold: str, test: str, parameters: Parameters = COLLINS):
    """Status, matched, gold, test, crossing, words and correct tags of one sentence."""
    return evalb([gold], [test], parameters).rows[0][2:9]


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


# Known answers


@needs_data
@pytest.mark.parametrize(
    ("prm", "recall", "precision", "f1", "errors", "tagging"),
    [("sample.prm", 87.76, 90.53, 89.12, 5, 98.15), ("COLLINS.prm", 87.23, 90.11, 88.65, 6, 97.12)],
)
def test_the_sample_of_evalb_has_its_known_scores(prm, recall, precision, f1, errors, tagging):
    report = evalb(lines("sample.gld"), lines("sample.tst"), Parameters.read(DATA / prm)).all
    found = (report.recall, report.precision, report.f1, report.tagging_accuracy)
    assert tuple(round(value, 2) for value in found) == (recall, precision, f1, tagging)
    assert (report.sentences, report.errors, report.skipped) == (24, errors, 2)


@needs_data
def test_every_line_of_the_report_is_that_of_the_c_program():
    report = evalb(lines("craft600.gld"), lines("craft600.tst"))
    assert report.text().split("\n")[:-1] == lines("craft600.evalb.txt")
    assert (round(report.all.f1, 2), report.all.errors) == (76.58, 11)


@needs_data
def test_the_default_parameters_are_those_of_collins():
    assert Parameters.read(DATA / "COLLINS.prm") == COLLINS


@needs_data
def test_trees_are_a_perfect_copy_of_themselves():
    gold = lines("craft600.gld")
    report = evalb(gold, gold)
    for summary in (report.all, report.short):
        assert (summary.recall, summary.precision, summary.f1) == (100, 100, 100)
        assert (summary.exact_match, summary.tagging_accuracy) == (100, 100)
        assert (summary.errors, summary.skipped, summary.crossing) == (0, 0, 0)
    assert report.all.sentences == 600 > report.short.sentences == 498


# By hand


def test_brackets_match_in_label_and_words():
    # Gold: S, NP, VP, PP, NP. Test: NP is VP; PP ends one word early, which is another bracket.
    test = "(TOP (S (VP (DT The) (NN cat)) (VP (VBZ sits) (PP (IN on)) (NP (NN mats))) (. .)))"
    assert scores(GOLD, test) == (0, 3, 5, 5, 0, 5, 4)
    unlabeled = Parameters(delete_label=("TOP", "."), labeled=0)
    assert scores(GOLD, test, unlabeled) == (0, 4, 5, 5, 0, 5, 4)


def test_a_bracket_matches_once():
    gold, test = "(S (NP (NP (A a))) (B b))", "(S (NP (A a)) (B b))"
    assert scores(gold, test) == (0, 2, 3, 2, 0, 2, 2)
    assert scores(test, gold) == (0, 2, 2, 3, 0, 2, 2)


def test_test_brackets_that_cross_a_gold_bracket_are_counted():
    gold = "(S (X (A a) (B b)) (Y (C c) (D d)))"
    test = "(S (A a) (Z (Z (B b) (C c))) (D d))"
    assert scores(gold, test) == (0, 1, 3, 3, 2, 4, 4)
    assert scores(test, gold)[4] == 2  # X and Y, each once


def test_deleted_words_and_brackets_do_not_count():
    gold = "(TOP (S (NP (A a) (, ,)) (-NONE- *) (PRT (B b)) (X (-NONE- *))))"
    test = "(S (NP (A a)) (ADVP (B b)))"
    assert scores(gold, test) == (0, 3, 3, 3, 0, 2, 2)
    assert evalb([gold], [test]).rows[0].length == 3  # the comma counts, the trace does not


def test_labels_end_at_the_first_hyphen_or_equals_sign_and_tags_do_not():
    assert scores("(S (NP-SBJ (A-1 a)))", "(S=2 (NP=1-X (A a)))") == (0, 2, 2, 2, 0, 1, 0)


def test_equal_words_and_labels_go_both_ways():
    parameters = Parameters(eq_word=(("This", "this"),), eq_label=(("T", "TT"),))
    trees = "(S (T This))", "(S (TT this))"
    assert scores(*trees, parameters) == (0, 1, 1, 1, 0, 1, 1)
    assert scores(*reversed(trees), parameters) == (0, 1, 1, 1, 0, 1, 1)


@pytest.mark.parametrize(
    ("gold", "test", "message"),
    [
        ("(S (A a))", "(S (A a) (B b))", "Length unmatch (1|2)"),
        ("(S (A a) (, ,))", "(S (A a) (B ,))", "Length unmatch (1|2)"),
        ("", "(S (A a))", "Length unmatch (0|1)"),
        ("(S (A a) (B b))", "(S (A a) (B c))", "Words unmatch (b|c)"),
    ],
)
def test_other_words_are_an_error_that_counts_nowhere(gold, test, message):
    report = evalb([GOLD, gold], [GOLD, test])
    assert report.rows[1].messages == (message,)
    assert report.rows[1][2:9] == (1, 0, 0, 0, 0, 0, 0)
    assert (report.all.f1, report.all.exact_match, report.all.errors) == (100, 100, 1)


@pytest.mark.parametrize("test", ["", "  ", "(TOP)", "(S (. .))"])
def test_a_test_tree_without_words_is_skipped(test):
    report = evalb([GOLD, GOLD], [GOLD, test])
    assert (report.all.skipped, report.all.errors, report.all.valid) == (1, 0, 1)


def test_unbalanced_brackets_are_an_error():
    # In the words of EVALB, which says the same of one closing bracket too many.
    message = "Bracketing is unbalanced (too many open bracket)"
    for test in ("(S (A a)", "(S (A a)))"):
        assert evalb(["(S (A a))"], [test]).rows[0].messages == (message,)
        assert evalb(["(S (A a))"], [test]).all.errors == 1
    messages = evalb(["(S (A a))"], ["(S (A a)))))"]).rows[0].messages
    assert messages[:2] == ("Bracketing unbalance (too many close bracket)",) * 2


@pytest.mark.parametrize("test", ["no tree", "(S (A a b))", "(S (A a) b)"])
def test_what_is_no_tree_is_an_error(test):
    report = evalb([GOLD, "(S (A a))"], [GOLD, test])
    assert report.rows[1].messages[-1] == "Reading sentence"
    assert (report.all.errors, report.all.f1) == (1, 100)


def test_quotes_deleted_on_one_side_only_are_put_back():
    parameters = Parameters(delete_label=("''",), quote_label=("''", "POS"))
    quote, possessive = (
        f"(S (NP (NN dogs) ({tag} ')) (VP (VB run) (PP (IN in))))" for tag in ("''", "POS")
    )
    assert scores(quote, possessive, parameters) == (0, 4, 4, 4, 0, 4, 3)
    assert scores(possessive, quote, parameters) == (0, 4, 4, 4, 0, 4, 3)
    assert scores(quote, quote, parameters) == (0, 4, 4, 4, 0, 3, 3)
    without = Parameters(delete_label=("''",))
    assert scores(quote, possessive, without)[0] == 1


def test_the_second_summary_is_about_short_sentences():
    report = evalb([GOLD, "(S (A a))"], [GOLD, "(X (A a))"], Parameters(cutoff_len=2))
    assert (report.short.sentences, report.short.f1) == (1, 0)
    assert (report.all.matched, report.all.gold) == (6, 7)  # TOP is not deleted here


def test_nothing_right_is_an_f1_of_0_and_nan_in_the_report():
    report = evalb(["(S (A a))"], ["(X (A a))"])
    assert report.all.f1 == 0
    assert report.text().count("Bracketing FMeasure       =   -nan\n") == 2


def test_long_and_deep_trees_are_scored():
    flat = "(S " + "(A a) " * 1000 + ")"
    deep = "(S " * 3000 + "(A a)" + ")" * 3000
    report = evalb([flat, deep], [flat, deep])
    assert (report.all.f1, report.all.gold) == (100, 3001)


def test_every_sentence_is_scored_however_many_errors_there_are():
    report = evalb(["(S (A a))"] * 30, ["(S (A b))"] * 29 + ["(S (A a))"])
    assert (report.all.errors, report.all.f1) == (29, 100)


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="2 gold trees and 1 test trees"):
        evalb([GOLD, GOLD], [GOLD])
    with pytest.raises(InputError, match="no trees"):
        evalb([], [])


# Parameter files


def test_a_parameter_file_is_read(tmp_path):
    text = (
        "## comment\n\n  \nDEBUG 1\nMAX_ERROR 1000 \nCUTOFF_LEN\t70\nLABELED 0\n"
        "DELETE_LABEL TOP\nDELETE_LABEL ''\nDELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\n"
        "EQ_LABEL ADVP PRT\nEQ_WORD a b\n"
    )
    assert Parameters.read(write(tmp_path, "x.prm", text)) == Parameters(
        delete_label=("TOP", "''"),
        delete_label_for_length=("-NONE-",),
        quote_label=("POS",),
        eq_label=(("ADVP", "PRT"),),
        eq_word=(("a", "b"),),
        labeled=0,
        cutoff_len=70,
        max_error=1000,
        debug=1,
    )


@pytest.mark.parametrize(
    "line", ["DELETE_LABELS X", "EQ_LABEL A", "DELETE_LABEL", "DELETE_LABEL A B", "MAX_ERROR ten"]
)
def test_a_line_that_is_not_understood_is_refused(tmp_path, line):
    with pytest.raises(InputError, match=r"x\.prm, line 2: "):
        Parameters.read(write(tmp_path, "x.prm", f"# comment\n{line}\n"))


# The program


def run(arguments: list[str], capsys) -> tuple[int | str | None, str, str]:
    """Exit status (or message), standard output, standard error."""
    status: int | str | None = 0
    try:
        main(arguments)
    except SystemExit as stopped:
        status = stopped.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_program_prints_the_report(tmp_path):
    gold = write(tmp_path, "gold", f"{GOLD}\n(S (A a))\n")
    test = write(tmp_path, "test", f"{GOLD}\n(S (A b))\n")
    command = [sys.executable, "-m", "transformer_jax.scoring.bracket", gold, test]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    report = evalb([GOLD, "(S (A a))"], [GOLD, "(S (A b))"])
    assert result.stdout == report.text()
    assert result.stderr == "2 : Words unmatch (a|b)\n"


def test_the_program_stops_after_too_many_errors(tmp_path, capsys):
    gold = write(tmp_path, "gold", "(S (A a))\n" * 9)
    test = write(tmp_path, "test", "(S (A b))\n" * 9)
    parameters = write(tmp_path, "x.prm", "MAX_ERROR 2\n")
    status, output, errors = run([gold, test, f"--param={parameters}"], capsys)
    assert status.startswith("stopped at sentence 4 after 4 errors: MAX_ERROR is 2; ")
    assert len(output.split("\n")) == 3 + 3 + 1  # the head, the rows of three errors, no summary
    assert errors.count("Words unmatch (a|b)\n") == 4


def test_the_program_stops_at_a_line_that_is_no_tree(tmp_path, capsys):
    gold = write(tmp_path, "gold", "(S (A a))\n" * 3)
    test = write(tmp_path, "test", "(S (A a))\n(S a b)\n(S (A a))\n")
    status, output, errors = run([gold, test], capsys)
    assert status.startswith(f"stopped: {test}, line 2: ")
    assert len(output.split("\n")) == 3 + 1 + 1
    assert errors == "2 : More than two elements in a bracket\n2 : Reading sentence\n"


def test_the_program_shows_words_and_brackets_in_debug_mode(tmp_path, capsys):
    gold, test = write(tmp_path, "gold", "(S (A a))"), write(tmp_path, "test", "(X (Y (B a)))")
    status, output, _ = run([gold, test, "-p", write(tmp_path, "x.prm", "DEBUG 1\n")], capsys)
    assert status == 0
    assert output.split("\n")[4:11] == [
        "-<1>---(wn1=  1, bn1=  1)-           -<2>---(wn2=  1, bn2=  2)-",
        "  0 : 0 : A       a                       0 : 0 : B       a               ",
        "",
        "  0 : 0 :   0    1  S             0 : 0 :   0    1  X     ",
        "                                  1 : 0 :   0    1  Y     ",
        "",
        "========",
    ]


def test_files_of_different_length_are_refused_by_the_program(tmp_path, capsys):
    gold = write(tmp_path, "gold", "(S (A a))\n" * 3)
    test = write(tmp_path, "test", "(S (A a))\n" * 2)
    status, output, _ = run([gold, test], capsys)
    assert f"{gold} has 3 lines but {test} has 2; give one tree a line" in str(status)
    assert output == ""
    missing, _, _ = run([gold, str(tmp_path / "missing")], capsys)
    assert "cannot read" in str(missing)
