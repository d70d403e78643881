"""Labelled bracketing F1 as EVALB computes it (Sekine & Collins, 1997): the scores of Table 4.

    python -m transformer_jax.scoring.bracket GOLD TEST --param=COLLINS.prm

prints the report of the C program, line for line: one row a sentence, then the summaries.

A test tree must hold the words of its gold tree. EVALB calls a sentence where it does not an
error and leaves it out of all sums, which flatters a system that often gets the words wrong.
Words are deleted by their tags, so a comma that is tagged as a noun is such an error too. Give
every sentence its words first (`text.linearise.restore`), and report the number of errors with the
score.
"""

import argparse
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from transformer_jax import files
from transformer_jax.errors import InputError
from transformer_jax.scoring.parameters import COLLINS, Parameters

_VALID, _ERROR, _SKIPPED = 0, 1, 2


class Row(NamedTuple):
    """The result of one sentence; the numbers of an error or a skipped sentence count nowhere."""

    line: int
    length: int
    status: int
    """0 valid, 1 error, 2 skipped because the test tree has no words."""
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    messages: tuple[str, ...] = ()
    """What was wrong with the sentence, in EVALB's words."""
    details: str = ""
    """The words and brackets, if DEBUG is set."""
    readable: bool = True

    def __str__(self) -> str:
        return (
            f"{self.line:4d}  {self.length:3d}    {self.status:d}  "
            f"{_percent(self.matched, self.gold):6.2f} {_percent(self.matched, self.test):6.2f}   "
            f"{self.matched:3d}    {self.gold:3d}  {self.test:3d}    {self.crossing:3d}   "
            f"{self.words:4d}  {self.correct_tags:4d}   "
            f"{_percent(self.correct_tags, self.words):6.2f}\n{self.details}"
        )


class Summary:
    """The scores of several sentences: ratios of sums over the valid ones, from 0 to 100."""

    def __init__(self, rows: Sequence[Row]):
        valid = [row for row in rows if row.status == _VALID]
        self.sentences = len(rows)
        self.errors = sum(row.status == _ERROR for row in rows)
        self.skipped = sum(row.status == _SKIPPED for row in rows)
        self.valid = len(valid)
        self.matched = sum(row.matched for row in valid)
        self.gold = sum(row.gold for row in valid)
        self.test = sum(row.test for row in valid)
        self.crossing = sum(row.crossing for row in valid)
        self.words = sum(row.words for row in valid)
        self.correct_tags = sum(row.correct_tags for row in valid)
        self.recall = _percent(self.matched, self.gold)
        self.precision = _percent(self.matched, self.test)
        both = self.recall + self.precision
        self.f1 = 2 * self.precision * self.recall / both if both else 0.0
        exact = sum(row.gold == row.test == row.matched for row in valid)
        self.exact_match = _percent(exact, self.valid)
        self.average_crossing = self.crossing / self.valid if self.valid else 0.0
        self.no_crossing = _percent(sum(row.crossing == 0 for row in valid), self.valid)
        self.two_or_less_crossing = _percent(sum(row.crossing <= 2 for row in valid), self.valid)
        self.tagging_accuracy = _percent(self.correct_tags, self.words)

    def text(self, title: str) -> str:
        """The block of EVALB's report."""
        # 0 / 0 as the C library writes it on x86-64.
        f1 = f"{self.f1:6.2f}" if self.matched else "  -nan"
        return f"""
-- {title} --
Number of sentence        = {self.sentences:6d}
Number of Error sentence  = {self.errors:6d}
Number of Skip  sentence  = {self.skipped:6d}
Number of Valid sentence  = {self.valid:6d}
Bracketing Recall         = {self.recall:6.2f}
Bracketing Precision      = {self.precision:6.2f}
Bracketing FMeasure       = {f1}
Complete match            = {self.exact_match:6.2f}
Average crossing          = {self.average_crossing:6.2f}
No crossing               = {self.no_crossing:6.2f}
2 or less crossing        = {self.two_or_less_crossing:6.2f}
Tagging accuracy          = {self.tagging_accuracy:6.2f}
"""


