"""Parsing as a task: treebanks in, ids, trees and their scores out."""

import gzip

import numpy as np
import pytest

from configs import wsj_parsing
from transformer_jax import tasks
from transformer_jax.batch import UNK
from transformer_jax.errors import InputError
from transformer_jax.tasks import Output, parsing
from transformer_jax.text import subword

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .))",
    "(NP (NP (DT a) (NN dog)) (PP (IN of) (NP (NN mine))))",
    "(S (NP (NN sleep)) (VP (VBZ is) (ADJP (JJ good))) (-LRB- -LRB-) (NP (NN it)) (-RRB- -RRB-))",
]


@pytest.fixture
def config(tmp_path):
    config = wsj_parsing.get_config("small")
    config.data.directory = str(tmp_path)
    config.subword.vocab_size = 320
    config = config.to_dict()
    for split in ("train", "dev"):
        write(tmp_path / f"{split}.mrg", TREES)
    return config


def write(path, trees):
    text = "".join(f"(TOP {tree})\n" for tree in trees)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def pairs(config):
    return parsing.read_pairs(config["data"], "train")[0]


@pytest.fixture
def vocabulary(tmp_path, config, pairs):
    path = tmp_path / "run" / "subword.model"
    return parsing.prepare_vocabulary(config["subword"], pairs, path)


def test_tasks_are_named():
    assert tasks.named("parsing") is parsing
    assert isinstance(parsing, tasks.Task)
    assert isinstance(tasks.named("translation"), tasks.Task)
    with pytest.raises(InputError, match="task is 'tagging': give one of 'translation', 'parsing'"):
        tasks.named("tagging")


def test_a_treebank_is_sentences_and_their_trees(config):
    pairs, dropped = parsing.read_pairs(config["data"], "dev")
    assert pairs.source[0] == "the dog sleeps ."
    assert pairs.source[3].endswith("-LRB- it -RRB-")
    assert pairs.target == TREES
    assert dropped == 0


def test_traces_and_function_tags_are_taken_off_and_trees_of_traces_counted(tmp_path, config):
    traced = "(S (NP-SBJ-1 (NN cats)) (VP (VBP sleep) (NP (-NONE- *-1))))"
    write(tmp_path / "train.mrg", [traced, "(S (NP (-NONE- *)))"])
    pairs, dropped = parsing.read_pairs(config["data"], "train")
    assert pairs == (["cats sleep"], ["(S (NP (NN cats)) (VP (VBP sleep)))"])
    assert dropped == 1
    write(tmp_path / "dev.mrg", ["(S (NP (-NONE- *)))", "(S (NN cats))"])
    with pytest.raises(
        InputError, match=r"tree 1 holds nothing but traces \(1 such in all\); take them out"
    ):
        parsing.read_pairs(config["data"], "dev")


def test_several_files_are_concatenated_compressed_ones_too(tmp_path, config):
    (tmp_path / "more.mrg.gz").write_bytes(gzip.compress(f"( {TREES[0]})\n".encode()))
    config["data"]["train"]["trees"] = "train.mrg,more.mrg.gz"
    pairs, _ = parsing.read_pairs(config["data"], "train")
    assert pairs.target == [*TREES, TREES[0]]


def test_a_second_corpus_has_its_share_of_an_epoch(tmp_path, config):
    write(tmp_path / "more.mrg", TREES[:1] * 36)
    config["data"]["more"] = {"trees": "more.mrg", "share": 0.75}
    parsing.check(config["data"])
    pairs, _ = parsing.read_pairs(config["data"], "train")
    assert len(pairs.source) == 48  # 36 once, and 4 three times
    assert pairs.target.count(TREES[1]) == 3
    assert len(parsing.read_pairs(config["data"], "dev")[0].source) == 4
    write(tmp_path / "more.mrg", TREES[1:2])
    pairs, _ = parsing.read_pairs(config["data"], "train")
    assert len(pairs.source) == 16  # 12 times one, and 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpus": "text"}, "data.corpus is 'text': give 'trees' or 'synthetic'"),
        ({"more": {"trees": "x", "share": 1.0}}, "data.more.share is 1.0: give 0 or more, under 1"),
        ({"more": {"trees": "x", "share": 0.0}}, "a second corpus needs both"),
        ({"more": {"trees": "", "share": 0.5}}, "a second corpus needs both"),
    ],
)
def test_settings_that_cannot_work_are_known_at_the_start(config, change, message):
    with pytest.raises(InputError, match=message):
        parsing.check(config["data"] | change)


