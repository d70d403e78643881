"""Where the pairs come from, their vocabulary, and how translations are scored."""

import gzip
import itertools

import numpy as np
import pytest

from configs import text
from transformer_jax.data import synthetic
from transformer_jax.errors import InputError
from transformer_jax.scoring.bleu import bleu
from transformer_jax.tasks import Output, translation
from transformer_jax.text import subword

ENGLISH = [
    f"The {adjective} {noun} {verb}."
    for adjective, noun, verb in itertools.product(
        ("small", "old", "red"), ("dog", "cat", "house"), ("sleeps", "falls")
    )
]
GERMAN = [
    f"Das {adjective} {noun} {verb}."
    for adjective, noun, verb in itertools.product(
        ("kleine", "alte", "rote"), ("Hündchen", "Kätzchen", "Haus"), ("schläft", "fällt")
    )
]


@pytest.fixture
def config(tmp_path):
    config = text.get_config()
    config.data.directory = str(tmp_path)
    config.subword.vocab_size = 310
    return config.to_dict()


def write(directory, split, english=ENGLISH, german=GERMAN):
    """Strings become a line each; bytes are the file."""
    for content, language in ((english, "en"), (german, "de")):
        if not isinstance(content, bytes):
            content = "".join(f"{line}\n" for line in content).encode()
        (directory / f"{split}.{language}").write_bytes(content)


@pytest.mark.parametrize("split", translation.SPLITS)
def test_a_split_is_its_two_files(tmp_path, config, split):
    write(tmp_path, split)
    pairs, dropped = translation.read_pairs(config["data"], split)
    assert (pairs.source, pairs.target, dropped) == (ENGLISH, GERMAN, 0)


def test_the_embedded_corpus_needs_no_files(config, monkeypatch):
    splits = {"train": [("a", "A"), ("b", "B")], "dev": [("c", "C")], "test": [("d", "D")]}
    monkeypatch.setattr(synthetic, "splits", lambda: splits)
    config["data"]["corpus"] = "synthetic"
    assert translation.read_pairs(config["data"], "train") == ((["a", "b"], ["A", "B"]), 0)
    assert translation.read_pairs(config["data"], "dev") == ((["c"], ["C"]), 0)
    assert translation.read_pairs(config["data"], "test") == ((["d"], ["D"]), 0)


def test_pairs_empty_on_a_side_are_dropped_in_training_alone(tmp_path, config):
    english = ["a", "", "c", " \u3000", "e", "\x00", ""]
    german = ["A", "B", "\t", "D", "E", "F", ""]
    for split in translation.SPLITS:
        write(tmp_path, split, english, german)
    pairs, dropped = translation.read_pairs(config["data"], "train")
    assert (pairs.source, pairs.target, dropped) == (["a", "e"], ["A", "E"], 5)
    for split in ("dev", "test"):
        pairs, dropped = translation.read_pairs(config["data"], split)
        assert (len(pairs.source), dropped) == (7, 0)


def test_what_other_tools_take_for_a_line_break_moves_no_pair(tmp_path, config):
    english = [f"{i} a\u2028b\u0085c\rd\x0ce\x00f\x1cg" for i in range(5)]
    german = [f"{i}" for i in range(5)]
    write(
        tmp_path,
        "train",
        "".join(f"{line}\r\n" for line in english).encode(),
        b"\xef\xbb\xbf" + "\n".join(german).encode(),
    )
    pairs, dropped = translation.read_pairs(config["data"], "train")
    assert pairs.source == [f"{i} a b c d e f g" for i in range(5)]
    assert pairs.target == german
    assert dropped == 0


def test_several_files_are_read_as_one_packed_or_not(tmp_path, config):
    write(tmp_path, "train")
    packed = gzip.compress((tmp_path / "train.en").read_bytes())
    (tmp_path / "more.en.gz").write_bytes(packed)
    config["data"]["train"]["source"] = "train.en,more.en.gz"
    config["data"]["train"]["target"] = "train.de,train.de"
    pairs, _ = translation.read_pairs(config["data"], "train")
    assert (pairs.source, pairs.target) == (ENGLISH * 2, GERMAN * 2)


def test_an_absolute_name_is_taken_as_it_is(tmp_path, config):
    write(tmp_path, "train")
    config["data"]["directory"] = "elsewhere"
    config["data"]["train"]["source"] = str(tmp_path / "train.en")
    config["data"]["train"]["target"] = str(tmp_path / "train.de")
    assert translation.read_pairs(config["data"], "train")[0].source == ENGLISH