class Report:
    """The scores of a corpus.

    Attributes:
      rows: one a sentence.
      all: the summary of all sentences; `report.all.f1` is the number of Table 4.
      short: that of the sentences of at most `cutoff_len` words.
    """

    def __init__(self, rows: Sequence[Row], cutoff_len: int):
        self.rows = rows
        self.cutoff_len = cutoff_len
        self.all = Summary(rows)
        self.short = Summary([row for row in rows if row.length <= cutoff_len])

    def text(self) -> str:
        """EVALB's whole report."""
        return _HEAD + "".join(map(str, self.rows)) + self.totals()

    def totals(self) -> str:
        """EVALB's report below the rows."""
        total = self.all
        sums = ""
        if total.gold and total.test:
            sums = (
                f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d} "
                f"{total.gold:5d} {total.test:5d}  {total.crossing:5d}"
            )
        return (
            f"{_RULE}{sums}  {total.words:5d} {total.correct_tags:5d}   "
            f"{total.tagging_accuracy:6.2f}\n=== Summary ===\n"
            f"{total.text('All')}{self.short.text(f'len<={self.cutoff_len}')}"
        )


_RULE = "=" * 76 + "\n"
_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" + _RULE
)


def evalb(gold: Sequence[str], test: Sequence[str], parameters: Parameters = COLLINS) -> Report:
    """Scores test trees against gold trees: one tree in brackets a string, without line breaks.

    All sentences are scored: unlike the program, this does not stop after MAX_ERROR errors. A
    string that is no tree, at which the program would stop, is an error like the others, and an
    empty test tree is skipped. Lengths are not limited (EVALB's are, to 200 words).

    Raises:
      InputError: the lists differ in length or are empty.
    """
    return Report(list(_rows(gold, test, parameters)), parameters.cutoff_len)


def _rows(gold: Sequence[str], test: Sequence[str], parameters: Parameters) -> Iterator[Row]:
    if len(gold) != len(test):
        raise InputError(
            f"there are {len(gold)} gold trees and {len(test)} test trees; give one tree a line, "
            "and an empty line where the system has none"
        )
    if not gold:
        raise InputError("there are no trees to score")
    for line, (gold_tree, test_tree) in enumerate(zip(gold, test, strict=True), 1):
        yield _score(line, _Tree(gold_tree, parameters), _Tree(test_tree, parameters), parameters)


class _Bracket:
    """A constituent over the words from `start` to before `end`."""

    def __init__(self, label: str, start: int):
        self.label = label
        self.start = start
        self.end = -1
        self.result = 9
        """As in the C program: 0 not matched, 1 matched, 5 deleted, 9 not looked at."""

    def __str__(self) -> str:
        return f"{self.result:d} : {self.start:3d}  {self.end:3d}  {self.label:<6s}"


class _Terminal:
    def __init__(self, tag: str, word: str):
        self.tag = tag
        self.word = word
        self.result = 9

    def __str__(self) -> str:
        return f"{self.result:d} : {self.tag:<6s}  {self.word:<16s}"


class _Quote(NamedTuple):
    """A quote, deleted or not, and where it would be put back."""

    terminal: _Terminal
    following: int
    """The first of the brackets that begin after it."""
    around: tuple[_Bracket, ...]


_ITEM = re.compile(
    r"\((?P<tag>[^\s()]*)\s+(?P<word>[^\s()]*)\)|\((?P<label>[^\s()]*)|(?P<close>\))"
    r"|(?P<text>[^\s()]+)",
    re.ASCII,
)