def test_what_cannot_be_read_is_named_with_its_line(tmp_path, config):
    (tmp_path / "train.mrg").write_text(f"{TREES[0]}\n(S (NN a b))\n")
    with pytest.raises(InputError, match=r"train\.mrg, line 2: two words in one bracket"):
        parsing.read_pairs(config["data"], "train")
    with pytest.raises(InputError, match=r"cannot read .*absent\.mrg: No such"):
        parsing.read_pairs(config["data"] | {"train": {"trees": "absent.mrg"}}, "train")
    (tmp_path / "traces.mrg").write_text("(S (-NONE- *))\n")
    with pytest.raises(InputError, match=r"traces\.mrg: all 1 trees hold nothing but traces"):
        parsing.read_pairs(config["data"] | {"train": {"trees": "traces.mrg"}}, "train")
    with pytest.raises(InputError, match="no split 'valid'"):
        parsing.read_pairs(config["data"], "valid")


def test_every_label_is_one_id_that_no_sentence_has(vocabulary, pairs):
    tokens = parsing.encode(vocabulary, pairs)
    linearised = "[S] [NP] [DT] [NN] [/NP] [VP] [VBZ] [/VP] [.] [/S]"
    symbols = {id: symbol for symbol, id in vocabulary.symbols.items()}
    assert " ".join(symbols[id] for id in tokens.target[0].tolist()) == linearised
    labels = set(vocabulary.symbols.values())
    assert not labels & set(tokens.source.tokens.tolist())
    [ids] = vocabulary.encode(["[NP] S /S [/NP] NN"])
    assert not labels & set(ids.tolist())
    assert vocabulary.size == 320


def test_encoding_and_decoding_are_inverse(vocabulary, pairs):
    tokens = parsing.encode(vocabulary, pairs)
    ids = [tokens.target[i] for i in range(len(tokens))]
    outputs = parsing.decode(vocabulary, ids, pairs.source)
    assert outputs == [Output(tree, False) for tree in TREES]
    assert vocabulary.decode([tokens.source[i] for i in range(4)]) == pairs.source


def test_a_subword_in_the_place_of_a_tag_is_a_repair(vocabulary):
    ids = [vocabulary.symbols["[S]"], vocabulary.encode(["dog"])[0][0], vocabulary.symbols["[/S]"]]
    outputs = parsing.decode(vocabulary, [np.array(ids, np.int32)], ["dog"])
    assert outputs == [Output("(S (UNK dog))", True)]


def test_whatever_is_found_is_a_tree_over_the_words_of_the_source(vocabulary, pairs):
    generator = np.random.default_rng(0)
    for source in pairs.source:
        for size in (0, 1, 10, 30):
            ids = generator.integers(0, vocabulary.size, size).astype(np.int32)
            [(text, repaired)] = parsing.decode(vocabulary, [ids], [source])
            [tree] = parsing._trees([text])
            assert " ".join(parsing.trees.words(tree)) == source
            assert repaired


def test_round_brackets_in_a_sentence_are_read_as_a_treebank_writes_them(vocabulary):
    typed, written = parsing.encode_sources(vocabulary, ["it ( is )", "it -LRB- is -RRB-"])
    assert typed.tolist() == written.tolist()
    [output] = parsing.decode(vocabulary, [np.zeros(0, np.int32)], ["it ( is )"])
    assert output.text == "(X (NN it) (NN -LRB-) (NN is) (NN -RRB-))"


def test_a_sentence_is_never_cut(vocabulary):
    ids = np.arange(4, 300, dtype=np.int32)
    [piece] = parsing.cut(vocabulary, ids, 16)
    assert piece is ids


def test_a_label_that_training_has_not_seen_is_unk(vocabulary, pairs):
    strange = pairs._replace(target=["(S (QP (CD one)))"], source=["one"])
    labels = [vocabulary.symbols["[S]"], UNK, UNK, UNK, vocabulary.symbols["[/S]"]]
    assert parsing.encode(vocabulary, strange).target[0].tolist() == labels


