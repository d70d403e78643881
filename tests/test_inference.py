"""Searching and scoring many sentences, against the NumPy model and against each by itself."""

import jax
import numpy as np
import pytest
from jax.sharding import AxisType

from tests.model import reference
from transformer_jax import sharding
from transformer_jax.batch import BOS, EOS, PAD
from transformer_jax.errors import InputError
from transformer_jax.inference import BeamSearch, TeacherForcing
from transformer_jax.model import Transformer, TransformerConfig

V, EXTRA, ALPHA = 9, 3, 0.6
CONFIG = TransformerConfig(V, num_layers=1, d_model=8, d_ff=8, num_heads=2)
MODEL = Transformer(CONFIG)


@pytest.fixture(scope="module")
def mesh():
    return sharding.make_mesh()


@pytest.fixture(scope="module")
def params():
    """The source and the last token matter more than at the start: outputs differ by much."""
    tokens = np.ones((1, 1), np.int32)
    params = jax.jit(MODEL.init)(jax.random.key(1), tokens, tokens)["params"]
    embedding = 3.0 * np.asarray(params["embedding"])
    embedding[EOS] = 0.0
    attention = params["decoder_0"]["cross_attention"]
    attention = {**attention, "out": 20.0 * attention["out"]}
    decoder = {**params["decoder_0"], "cross_attention": attention}
    return {**params, "embedding": embedding, "decoder_0": decoder}


@pytest.fixture(scope="module")
def endless(params):
    """The same model, but EOS is all but impossible: every output runs to its limit.

    At the initial parameters the last norm's output sums to 0; now it sums to d_model.
    """
    norm = {name: np.ones(CONFIG.d_model, np.float32) for name in ("scale", "bias")}
    decoder = {**params["decoder_0"], "feed_forward_norm": {"norm": norm}}
    embedding = np.copy(params["embedding"])
    embedding[EOS] = -10.0
    return {**params, "decoder_0": decoder, "embedding": embedding}


@pytest.fixture(scope="module")
def sources():
    """Two batches of the shape with 16 slots and one of 32, shuffled."""
    generator = np.random.default_rng(0)
    lengths = [*generator.integers(0, 15, 20), 15, 16, 20, 31]
    generator.shuffle(lengths)
    return [generator.integers(3, V, length, np.int32) for length in lengths]


@pytest.fixture(scope="module")
def search(mesh):
    return make_search(mesh)


def make_search(mesh, n_best=3):
    return BeamSearch(
        MODEL,
        mesh,
        beam_size=3,
        length_penalty=ALPHA,
        extra_length=EXTRA,
        n_best=n_best,
        tokens_per_batch=16 * 16,
    )


@pytest.fixture(scope="module")
def found(search, params, sources):
    return search(params, sources)


def assert_same(ours, theirs):
    """The same ids, and the same scores up to the rounding of batches of another size."""
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert [one.ids.tolist() for one in a] == [one.ids.tolist() for one in b]
        assert [one.score for one in a] == pytest.approx([one.score for one in b], rel=1e-5)


def test_the_score_is_the_teacher_forced_log_probability_over_the_length_penalty(
    found, params, sources
):
    model = reference.float64(params)
    lengths = set()
    for source, hypotheses in zip(sources, found, strict=True):
        for ids, score in hypotheses:
            lengths.add(len(ids))
            target = [*ids.tolist(), EOS]
            logs = reference.log_probabilities(model, CONFIG, [*source.tolist(), EOS], target)
            penalty = ((5 + len(target)) / 6) ** ALPHA
            assert score == pytest.approx(logs.sum() / penalty, rel=1e-5)
    assert len(lengths) > 3


def test_the_n_best_are_different_and_the_best_comes_first(found):
    for hypotheses in found:
        assert len(hypotheses) == 3
        scores = [score for _, score in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(ids.tolist()) for ids, _ in hypotheses}) == 3
        assert not any(np.isin([PAD, EOS, BOS], ids).any() for ids, _ in hypotheses)


def test_each_sentence_of_a_batch_is_found_as_if_it_were_alone_and_in_its_place(
    search, found, params, sources
):
    alone = [search(params, [source])[0] for source in sources]
    assert_same(found, alone)
    assert len({tuple(hypotheses[0].ids.tolist()) for hypotheses in found}) > 3


def test_eight_devices_find_what_one_finds(found, params, sources):
    one = jax.make_mesh((1, 1), ("data", "model"), (AxisType.Auto,) * 2, devices=jax.devices()[:1])
    short = [index for index, source in enumerate(sources) if len(source) < 16]
    ours = make_search(one)(params, [sources[index] for index in short[:16]])
    assert_same(ours, [found[index] for index in short[:16]])


def test_the_limit_of_an_output_is_its_own_inputs_length_and_the_extra(search, endless, sources):
    for source, hypotheses in zip(sources, search(endless, sources), strict=True):
        # EOS counts as a token.
        assert [len(ids) + 1 for ids, _ in hypotheses] == [len(source) + EXTRA] * 3


def test_progress_adds_up_to_the_number_of_sentences(search, params, sources):
    done = []
    search(params, sources, done.append)
    assert len(done) > 1
    assert sum(done) == len(sources)


def test_no_sentences_give_no_hypotheses(search, params):
    assert search(params, []) == []


def test_a_batch_holds_about_the_tokens_it_is_given_in_few_shapes(mesh):
    search = make_search(mesh)
    lengths = np.random.default_rng(0).integers(1, 300, 500).tolist()
    batches = list(search._batches(lengths))
    assert sorted(index for _, _, members in batches for index in members) == list(range(500))
    for rows, length, members in batches:
        assert rows % 8 == 0
        assert len(members) <= rows
        assert rows * length <= max(16 * 16, 8 * length)
        assert max(lengths[index] for index in members) <= length
    assert len({(rows, length) for rows, length, _ in batches}) <= 2 * 6  # 16, 32, ..., 512


@pytest.mark.parametrize("n_best", [0, 4])
def test_more_hypotheses_than_beams_are_refused(mesh, n_best):
    with pytest.raises(InputError, match=f"n_best is {n_best}: give 1 to beam_size, which is 3"):
        make_search(mesh, n_best)


def test_a_negative_length_penalty_is_refused(mesh):
    with pytest.raises(InputError, match="length_penalty is -1"):
        BeamSearch(MODEL, mesh, length_penalty=-1.0)


def test_perplexity_is_that_of_the_reference_whatever_the_padding(mesh, params, sources):
    targets = sources[::-1]
    batches = []
    for start in range(0, len(sources), 12):  # 12 of 16 rows: some devices have padding alone
        batch = {side: np.full((16, 32), PAD, np.int32) for side in ("source", "target")}
        for side, sentences in (("source", sources), ("target", targets)):
            for row, ids in enumerate(sentences[start : start + 12]):
                batch[side][row, : len(ids) + 1] = [*ids, EOS]
        batches.append(batch)
    model = reference.float64(params)
    logs = np.concatenate(
        [
            reference.log_probabilities(
                model, CONFIG, [*source.tolist(), EOS], [*target.tolist(), EOS]
            )
            for source, target in zip(sources, targets, strict=True)
        ]
    )
    ours = TeacherForcing(MODEL, mesh)(params, batches)
    assert ours == pytest.approx(np.exp(-logs.mean()), rel=1e-5)
