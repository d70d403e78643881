"""Whose folder it is, and which values no run can have."""

import copy
import json

import pytest

from configs import text
from transformer_jax.configuration import check_values, model_config
from transformer_jax.errors import InputError
from transformer_jax.workdir import Workdir


@pytest.fixture
def config():
    return text.get_config().to_dict()


@pytest.fixture
def workdir(tmp_path):
    return Workdir(tmp_path / "runs" / "new")


def changed(config, field, value):
    """A copy with one field of another value."""
    config = copy.deepcopy(config)
    *path, name = field.split(".")
    group = config
    for part in path:
        group = group[part]
    group[name] = value
    return config


def with_a_checkpoint(workdir, config):
    workdir.claim(config)
    (workdir.checkpoints / "100").mkdir(parents=True)
    return workdir


def test_what_is_claimed_is_read_back(workdir, config):
    workdir.claim(config)
    assert workdir.config() == config
    assert [path.name for path in workdir.path.iterdir()] == ["config.json"]


def test_looking_at_a_new_folder_leaves_nothing_there(workdir, config):
    assert workdir.check(config) == {}
    assert not workdir.path.parent.exists()


def test_the_same_configuration_goes_on(workdir, config):
    assert with_a_checkpoint(workdir, config).check(config) == {}
    # JSON has lists alone.
    with_a_tuple = changed(config, "data.target_language", ("de", "en"))
    workdir.claim(with_a_tuple)
    assert workdir.check(with_a_tuple) == {}


def test_what_may_change_is_told_with_both_values(workdir, config):
    with_a_checkpoint(workdir, config)
    now = changed(changed(config, "steps", 7), "optimizer.clip_norm", 1.0)
    assert workdir.check(now) == {"optimizer.clip_norm": (None, 1.0), "steps": (20_000, 7)}
    # A field of a later version of this project was not there before.
    assert workdir.check(changed(config, "report.new", 1)) == {"report.new": (None, 1)}
    assert workdir.config() == config


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("task", "parsing", "task = 'translation', not 'parsing'"),
        ("model.d_ff", 512, "model.d_ff = 1024, not 512"),
        ("model.d_k", 8, "model.d_k = None, not 8"),
        ("subword.vocab_size", 500, "subword.vocab_size = 16000, not 500"),
        ("subword.model_file", "x", "subword.model_file = '', not 'x'"),
    ],
)
def test_a_run_of_another_model_or_vocabulary_is_refused(workdir, config, field, value, shown):
    with_a_checkpoint(workdir, config)
    with pytest.raises(InputError, match=f"{workdir.path} holds a run with {shown}: give another"):
        workdir.check(changed(config, field, value))
    assert workdir.config() == config


def test_a_start_without_a_checkpoint_binds_nobody(workdir, config):
    """A first try with a wrong value is not in the way of the second."""
    workdir.claim(config)
    workdir.vocabulary_file.write_bytes(b"the vocabulary")
    workdir.checkpoints.mkdir()
    (workdir.checkpoints / "100.orbax-checkpoint-tmp").mkdir()  # killed while it was written
    workdir.claim(config)
    assert workdir.vocabulary_file.exists()  # the same start again need not learn it again
    other = changed(config, "subword.vocab_size", 500)
    assert workdir.check(other) == {}
    workdir.claim(other)
    assert workdir.config() == other
    assert not workdir.vocabulary_file.exists()


def test_the_vocabulary_of_a_run_stays_when_it_goes_on_with_other_values(workdir, config):
    with_a_checkpoint(workdir, config).vocabulary_file.write_bytes(b"the vocabulary")
    workdir.claim(changed(config, "steps", 7))
    assert workdir.vocabulary_file.exists()


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[]", b'{"architectures": ["Bert"]}'])
def test_a_folder_of_something_else_is_neither_read_nor_overwritten(workdir, config, content):
    workdir.path.mkdir(parents=True)
    workdir.config_file.write_bytes(content)
    for use in (workdir.config, lambda: workdir.check(config), lambda: workdir.claim(config)):
        with pytest.raises(InputError, match=f"{workdir.config_file}"):
            use()
    assert workdir.config_file.read_bytes() == content


def test_a_folder_without_a_run_is_named_with_what_to_do(workdir, tmp_path):
    with pytest.raises(InputError, match=rf"{workdir.path} holds no run \(no config.json\): train"):
        workdir.config()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file holds no run"):
        Workdir(tmp_path / "file").config()


def test_a_folder_that_cannot_be_written_is_named(tmp_path, config):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(InputError, match=f"cannot write to the workdir {path}: .*; .*another"):
            Workdir(path).claim(config)
        with pytest.raises(InputError, match=f"cannot write to the workdir {path}"):
            Workdir(path).write_evaluation("test", {}, [], "")


