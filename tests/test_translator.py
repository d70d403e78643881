"""Text in, text out: one line for each sentence, in its place; and what a folder must hold."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from configs import text
from transformer_jax import Translator, sharding
from transformer_jax.batch import EOS
from transformer_jax.configuration import model_config
from transformer_jax.data.sources import Pairs
from transformer_jax.errors import InputError
from transformer_jax.evaluation import Evaluator
from transformer_jax.inference import BeamSearch
from transformer_jax.model import Transformer
from transformer_jax.tasks import translation
from transformer_jax.text import subword
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.state import TrainState
from transformer_jax.workdir import Workdir

WORDS = ["the", "a", "small", "old", "red", "dog", "cat", "house", "tree", "child", "likes"]
LIMIT = 12  # subwords of a pair, EOS counted


@pytest.fixture(scope="module")
def config():
    config = text.get_config()
    config.subword.vocab_size = 330
    config.batch.max_length = LIMIT
    config.model.num_layers = 1
    config.model.d_model = config.model.d_ff = 16
    config.model.num_heads = 2
    config.search.extra_length = 4
    config.search.tokens_per_batch = 128  # 8 sentences of 16 subwords, one for each device
    config.checkpoint.average = 2
    return config.to_dict()


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return subword.train(WORDS * 3, tmp_path_factory.mktemp("vocabulary") / "model", 330)


@pytest.fixture(scope="module")
def params(config, vocabulary):
    """For each step of a run: not trained, but sharper than at first, so that outputs differ."""
    model = Transformer(model_config(config, vocabulary.size))
    tokens = np.ones((1, 1), np.int32)
    init = jax.jit(model.init)
    found = {}
    for step in (10, 20, 30):
        params = jax.device_get(init(jax.random.key(step), tokens, tokens)["params"])
        embedding = 3 * params["embedding"]
        embedding[EOS] = 0  # less likely, so that outputs are longer
        found[step] = {**params, "embedding": embedding}
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory, config, vocabulary, params):
    """A run with three checkpoints."""
    return make_run(tmp_path_factory.mktemp("run"), config, vocabulary, params)


def make_run(path, config, vocabulary, params):
    run = Workdir(path)
    run.claim(config)
    vocabulary.save(run.vocabulary_file)
    with Checkpoints(run.checkpoints, keep=5) as checkpoints:
        for step, tree in params.items():
            state = TrainState(jnp.int32(step), jax.device_put(tree), ())
            metadata = {"config": config, "vocabulary": vocabulary.fingerprint}
            checkpoints.save(state, step, {"position": jnp.int32(step)}, metadata)
    return path


@pytest.fixture(scope="module")
def translator(config, vocabulary, params):
    model = Transformer(model_config(config, vocabulary.size))
    search = BeamSearch(model, sharding.make_mesh(), **config["search"])
    return Translator(translation, vocabulary, params[10], search, LIMIT)


SENTENCES = ["the small dog", "a cat", "the old tree likes a child", "red", "the house"]


@pytest.fixture(scope="module")
def translations(translator):
    return translator.translate(SENTENCES)


def test_every_sentence_has_its_translation_in_its_place(translator, translations):
    assert len(set(translations)) == len(SENTENCES)
    assert all(translations)
    assert translator.translate(SENTENCES[::-1]) == translations[::-1]
    assert translator.translate([SENTENCES[2]] * 3) == [translations[2]] * 3


def test_an_empty_sentence_stays_empty(translator, translations):
    mixed = ["", SENTENCES[0], " \u3000 ", SENTENCES[1], "\x00\t", ""]
    assert translator.translate(mixed) == ["", translations[0], "", translations[1], "", ""]
    assert translator.translate([""]) == [""]
    assert translator.translate([]) == []


def test_a_translation_is_one_line_whatever_breaks_the_sentence(translator, translations):
    broken = ["the\u2028small\x0cdog", "\x00a\r\ncat\n"]
    assert translator.translate(broken) == translations[:2]
    strange = translator.translate(["日 🤖", "\ud800", "\u0085a\u2029"])
    assert len(strange) == 3
    for line in strange:
        assert len(line.splitlines()) <= 1
        line.encode()


def long_sentence(vocabulary, subwords):
    """A sentence of exactly so many subwords."""
    [ids] = vocabulary.encode([" ".join(WORDS * 10)])
    [sentence] = vocabulary.decode([ids[:subwords]])
    [again] = vocabulary.encode([sentence])
    assert len(again) == subwords
    return sentence


def test_a_sentence_as_long_as_in_training_is_translated_whole(translator, vocabulary):
    [line] = translator.translate([long_sentence(vocabulary, LIMIT - 1)])
    assert line


def test_a_longer_sentence_is_translated_in_pieces_and_named(translator, translations):
    vocabulary = translator.vocabulary
    sentence = long_sentence(vocabulary, LIMIT * 2)
    with pytest.warns(UserWarning, match="sentence 3") as caught:
        found = translator.translate([SENTENCES[0], "", sentence, SENTENCES[1]])
    assert [str(warning.message) for warning in caught] == [
        f"sentence 3 has {LIMIT * 2} subwords, more than the {LIMIT - 1} of training: "
        "done in 3 pieces"
    ]
    [ids] = vocabulary.encode([sentence])
    pieces = vocabulary.decode(vocabulary.split(ids, LIMIT - 1))
    assert len(pieces) == 3
    assert found == [
        translations[0],
        "",
        " ".join(filter(None, translator.translate(pieces))),
        translations[1],
    ]


def test_progress_adds_up_to_the_pieces(translator):
    done = []
    sentences = ["", *SENTENCES * 3, long_sentence(translator.vocabulary, LIMIT * 2)]
    with pytest.warns(UserWarning, match="3 pieces"):
        translator.translate(sentences, done.append)
    assert sum(done) == len(SENTENCES) * 3 + 3


def test_a_run_is_loaded_as_the_mean_of_its_last_checkpoints(folder, config, params):
    loaded = Translator.load(folder)
    assert loaded.averaged_steps == (20, 30)  # the run's own number
    assert (loaded.max_length, loaded.vocabulary.size) == (LIMIT, 330)
    expected = jax.tree.map(lambda a, b: (a + b) / 2, params[20], params[30])
    assert_equal(loaded.params, expected)
    newest = Translator.load(folder, average=1)
    assert newest.averaged_steps == (30,)
    assert_equal(newest.params, params[30])


def assert_equal(ours, theirs):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.array_equal(a, b)


def test_a_loaded_run_translates_as_what_was_saved(folder, translator):
    from_disk = Translator.load(str(folder), average=1)
    by_hand = Translator(
        translation, translator.vocabulary, from_disk.params, translator.search, LIMIT
    )
    assert from_disk.translate(SENTENCES) == by_hand.translate(SENTENCES)


def test_fewer_checkpoints_than_asked_for_are_all_taken_and_that_is_said(folder):
    with pytest.warns(UserWarning, match=f"asked to average 5 checkpoints, {folder} has 3"):
        loaded = Translator.load(folder, average=5)
    assert loaded.averaged_steps == (10, 20, 30)


def test_a_young_run_with_few_checkpoints_is_no_reason_to_warn(
    tmp_path, config, vocabulary, params
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = Translator.load(make_run(tmp_path, config, vocabulary, {10: params[10]}))
    assert loaded.averaged_steps == (10,)


def test_what_is_missing_is_named(tmp_path, config, vocabulary):
    with pytest.raises(InputError, match=rf"{tmp_path} holds no run \(no config.json\)"):
        Translator.load(tmp_path)
    Workdir(tmp_path).claim(config)
    with pytest.raises(InputError, match=r"cannot read the vocabulary .*subword\.model: No such"):
        Translator.load(tmp_path)
    vocabulary.save(tmp_path / "subword.model")
    with pytest.raises(InputError, match=r"checkpoints holds no checkpoint: train first"):
        Translator.load(tmp_path)


def test_an_average_of_none_is_refused(folder):
    with pytest.raises(InputError, match="asked to average 0 checkpoints: give 1 or more"):
        Translator.load(folder, average=0)


def test_a_vocabulary_of_another_run_is_refused(tmp_path, config, vocabulary, params):
    make_run(tmp_path, config, vocabulary, {10: params[10]})
    subword.train([f"{word}s" for word in WORDS] * 3, tmp_path / "subword.model", 330)
    with pytest.raises(InputError, match=r"checkpoints/10 was trained with another vocabulary"):
        Translator.load(tmp_path)


def test_a_pair_longer_than_a_learned_table_is_an_error_before_it_is_scored(vocabulary, config):
    learned = {**config, "model": {**config["model"], "positions": "learned", "max_positions": 30}}
    mesh = sharding.make_mesh()
    model = Transformer(model_config(learned, vocabulary.size))
    translator = Translator(translation, vocabulary, {}, BeamSearch(model, mesh), LIMIT)
    Evaluator.of(translator, learned, Pairs(["the dog"], ["the " * 29]))
    with pytest.raises(InputError, match=r"pair .* has 31 subwords, .* table 30 positions"):
        Evaluator.of(translator, learned, Pairs(["the dog"], ["the " * 30]))