@pytest.mark.parametrize(
    ("english", "german", "message"),
    [
        (ENGLISH, GERMAN[:-1], r"train\.en has 18 lines but .*train\.de has 17"),
        (b"fine\nnot \xff\n", ["a", "b"], r"train\.en, line 2: not UTF-8"),
        (b"", b"", r"train\.en and .*train\.de have no lines"),
        (["", " "], ["a", ""], r"all 2 training pairs in .* are empty on one side"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_named(tmp_path, config, english, german, message):
    write(tmp_path, "train", english, german)
    with pytest.raises(InputError, match=message):
        translation.read_pairs(config["data"], "train")


def test_a_missing_file_a_split_and_a_corpus_are_named(tmp_path, config):
    with pytest.raises(InputError, match=rf"cannot read {tmp_path}/dev\.en: No such file"):
        translation.read_pairs(config["data"], "dev")
    with pytest.raises(InputError, match="no split 'valid': give one of train, dev, test"):
        translation.read_pairs(config["data"], "valid")
    config["data"]["corpus"] = "wmt"
    with pytest.raises(InputError, match=r"data\.corpus is 'wmt': give 'text' or 'synthetic'"):
        translation.read_pairs(config["data"], "train")


@pytest.fixture
def pairs(tmp_path, config):
    write(tmp_path, "train")
    return translation.read_pairs(config["data"], "train")[0]


def test_one_vocabulary_is_learned_from_both_sides_and_kept(tmp_path, config, pairs):
    path = tmp_path / "run" / "subword.model"
    learned = translation.prepare_vocabulary(config["subword"], pairs, path)
    assert learned.size == 310
    # Another start takes what is there, whatever the text is now.
    other = translation.Pairs(["Another text."], ["Ein anderer Text."])
    kept = translation.prepare_vocabulary(config["subword"], other, path)
    assert kept.fingerprint == learned.fingerprint
    # Either side takes fewer subwords than it has characters.
    for sentence in (ENGLISH[0], GERMAN[0]):
        [ids] = learned.encode([sentence])
        assert len(ids) < len(sentence)


def test_an_existing_vocabulary_is_copied_and_no_other_taken_for_it(tmp_path, config, pairs):
    config["subword"]["model_file"] = str(tmp_path / "mine.model")
    mine = subword.train(ENGLISH, config["subword"]["model_file"], 300)
    path = tmp_path / "run" / "subword.model"
    assert translation.prepare_vocabulary(config["subword"], pairs, path).size == 300
    assert path.read_bytes() == (tmp_path / "mine.model").read_bytes()
    again = translation.prepare_vocabulary(config["subword"], pairs, path)
    assert again.fingerprint == mine.fingerprint
    subword.train(GERMAN, config["subword"]["model_file"], 300)
    with pytest.raises(InputError, match=rf"{path} is not the vocabulary .*mine\.model: give"):
        translation.prepare_vocabulary(config["subword"], pairs, path)
    config["subword"]["model_file"] = str(tmp_path / "absent.model")
    with pytest.raises(InputError, match=r"cannot read the vocabulary .*absent\.model"):
        translation.prepare_vocabulary(config["subword"], pairs, path)


def test_pairs_as_ids_are_the_vocabularys(tmp_path, config, pairs):
    vocabulary = translation.prepare_vocabulary(
        config["subword"], pairs, tmp_path / "subword.model"
    )
    tokens = translation.encode(vocabulary, pairs)
    assert len(tokens) == len(ENGLISH)
    for side, sentences in ((tokens.source, ENGLISH), (tokens.target, GERMAN)):
        assert vocabulary.decode([side[i] for i in range(len(side))]) == sentences
    assert tokens.source.tokens.dtype == np.int32


def test_scores_are_named_with_their_signatures(config):
    outputs = [Output(line) for line in GERMAN]
    perfect, summary, report = translation.score(config["data"], outputs, GERMAN)
    assert (summary, report) == ("BLEU 100.0", "")
    assert perfect.keys() == {
        "bleu",
        "bleu_signature",
        "bleu_compound",
        "bleu_compound_signature",
        "chrf",
    }
    for name in ("bleu", "bleu_compound", "chrf"):
        assert perfect[name] == pytest.approx(100)
    assert "tok:13a" in perfect["bleu_signature"]
    assert "moses-de-compound-split" in perfect["bleu_compound_signature"]


def test_tokens_are_scored_as_they_are_where_the_configuration_says_so(config):
    config["data"]["tokenize"] = "none"
    hypotheses = [line.replace(".", " .").lower() for line in GERMAN]
    outputs = [Output(line) for line in hypotheses]
    found = translation.score(config["data"], outputs, GERMAN).scores
    assert "tok:none" in found["bleu_signature"]
    assert found["bleu"] == bleu(hypotheses, GERMAN, tokenize="none").score


def test_a_score_that_will_not_work_is_known_at_the_start(config):
    translation.check(config["data"])
    config["data"]["target_language"] = "xx"
    with pytest.raises(InputError, match="no Moses tokenizer for language 'xx'"):
        translation.check(config["data"])
    config["data"]["tokenize"] = "mine"
    with pytest.raises(InputError, match="unknown tokenizer 'mine' for BLEU: choose one of 13a"):
        translation.check(config["data"])