class _Tree:
    """A line as EVALB reads it: terminals and brackets without the deleted words."""

    def __init__(self, line: str, parameters: Parameters):
        self.terminals: list[_Terminal] = []
        self.brackets: list[_Bracket] = []
        self.quotes: list[tuple[int, _Quote]] = []
        self.messages: list[str] = []
        self.length = 0
        self.readable = True
        opened: list[_Bracket] = []
        missing = 0
        previous = None
        for item in _ITEM.finditer(line):
            tag, word, label, close, text = item.group("tag", "word", "label", "close", "text")
            if tag is not None:
                self.length += tag not in parameters.delete_label_for_length
                terminal = _Terminal(tag, word)
                if tag in parameters.quote_label and word in ("'", '"', "/"):
                    quote = _Quote(terminal, len(self.brackets), tuple(opened))
                    self.quotes.append((len(self.terminals), quote))
                if tag not in parameters.delete_label:
                    self.terminals.append(terminal)
            elif label is not None:
                opened.append(_Bracket(label, len(self.terminals)))
                self.brackets.append(opened[-1])
            elif close and opened:
                opened.pop().end = len(self.terminals)
            elif close:
                if missing:
                    self.messages.append("Bracketing unbalance (too many close bracket)")
                missing += 1
            elif text:
                after_opening = previous is not None and previous["label"] is not None
                if after_opening and line[item.end() : item.end() + 1] != "(":
                    self.messages.append("More than two elements in a bracket")
                self.messages.append("Reading sentence")
                self.readable = False
                return
            previous = item
        if opened or missing:
            self.messages.append("Bracketing is unbalanced (too many open bracket)")

    def put_back(self, number: int) -> None:
        """Inserts the terminal of a quote, and moves what lies around and after it."""
        place, quote = self.quotes[number]
        self.terminals.insert(place, quote.terminal)
        for bracket in self.brackets[quote.following :]:
            bracket.start += 1
            bracket.end += 1
        for bracket in quote.around:
            bracket.end += 1
        self.quotes[number:] = [(at + 1, later) for at, later in self.quotes[number:]]


def _score(line: int, gold: _Tree, test: _Tree, parameters: Parameters) -> Row:
    messages = gold.messages + test.messages
    readable = gold.readable and test.readable
    counts = (0, 0, 0, 0, 0, 0)
    skipped = readable and not test.terminals
    if readable and not skipped:
        if len(gold.terminals) != len(test.terminals):
            _put_quotes_back(gold, test, parameters)
        unlike = [
            pair
            for pair in zip(gold.terminals, test.terminals, strict=False)
            if not _equal(pair[0].word, pair[1].word, parameters.eq_word)
        ]
        if len(gold.terminals) != len(test.terminals):
            messages.append(f"Length unmatch ({len(gold.terminals)}|{len(test.terminals)})")
        elif unlike:
            messages.append(f"Words unmatch ({unlike[0][0].word}|{unlike[0][1].word})")
        else:
            counts = _compare(gold, test, parameters)
    status = _SKIPPED if skipped else _ERROR if messages else _VALID
    details = _details(gold, test) if parameters.debug else ""
    return Row(line, gold.length, status, *counts, tuple(messages), details, readable)


def _compare(
    gold: _Tree, test: _Tree, parameters: Parameters
) -> tuple[int, int, int, int, int, int]:
    """matched, gold and test brackets, crossing brackets, words, correct tags."""
    gold_brackets = _counted(gold, parameters)
    test_brackets = _counted(test, parameters)
    candidates: dict[tuple[int, int], list[_Bracket]] = {}
    for bracket in test_brackets:
        candidates.setdefault((bracket.start, bracket.end), []).append(bracket)
    matched = 0
    for bracket in gold_brackets:
        for candidate in candidates.get((bracket.start, bracket.end), ()):
            if candidate.result == 0 and (
                not parameters.labeled
                or _equal(bracket.label, candidate.label, parameters.eq_label)
            ):
                bracket.result = candidate.result = 1
                matched += 1
                break
    spans = {(bracket.start, bracket.end) for bracket in gold_brackets}
    crossing = sum(
        any(
            start < ours.start < end < ours.end or ours.start < start < ours.end < end
            for start, end in spans
        )
        for ours in test_brackets
    )
    for ours, theirs in zip(test.terminals, gold.terminals, strict=True):
        ours.result = theirs.result = int(_equal(ours.tag, theirs.tag, parameters.eq_label))
    return (
        matched,
        len(gold_brackets),
        len(test_brackets),
        crossing,
        len(gold.terminals),
        sum(terminal.result for terminal in gold.terminals),
    )


def _counted(tree: _Tree, parameters: Parameters) -> list[_Bracket]:
    """The brackets that count, their labels cut at the first `-` or `=`."""
    for bracket in tree.brackets:
        bracket.result = 5
        if bracket.start != bracket.end:
            bracket.label = re.split("[-=]", bracket.label)[0]
            if not any(
                _equal(bracket.label, deleted, parameters.eq_label)
                for deleted in parameters.delete_label
            ):
                bracket.result = 0
    return [bracket for bracket in tree.brackets if bracket.result == 0]