def test_a_run_from_before_a_field_of_the_model_goes_on_with_its_default(workdir, config):
    older = copy.deepcopy(config)
    del older["model"]["scale_scores"], older["model"]["neighbourhood"]
    workdir.claim(older)
    (workdir.checkpoints / "10").mkdir(parents=True)
    assert workdir.check(config) == {}
    with pytest.raises(InputError, match=r"model\.neighbourhood = None, not 4"):
        workdir.check(changed(config, "model.neighbourhood", 4))


def test_scores_are_kept_as_json_and_translations_a_line_each(workdir):
    scores = {"bleu": 1.5, "averaged_steps": [1, 2]}
    workdir.write_evaluation("dev", scores, ["Grüße", "", "x"], "")
    assert json.loads((workdir.eval / "dev.json").read_text("utf-8")) == {
        "bleu": 1.5,
        "averaged_steps": [1, 2],
    }
    assert (workdir.eval / "dev.hypotheses.txt").read_bytes() == "Grüße\n\nx\n".encode()
    assert sorted(path.name for path in workdir.eval.iterdir()) == [
        "dev.hypotheses.txt",
        "dev.json",
    ]
    workdir.write_evaluation("test", scores, ["(S (NN x))"], "-- All --\n")
    assert (workdir.eval / "test.report.txt").read_text("utf-8") == "-- All --\n"


def test_a_learned_table_that_is_too_short_is_named_before_training(config):
    learned = changed(config, "model.positions", "learned")
    check_values(learned)
    with pytest.raises(
        InputError, match=r"model\.max_positions is 100, too few .* give 178 or more"
    ):
        check_values(changed(learned, "model.max_positions", 100))


def test_data_of_another_task_is_named(config):
    with pytest.raises(InputError, match=r"task is 'parsing', but there is no data\.more: start"):
        check_values(config | {"task": "parsing", "data": config["data"] | {"corpus": "synthetic"}})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("task", "summaries", "task is 'summaries': give one of 'translation', 'parsing'"),
        ("seed", -1, "seed is -1: give 0 or more"),
        ("steps", -1, "steps is -1: give 0 or more"),
        ("batch.tokens", 0, "batch.tokens is 0: give 1 or more"),
        ("batch.shapes", 0, "batch.shapes is 0: give 1 or more"),
        ("batch.max_length", 1, "batch.max_length is 1: give 2 or more"),
        ("batch.micro_batches", 0, "batch.micro_batches is 0: give 1 or more"),
        ("model.num_heads", 3, "model.num_heads 3 does not divide model.d_model 256"),
        ("model.num_layers", 0, "model.num_layers is 0: give 1 or more"),
        ("model.dropout_rate", 1.0, "model.dropout_rate is 1.0: give 0 or more, under 1"),
        ("model.dtype", "float64", "model.dtype is 'float64': give one of"),
        ("loss.label_smoothing", 1.0, "loss.label_smoothing is 1.0: give 0 or more, under 1"),
        ("optimizer.b2", -0.1, "optimizer.b2 is -0.1: give 0 or more, under 1"),
        ("optimizer.warmup_steps", 0, "optimizer.warmup_steps is 0: give 1 or more"),
        ("optimizer.peak", 0.0, "optimizer.peak is 0.0: give more than 0"),
        ("optimizer.clip_norm", float("nan"), "optimizer.clip_norm is nan: give more than 0"),
        ("mesh.layout", "none", "mesh.layout is 'none': give one of data, fsdp, tensor"),
        ("mesh.layout", "tensor", "mesh.layout is 'tensor' and mesh.model 1: 'tensor' needs 2"),
        ("mesh.model", 2, "mesh.layout is 'data' and mesh.model 2"),
        ("search.beam_size", 0, "search.beam_size is 0: give 1 or more"),
        ("search.extra_length", -1, "search.extra_length is -1: give 0 or more"),
        ("checkpoint.average", 0, "checkpoint.average is 0: give 1 or more"),
        ("report.every_steps", 0, "report.every_steps is 0: give 1 or more"),
        ("report.evaluate_sentences", 0, "report.evaluate_sentences is 0: give 1 or more"),
    ],
)
def test_a_value_that_no_run_can_have_is_named(config, field, value, message):
    check_values(config)
    with pytest.raises(InputError) as error:
        check_values(changed(config, field, value))
    assert str(error.value).startswith(message)


def test_the_model_is_what_the_configuration_says(config):
    model = model_config(changed(config, "model.d_v", 24), vocab_size=300)
    assert (model.vocab_size, model.d_model, model.d_ff, model.num_heads) == (300, 256, 1024, 4)
    assert (model.key_width, model.value_width) == (64, 24)
    with pytest.raises(
        InputError, match=r"no model\.later: is the configuration of a later version"
    ):
        model_config(changed(config, "model.later", 1), vocab_size=300)
