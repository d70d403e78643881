import hashlib

import numpy as np
import pytest
import sentencepiece

from transformer_jax.batch import BOS, EOS, PAD, UNK
from transformer_jax.errors import InputError
from transformer_jax.text.subword import Subword, one_line, train

SENTENCES = [
    f"{subject} {verb} {article} {noun}."
    for subject in ("Ein Mann", "Two young women", "Der Hund", "My oldest sister", "Müßiggänger")
    for verb in ("sieht", "reads", "watches", "trägt")
    for article in ("the", "a", "ein", "another")
    for noun in ("house", "Haus", "bicycle", "window", "Brücke")
]


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "subword.model"
    train(SENTENCES, path, 320)
    return path


@pytest.fixture(scope="module")
def subword(model_path):
    return Subword.load(model_path)


def test_the_vocabulary_has_the_size_asked_for(subword, model_path):
    assert subword.size == 320
    assert subword.fingerprint == hashlib.sha256(model_path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "sentence",
    [
        *SENTENCES[:3],
        "Ünbekannte Zeichen: 日本語 🤖 e\u0301 ﬁ ½ \u200b \ufeff",
        "<pad> </s> <s> <unk> <0x0A>",
        "&apos;s @-@ a@@ b",
        "x\u00a0y\u3000z",
        "",
    ],
)
def test_decoding_undoes_encoding(subword, sentence):
    [ids] = subword.encode([sentence])
    assert ids.dtype == np.int32
    assert not np.isin(ids, [PAD, EOS, BOS, UNK]).any()
    assert subword.decode([ids]) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "decoded"),
    [
        ("  a   b  ", "a b"),
        ("a\u2581b", "a b"),
        ("a\nb\r\nc\x00d\te\u2028f\u0085g\x0ch\ud800i", "a b c d e f g h i"),
    ],
)
def test_white_space_and_control_characters_become_single_spaces(subword, sentence, decoded):
    assert subword.decode(subword.encode([sentence])) == [decoded]


def test_decoding_stops_at_the_first_eos_and_skips_pad_and_bos(subword):
    [ids] = subword.encode(["Ein Haus."])
    sequence = [BOS, *ids.tolist(), PAD, EOS, *ids.tolist(), EOS, PAD]
    rows = np.array([sequence, [EOS] * len(sequence)], np.int32)
    assert subword.decode(rows) == ["Ein Haus.", ""]
    assert subword.decode([[], [PAD, PAD]]) == ["", ""]


def test_a_translation_is_one_line_whatever_the_ids(subword):
    for text in subword.decode([[id] for id in range(subword.size)] + [[3 + 1 + 0xC3, 3 + 1 + 10]]):
        assert len(text.splitlines()) <= 1
        assert one_line(text) == text
        text.encode()


@pytest.mark.parametrize("id", [-1, 320])
def test_ids_outside_the_vocabulary_are_reported(subword, id):
    with pytest.raises(InputError, match="vocabulary of 320"):
        subword.decode([[5, id]])


def test_the_model_depends_on_sentences_and_seed_alone(tmp_path):
    contents = []
    for name, seed in [("a", 0), ("b", 0), ("c", 1)]:
        train(iter(SENTENCES), tmp_path / name, 300, max_sentences=40, seed=seed)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] != contents[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_training_survives_hostile_sentences_and_is_quiet(tmp_path, capfd):
    hostile = ["", "\x00", "a\x00b", "\ud800", "<pad> </s>", "\u2581" * 9, "ab" * 50_000, "\t"]
    subword = train(SENTENCES + hostile, tmp_path / "new" / "subword.model", 310)
    Subword.load(tmp_path / "new" / "subword.model").encode(hostile)
    assert subword.size == 310
    assert capfd.readouterr() == ("", "")


def test_a_vocabulary_size_that_does_not_fit_is_reported_with_one_that_does(tmp_path, capfd):
    with pytest.raises(InputError, match=r"vocab_size 90000 .* set it to \d+ or less") as error:
        train(SENTENCES, tmp_path / "model", 90000)
    largest = int(str(error.value).split()[-3])
    assert train(SENTENCES, tmp_path / "model", largest).size == largest
    with pytest.raises(InputError, match=r"vocab_size 17 .* set it to \d+ or more") as error:
        train(SENTENCES, tmp_path / "model", 17)
    smallest = int(str(error.value).split()[-3])
    assert train(SENTENCES, tmp_path / "model", smallest).size == smallest
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sentences", [[], ["", "  \u3000", "\n"]])
def test_no_text_is_reported(tmp_path, sentences):
    with pytest.raises(InputError, match="no text"):
        train(sentences, tmp_path / "model", 300)


def test_a_place_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        train(SENTENCES, tmp_path / "file" / "model", 300)
    with pytest.raises(InputError, match="cannot write"):
        train(SENTENCES, tmp_path, 300)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x00" * 100])
def test_a_file_that_is_no_model_is_reported(tmp_path, content):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(InputError, match=str(tmp_path / "model")):
        Subword.load(tmp_path / "model")


def test_a_missing_model_is_reported(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        Subword.load(tmp_path / "model")


def test_a_model_with_other_special_ids_is_reported(tmp_path):
    with (tmp_path / "model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=file, vocab_size=45, minloglevel=2
        )
    with pytest.raises(InputError, match=r"\(-1, 2, 1, 0\) but must be \(0, 1, 2, 3\)"):
        Subword.load(tmp_path / "model")


def test_symbols_have_ids_that_no_text_encodes_to(tmp_path):
    symbols = ["[,]", "[NP]", '["]', "[/NP]", "[it's]"]
    with_symbols = train(SENTENCES, tmp_path / "subword.model", 330, symbols=symbols)
    assert with_symbols.symbols.keys() == set(symbols)
    assert with_symbols.size == 330
    [ids] = with_symbols.encode(["[NP] , [,] [/NP]"])
    assert not set(ids.tolist()) & set(with_symbols.symbols.values())
    assert Subword.load(tmp_path / "subword.model").symbols == with_symbols.symbols