def test_a_label_that_is_a_tag_too_is_told_from_it(tmp_path, config):
    trees = ["(S (X (X a)) (NN b))", "(S (NN a) (X (NN b)))"]
    write(tmp_path / "train.mrg", trees)
    pairs, _ = parsing.read_pairs(config["data"], "train")
    config["subword"]["vocab_size"] = 271
    vocabulary = parsing.prepare_vocabulary(config["subword"], pairs, tmp_path / "subword.model")
    tokens = parsing.encode(vocabulary, pairs)
    outputs = parsing.decode(vocabulary, [tokens.target[i] for i in range(2)], pairs.source)
    assert outputs == [Output(tree) for tree in trees]


def test_a_named_vocabulary_needs_a_symbol_for_every_label(tmp_path, config, pairs):
    named = tmp_path / "named.model"
    subword.train(pairs.source, named, 290)
    config["subword"]["model_file"] = str(named)
    with pytest.raises(InputError, match=r"named\.model has no symbol for .*\[-LRB-\]"):
        parsing.prepare_vocabulary(config["subword"], pairs, tmp_path / "subword.model")


def test_a_kept_vocabulary_serves_no_treebank_with_other_labels(tmp_path, config, vocabulary):
    write(tmp_path / "train.mrg", ["(S (QP (CD one)))"])
    other, _ = parsing.read_pairs(config["data"], "train")
    with pytest.raises(InputError, match=r"subword\.model has no symbol for \[/QP\] \[CD\] \[QP\]"):
        parsing.prepare_vocabulary(config["subword"], other, tmp_path / "run" / "subword.model")


def test_gold_scores_100_and_nothing_scores_0(config, vocabulary, pairs):
    outputs = [Output(tree) for tree in TREES]
    gold, summary, report = parsing.score(config["data"], outputs, TREES)
    assert gold["f1"] == gold["recall"] == gold["precision"] == gold["exact_match"] == 100
    assert gold["repaired_share"] == gold["error_sentences"] == 0
    assert summary == f"F1 100.0 (0 of {len(TREES)} sentences left out)"
    assert "Bracketing FMeasure       = 100.00" in report
    empty = [np.zeros(0, np.int32)] * len(TREES)
    outputs = parsing.decode(vocabulary, empty, pairs.source)
    nothing = parsing.score(config["data"], outputs, TREES).scores
    assert nothing["f1"] == 0
    assert nothing["repaired_share"] == 1


def test_a_sentence_of_which_no_word_counts_is_left_out_and_counted(config):
    outputs = [Output(TREES[0]), Output("(S (. Yes))")]
    found = parsing.score(config["data"], outputs, [TREES[0], "(S (UH Yes))"])
    assert found.scores["skipped_sentences"] == 1
    assert found.summary == "F1 100.0 (1 of 2 sentences left out)"


def test_the_embedded_trees_survive_ids_and_score_100(tmp_path, config):
    data = config["data"] | {"corpus": "synthetic"}
    pairs, _ = parsing.read_pairs(data, "dev")
    settings = config["subword"] | {"vocab_size": 700}
    vocabulary = parsing.prepare_vocabulary(settings, pairs, tmp_path / "subword.model")
    ids = parsing.encode(vocabulary, pairs).target
    outputs = parsing.decode(vocabulary, [ids[i] for i in range(len(ids))], pairs.source)
    assert [output.text for output in outputs] == pairs.target
    assert not any(output.repaired for output in outputs)
    assert parsing.score(data, outputs, pairs.target).summary.startswith("F1 100.0 (0 of 500 ")


def test_the_embedded_corpus_has_trees_over_the_english_of_its_pairs(config):
    data = config["data"] | {"corpus": "synthetic"}
    parsing.check(data)
    pairs, _ = parsing.read_pairs(data, "dev")
    english, _ = tasks.named("translation").read_pairs({"corpus": "synthetic"}, "dev")
    assert len(pairs.source) == len(english.source) == 500
    for parsed, written in zip(pairs.source, english.source, strict=True):
        letters = [c for c in parsed.lower() if c.isalpha()]
        assert letters == [c for c in written.lower() if c.isalpha()]
