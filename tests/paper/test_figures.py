"""The figures: what is drawn is what the model computes, and files say nothing of the day."""

import argparse
import dataclasses
import json
import sys

import jax
import numpy as np
import pytest

from transformer_jax import Translator, sharding, tasks
from transformer_jax.errors import InputError
from transformer_jax.inference import BeamSearch
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.paper import attention, figures
from transformer_jax.tasks import parsing
from transformer_jax.text import subword

pytest.importorskip("matplotlib")

WORDS = ["the", "a", "small", "old", "red", "dog", "cat", "house", "tree", "child", "likes"]
LAYERS, HEADS = 2, 2


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """Not trained."""
    vocabulary = subword.train(WORDS * 3, tmp_path_factory.mktemp("vocabulary") / "model", 330)
    config = TransformerConfig(330, num_layers=LAYERS, d_model=16, d_ff=16, num_heads=HEADS)
    model = Transformer(config)
    tokens = np.ones((1, 1), np.int32)
    params = jax.jit(model.init)(jax.random.key(0), tokens, tokens)["params"]
    options = {"beam_size": 2, "extra_length": 2, "tokens_per_batch": 128}
    search = BeamSearch(model, sharding.make_mesh(), **options)
    return Translator(tasks.named("translation"), vocabulary, params, search, max_length=12)


def draw(monkeypatch, translator, *options):
    if translator is not None:
        monkeypatch.setattr(Translator, "load", lambda workdir: translator)
    parser = argparse.ArgumentParser()
    figures.add_arguments(parser)
    figures.run(parser.parse_args([str(option) for option in options]))


