import gzip

import pytest

from transformer_jax.data.sources import Pairs, drop_empty, read_lines, read_parallel
from transformer_jax.errors import InputError


@pytest.fixture
def write(tmp_path):
    def write(content: bytes, name: str = "text.en"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\n\n\ntwo\n", ["one", "", "", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\rtwo\n", ["one two"]),
        (b"a\x0bb\x0cc\x1cd\x1de\x1ef\n", ["a b c d e f"]),
        ("a\u2028b\u2029c\u0085d\n".encode(), ["a b c d"]),
        (b"a\x00b\tc\x7fd\n", ["a b c d"]),
        (b"\xef\xbb\xbfone\ntwo\n", ["one", "two"]),
        (b"one\n\xef\xbb\xbftwo\n", ["one", "\ufefftwo"]),
        ("  two  spaces \u00a0\u3000\n".encode(), ["  two  spaces \u00a0\u3000"]),
    ],
)
def test_a_line_is_what_ends_in_a_newline(write, content, lines):
    assert read_lines([write(content)]) == lines
    assert read_lines(write(gzip.compress(content), "text.en.gz")) == lines


def test_files_are_read_one_after_the_other(write):
    first, second = write(b"\xef\xbb\xbfone\ntwo", "first"), write(b"\xef\xbb\xbfthree\n", "second")
    assert read_lines([first, str(second), first]) == ["one", "two", "three", "one", "two"]


def test_invalid_utf8_is_reported_with_its_line(write):
    with pytest.raises(InputError, match=r"text\.en, line 3: not UTF-8"):
        read_lines([write(b"one\ntwo\nthr\xffee\n")])


@pytest.mark.parametrize(
    "content",
    [b"no gzip at all", gzip.compress(b"text\n" * 1000)[:-12], gzip.compress(b"text\n") + b"rest"],
)
def test_a_broken_gzip_is_reported(write, content):
    with pytest.raises(InputError, match=r"text\.gz: broken gzip"):
        read_lines([write(content, "text.gz")])


def test_damage_inside_a_gzip_is_reported(write):
    content = bytearray(gzip.compress(bytes(range(10, 250)) * 100))
    content[20:30] = b"\xff" * 10
    with pytest.raises(InputError, match=r"text\.gz"):
        read_lines([write(bytes(content), "text.gz")])


def test_a_missing_file_and_a_folder_are_reported(tmp_path):
    with pytest.raises(InputError, match=r"absent\.de: No such file"):
        read_lines([tmp_path / "absent.de"])
    with pytest.raises(InputError, match="directory"):
        read_lines([tmp_path])


def test_both_sides_must_have_the_same_number_of_lines(write):
    source, target = write(b"1\n2\n3\n", "a.en"), write(b"1\n2\n", "a.de")
    with pytest.raises(InputError, match=r"a\.en \+ .*a\.en has 6 lines but .*a\.de has 2"):
        read_parallel([source, source], [target])
    assert read_parallel([source], [source]) == Pairs(["1", "2", "3"], ["1", "2", "3"])


def test_a_corpus_without_lines_is_reported(write):
    empty = write(b"")
    with pytest.raises(InputError, match="no lines"):
        read_parallel(empty, empty)
    with pytest.raises(InputError, match="an empty list of files"):
        read_parallel([], [])


def test_pairs_without_text_on_a_side_are_dropped_and_counted():
    pairs = Pairs(["a", "", "c", " \u3000", "e"], ["A", "B", "\u00a0", "", "E"])
    assert drop_empty(pairs) == (Pairs(["a", "e"], ["A", "E"]), 3)