def _equal(a: str, b: str, pairs: Collection[tuple[str, str]]) -> bool:
    return a == b or (a, b) in pairs or (b, a) in pairs


def _put_quotes_back(gold: _Tree, test: _Tree, parameters: Parameters) -> None:
    """Inserts quotes that were deleted on one side where the other side has them.

    A quote of one tree meets one of the other at the same place with another tag; if one of the
    two tags deletes and the other does not, the deleted terminal returns.
    """
    deleted = parameters.delete_label
    for i in range(len(test.quotes)):
        place, ours = test.quotes[i]
        for j in range(len(gold.quotes)):
            at, theirs = gold.quotes[j]
            if at != place or (ours.terminal.tag in deleted) == (theirs.terminal.tag in deleted):
                continue
            if theirs.terminal.tag in deleted:
                gold.put_back(j)
            else:
                test.put_back(i)


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _details(gold: _Tree, test: _Tree) -> str:
    """What EVALB prints of a sentence in its debug mode: gold on the left, test on the right."""
    head = "".join(
        f"-<{i}>---(wn{i}={len(tree.terminals):3d}, bn{i}={len(tree.brackets):3d})-{end}"
        for i, tree, end in ((1, gold, " " * 11), (2, test, "\n"))
    )
    terminals, brackets = (
        "".join(
            f"{left or '':{width}s}{right or ''}\n"
            for left, right in zip_longest(
                *([f"{i:3d} : {item}" for i, item in enumerate(side)] for side in sides)
            )
        )
        for sides, width in (
            ((gold.terminals, test.terminals), 40),
            ((gold.brackets, test.brackets), 32),
        )
    )
    return f"{head}{terminals}\n{brackets}\n========\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """The program: rows and summaries to standard output, what is wrong to standard error.

    It stops with exit status 1 where EVALB does: after MAX_ERROR errors, and at a line that is no
    tree. It differs in that files of different length are refused, where EVALB scores the lines
    that both have, and in that COLLINS is the default.
    """
    parser = argparse.ArgumentParser(
        prog="python -m transformer_jax.scoring.bracket",
        description="Labelled recall, precision and F1 of trees in brackets, as EVALB does.",
    )
    parser.add_argument("gold", metavar="GOLD", help="the right trees, one a line")
    parser.add_argument("test", metavar="TEST", help="the trees to score, one a line")
    parser.add_argument("-p", "--param", metavar="FILE", help="parameter file; default COLLINS.prm")
    given = parser.parse_args(arguments)
    try:
        parameters = Parameters.read(given.param) if given.param else COLLINS
        gold, test = (list(files.read_lines(path)) for path in (given.gold, given.test))
        if len(gold) != len(test):
            raise InputError(
                f"{given.gold} has {len(gold)} lines but {given.test} has {len(test)}; give one "
                "tree a line, and an empty line where the system has none"
            )
        if not gold:
            raise InputError(f"{given.gold} is empty: give a file with one tree a line")
        rows: list[Row] = []
        errors = 0
        sys.stdout.write(_HEAD)
        for row in _rows(gold, test, parameters):
            for message in row.messages:
                print(f"{row.line} : {message}", file=sys.stderr)
                errors += 1
                if errors > parameters.max_error + 1:
                    sys.exit(
                        f"stopped at sentence {row.line} after {errors} errors: MAX_ERROR is "
                        f"{parameters.max_error}; to score all sentences give --param=FILE with "
                        "a higher one"
                    )
            if not row.readable:
                side = [
                    path
                    for path, lines in ((given.gold, gold), (given.test, test))
                    if not _Tree(lines[row.line - 1], parameters).readable
                ]
                sys.exit(
                    f"stopped: {' and '.join(side)}, line {row.line}: {row.messages[0]}; a tree "
                    "looks like (S (NP (DT The) (NN cat)) (VP (VBZ sits)))"
                )
            sys.stdout.write(str(row))
            rows.append(row)
        sys.stdout.write(Report(rows, parameters.cutoff_len).totals())
        sys.stdout.flush()
    except InputError as error:
        sys.exit(f"{parser.prog}: {error}")
    except BrokenPipeError:  # whoever reads, `head` for example, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