def assert_drawn(folder, *names):
    """Each as PNG and SVG, and nothing else."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert files.keys() == {name + suffix for name in names for suffix in (".png", ".svg")}
    for name, content in files.items():
        assert content.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")
        assert len(content) > 5000


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_position_shares_out_its_whole_attention(translator, kind):
    found = attention.attention(translator, "the small dog", "a red cat", kind, 2, [1, 0])
    source, target = ["the", "small", "dog", "</s>"], ["a", "red", "cat", "</s>"]
    fed = ["<s>", "a", "red", "cat"]
    # All of these are words of one subword.
    assert (found.looking, found.seen) == {
        "encoder": (source, source),
        "decoder": (fed, fed),
        "cross": (target, source),
    }[kind]
    assert found.weights.shape == (2, 4, 4)
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-6)
    if kind == "decoder":
        assert not np.triu(found.weights, 1).any()
    swapped = attention.attention(translator, "the small dog", "a red cat", kind, 2, [0, 1])
    np.testing.assert_array_equal(swapped.weights, found.weights[::-1])


def test_without_a_target_the_translation_is_looked_at(translator):
    found = attention.attention(translator, "the dog", None, "cross", 1, [0])
    [ids] = translator.vocabulary.encode(["the dog"])
    [[best]] = translator.search(translator.params, [ids])
    assert len(found.looking) == len(best.ids) + 1
    said = translator.vocabulary.decode(best.ids[:, None])
    assert [label for label in found.looking if label != "\u2423"][:-1] == list(filter(None, said))


def test_attention_is_drawn_as_maps_and_lines(monkeypatch, tmp_path, translator, capsys):
    options = ["attention", "--workdir=run", "--source=the $ dog $", "--target=a cat"]
    draw(monkeypatch, translator, *options, f"--out={tmp_path / 'a'}", "--kind=cross")
    assert_drawn(tmp_path / "a", "attention_cross_2", "attention_cross_2_lines")
    paths = capsys.readouterr().out.split()
    assert paths[0] == str(tmp_path / "a" / "attention_cross_2.png")
    assert len(paths) == 4
    draw(monkeypatch, translator, *options, f"--out={tmp_path / 'b'}", "--layer=1", "--word=dog")
    assert_drawn(tmp_path / "b", "attention_encoder_1", "attention_encoder_1_lines")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--layer=3", "--layer is 3: this model has 1 to 2"),
        ("--layer=0", "--layer is 0: this model has 1 to 2"),
        ("--heads=0,2", "--heads is 2: this model has 0 to 1"),
        ("--source=", "--source is empty"),
        ("--target= ", "--target is empty"),
        ("--word=house", "--word 'house' is not in the sentence: the dog </s>"),
        ("--source=" + "the " * 50, "the source has 51 subwords with </s>; at most 50"),
        ("--target=" + "the " * 50, "the target has 51 .* be drawn: give a shorter sentence"),
    ],
)
def test_what_can_not_be_drawn_is_an_error(monkeypatch, tmp_path, translator, option, message):
    options = ["attention", "--workdir=run", "--source=the dog", "--target=a", f"--out={tmp_path}"]
    with pytest.raises(InputError, match=message):
        draw(monkeypatch, translator, *options, option)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["(S (A a)) (S (B b))", "(S (A a)", "a cat"])
def test_a_parse_to_be_drawn_is_one_tree(translator, target):
    parser = dataclasses.replace(translator, task=parsing)
    with pytest.raises(InputError, match=r"--target cannot be drawn: .*; give one tree"):
        attention.attention(parser, "the dog", target, "cross", 1, [0])


def test_a_word_of_several_subwords_is_found_wherever_it_is():
    labels = ["\u2423", "st", "ar", "ring", "at", "st", "ar", "</s>"]
    assert attention._places(labels, "starring") == [1, 2, 3]
    assert attention._places(labels, "star") == [1, 2, 5, 6]


def test_equal_drawings_are_equal_files(monkeypatch, tmp_path):
    for folder in ("a", "b"):
        options = [f"--out={tmp_path / folder}", "--d_model=6", "--length=9"]
        draw(monkeypatch, None, "positions", *options)
        assert_drawn(tmp_path / folder, "positions")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_learning_rates_are_drawn(monkeypatch, tmp_path):
    draw(monkeypatch, None, "schedule", f"--out={tmp_path}", "--warmup=10,200", "--steps=100")
    assert_drawn(tmp_path, "schedule")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["positions", "--d_model=1"], "--d_model is 1"),
        (["schedule", "--warmup=0,4000"], "--warmup is 0,4000"),
        (["schedule", "--steps=1"], "--steps is 1"),
    ],
)
def test_sizes_that_make_no_curve_are_errors(monkeypatch, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        draw(monkeypatch, None, *options, f"--out={tmp_path}")


def write_metrics(run, *lines):
    run.mkdir()
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    (run / "metrics.jsonl").write_text(text, encoding="utf-8")
    return run


def test_training_curves_are_those_of_the_metrics(monkeypatch, tmp_path):
    one = write_metrics(
        tmp_path / "one",
        {"step": 10, "loss": 9.5, "learning_rate": 0.1},
        {"step": 20, "loss": 8.5},
        {"step": 20, "dev_perplexity": 90.0, "dev_bleu": 1.5},
        {"step": 30, "dev_perplexity": 9.0, "dev_bleu": 3.5},
        '{"step": 3',  # killed here
    )
    assert figures.read_curves(one) == {
        "loss": ([10, 20], [9.5, 8.5]),
        "dev_perplexity": ([20, 30], [90, 9]),
        "dev_bleu": ([20, 30], [1.5, 3.5]),
    }
    other = write_metrics(tmp_path / "a$b$", {"step": 10, "loss": 9.0}, {"step": 20, "loss": 7.0})
    draw(monkeypatch, None, "training", one, other, f"--out={tmp_path / 'out'}")
    assert_drawn(tmp_path / "out", "training")


def test_a_run_without_metrics_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*metrics.jsonl: No such file"):
        figures.read_curves(tmp_path)
    with pytest.raises(InputError, match=r"metrics.jsonl holds no metrics yet"):
        figures.read_curves(write_metrics(tmp_path / "young", {"step": 1}))
    with pytest.raises(InputError, match=r"metrics.jsonl, line 1: not a line of a run"):
        figures.read_curves(write_metrics(tmp_path / "odd", "loss\n", {"step": 1, "loss": 2.0}))


def test_a_folder_that_can_not_be_written_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot write figures to .*file"):
        draw(monkeypatch, None, "schedule", f"--out={tmp_path / 'file'}")
    (tmp_path / "schedule.png").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*schedule\.png: Is a directory"):
        draw(monkeypatch, None, "schedule", f"--out={tmp_path}")


def test_without_matplotlib_it_is_said_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"figures need matplotlib: pip install -e '\.\[plot\]'"):
        draw(monkeypatch, None, "schedule", f"--out={tmp_path}")
