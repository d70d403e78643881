"""train.py and eval.py on a tiny run: what they keep, how they go on, what they refuse.

In this process as functions, on eight devices, and once from end to end as commands, on one.
"""

import contextlib
import importlib.util
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from absl import flags
from jax.experimental.compilation_cache import compilation_cache
from orbax.checkpoint import v1 as ocp

from configs import text, wsj_parsing
from transformer_jax import Translator
from transformer_jax.data.sources import read_lines
from transformer_jax.errors import InputError
from transformer_jax.evaluation import evaluate_split
from transformer_jax.tasks import Output, translation
from transformer_jax.text.subword import Subword
from transformer_jax.training.loop import Diverged
from transformer_jax.workdir import Workdir

ROOT = Path(__file__).parents[1]

ENGLISH = [
    f"{article} {noun} {verb}"
    for article in ("the", "a", "my", "no")
    for noun in ("dog", "cat", "tree", "child")
    for verb in ("falls", "sleeps", "runs")
]
GERMAN = [
    f"{article} {noun} {verb}"
    for article in ("das", "ein", "mein", "kein")
    for noun in ("Hündchen", "Kätzchen", "Bäumchen", "Kind")
    for verb in ("fällt", "schläft", "läuft")
]

# As flags: --config.steps=8 and so on.
TINY = {
    "steps": 8,
    "subword.vocab_size": 370,
    "batch.tokens": 128,
    "batch.shapes": 1,
    "batch.max_length": 16,
    "model.num_layers": 1,
    "model.d_model": 16,
    "model.d_ff": 16,
    "model.num_heads": 2,
    "optimizer.warmup_steps": 4,
    "search.extra_length": 4,
    "search.tokens_per_batch": 128,
    "checkpoint.every_steps": 2,
    "checkpoint.keep": 3,
    "checkpoint.average": 2,
    "report.every_steps": 2,
    "report.evaluate_every_steps": 4,
    "report.evaluate_sentences": 4,
}


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """A folder for compiled programs, so that each is compiled once for all runs of this file."""
    settings = {
        "jax_compilation_cache_dir": str(tmp_path_factory.mktemp("compiled")),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for values in (settings, before):
        for name, value in values.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        if values is settings:
            yield {name.upper(): str(value) for name, value in settings.items()}


@pytest.fixture(scope="module")
def train():
    return load("train")


def load(name):
    """A program of the top folder as a module."""
    specification = importlib.util.spec_from_file_location(name, ROOT / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def write_corpus(folder):
    for split, part in (("train", slice(None)), ("dev", slice(0, 12)), ("test", slice(0, 48, 7))):
        for language, sentences in (("en", ENGLISH), ("de", GERMAN)):
            lines = "".join(f"{sentence}\n" for sentence in sentences[part])
            (folder / f"{split}.{language}").write_text(lines, encoding="utf-8")
    return folder


def tiny(corpus, **changes):
    """A configuration; changes have two underscores for a dot."""
    config = text.get_config()
    changed = {field.replace("__", "."): value for field, value in changes.items()}
    config.update_from_flattened_dict(TINY | {"data.directory": str(corpus)} | changed)
    return config.to_dict()


def run(train, config, folder):
    """What the program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        train.run(config, Workdir(folder))
    return printed.getvalue()


@pytest.fixture(scope="module")
def finished(train, corpus, tmp_path_factory):
    """The folder of a run of 8 steps, and what it printed."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    return folder, run(train, tiny(corpus), folder)


def steps_saved(folder):
    return sorted(int(path.name) for path in (folder / "checkpoints").iterdir())


def metrics(folder):
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_keeps_all_there_is_to_know_about_it(finished, corpus):
    folder, _ = finished
    config = tiny(corpus)
    assert json.loads((folder / "config.json").read_text("utf-8")) == config
    vocabulary = Subword.load(folder / "subword.model")
    assert vocabulary.size == 370
    assert steps_saved(folder) == [4, 6, 8]
    assert list((folder / "tensorboard").glob("events.*"))
    for step in (4, 8):
        saved = ocp.checkpointables_metadata(str(folder / "checkpoints" / str(step)))
        assert saved.custom_metadata == {"config": config, "vocabulary": vocabulary.fingerprint}


def test_a_run_reports_and_measures_dev_at_its_intervals(finished):
    folder, printed = finished
    reports = [line for line in metrics(folder) if "loss" in line]
    assert [line["step"] for line in reports] == [2, 4, 6, 8]
    for line in reports:
        assert line.keys() == {
            "step",
            "loss",
            "nll",
            "perplexity",
            "learning_rate",
            "grad_norm",
            "target_tokens_per_second",
            "padding_share",
            "programs_compiled",
        }
        assert line["perplexity"] == pytest.approx(math.exp(line["nll"]))
        assert 0 <= line["padding_share"] < 1
    dev = [line for line in metrics(folder) if "dev_bleu" in line]
    assert [line["step"] for line in dev] == [4, 8]
    for line in dev:
        names = ("perplexity", "bleu", "bleu_compound", "chrf")
        assert line.keys() == {"step", *(f"dev_{name}" for name in names)}
        assert f"step {line['step']}: dev perplexity {line['dev_perplexity']:.2f}" in printed
    assert "48 training pairs (0 more are empty), of which 0 over 16" in printed
    assert "370 subwords" in printed
    assert "programs compiled" in printed


def test_a_run_ends_with_the_scores_of_the_averaged_model(finished, corpus):
    folder, printed = finished
    scores = json.loads((folder / "eval" / "test.json").read_text("utf-8"))
    assert scores.keys() == {
        "bleu",
        "bleu_signature",
        "bleu_compound",
        "bleu_compound_signature",
        "chrf",
        "perplexity",
        "sentences",
        "seconds",
        "averaged_steps",
    }
    assert scores["sentences"] == 7
    assert scores["averaged_steps"] == [6, 8]
    hypotheses = read_lines(folder / "eval" / "test.hypotheses.txt")
    references = read_lines(corpus / "test.de")
    outputs = [Output(line) for line in hypotheses]
    again = translation.score(tiny(corpus)["data"], outputs, references).scores
    assert {name: scores[name] for name in again} == again
    assert f"perplexity               {scores['perplexity']:.2f}" in printed
    assert "the mean of the checkpoints of steps 6, 8" in printed
    assert f"scores and translations: {folder / 'eval'}" in printed


def test_any_split_is_scored_and_nothing_of_it_dropped(finished, corpus):
    """Empty lines and pairs over the limit count like all others."""
    folder, _ = finished
    workdir, translator = Workdir(folder), Translator.load(folder, average=1)
    dev = evaluate_split(workdir, translator, "dev", translation.Pairs(ENGLISH[:12], GERMAN[:12]))
    scores = json.loads((folder / "eval" / "dev.json").read_text("utf-8"))
    assert scores == dev.scores
    assert scores["averaged_steps"] == [8]
    # The sample of training is 4 of these 12 sentences, and its model that of step 8.
    assert scores["perplexity"] == pytest.approx(metrics(folder)[-1]["dev_perplexity"], rel=0.2)

    strange = translation.Pairs(
        ["", *ENGLISH[:3], "x" * 40], [GERMAN[0], "", *GERMAN[:2], "y" * 40]
    )
    with pytest.warns(UserWarning, match="sentence 5 has 4. subwords"):
        found = evaluate_split(workdir, translator, "train", strange)
    assert found.scores["sentences"] == len(found.hypotheses) == 5
    assert found.hypotheses[0] == ""
    assert math.isfinite(found.scores["perplexity"])
    kept = read_lines(folder / "eval" / "train.hypotheses.txt")
    assert kept == found.hypotheses


def test_a_finished_run_started_again_is_only_scored_again(train, finished, corpus):
    folder, _ = finished
    before = metrics(folder)
    scores = json.loads((folder / "eval" / "test.json").read_text("utf-8"))
    printed = run(train, tiny(corpus), folder)
    assert "trained already, to step 8" in printed
    assert metrics(folder) == before
    assert steps_saved(folder) == [4, 6, 8]
    again = json.loads((folder / "eval" / "test.json").read_text("utf-8"))
    assert again | {"seconds": 0} == scores | {"seconds": 0}
    # What may change counts here too.
    printed = run(train, tiny(corpus, checkpoint__average=1), folder)
    assert "with checkpoint.average = 1, which was 2" in printed
    last = json.loads((folder / "eval" / "test.json").read_text("utf-8"))
    assert last["averaged_steps"] == [8]
    run(train, tiny(corpus), folder)


def test_a_run_goes_on_with_more_steps_as_if_it_had_never_stopped(
    train, finished, corpus, tmp_path
):
    """Clipping that clips nothing is set on the way: other values than the model's may change."""
    run(train, tiny(corpus, steps=4), tmp_path)
    assert steps_saved(tmp_path) == [2, 4]
    printed = run(train, tiny(corpus, optimizer__clip_norm=1e6), tmp_path)
    assert "going on from step 4" in printed
    assert "with steps = 8, which was 4" in printed
    assert "with optimizer.clip_norm = 1000000.0, which was None" in printed
    ours, theirs = metrics(tmp_path), metrics(finished[0])
    assert [line["step"] for line in ours] == [line["step"] for line in theirs]
    for a, b in zip(ours, theirs, strict=True):
        for name in a.keys() & {"loss", "nll", "grad_norm", "learning_rate", "dev_perplexity"}:
            assert a[name] == pytest.approx(b[name], rel=1e-5)
        assert a.get("padding_share") == b.get("padding_share")


def test_a_loss_that_is_not_finite_stops_the_run(train, corpus, tmp_path):
    config = tiny(corpus, optimizer__peak=1e30, checkpoint__every_steps=1, report__every_steps=1)
    with pytest.raises(Diverged) as error:
        run(train, config, tmp_path)
    message = str(error.value)
    assert message.startswith("step 2: loss nan, gradient norm nan, learning rate 5e+29; ")
    assert "the last good checkpoint is step 1; lower the learning rate" in message
    assert steps_saved(tmp_path) == [1]
    assert [line["step"] for line in metrics(tmp_path)] == [1]


# Wrong here, so that a run ends after its data were read and before anything is compiled.
NO_LAYOUT = {"mesh__layout": "fsdp", "model__d_model": 12}


def start(train, config, folder):
    """What a run prints until its model is laid out."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        pytest.raises(InputError, match="12 is not divisible by the 8 devices of mesh axis"),
    ):
        train.run(config, Workdir(folder))
    return printed.getvalue()


def test_what_training_leaves_out_is_counted(train, tmp_path):
    corpus = write_corpus(tmp_path)
    with (corpus / "train.en").open("a") as english, (corpus / "train.de").open("a") as german:
        for a, b in [("", "x"), ("x", " "), ("", ""), ("x " * 16, "x"), ("x", "x " * 16)]:
            english.write(f"{a}\n")
            german.write(f"{b}\n")
    printed = start(train, tiny(corpus, **NO_LAYOUT), tmp_path / "run")
    assert "50 training pairs (3 more are empty), of which 2 over 16 sub" in printed


def test_pairs_that_join_late_are_counted(train, tmp_path):
    corpus = write_corpus(tmp_path)
    for language in ("en", "de"):
        with (corpus / f"train.{language}").open("a") as file:
            file.write(f"{'x ' * 15}\n" * 2)
    late = {"batch__shapes": 2, "batch__short_length": 15, "batch__short_epochs": 3}
    printed = start(train, tiny(corpus, **NO_LAYOUT, **late), tmp_path / "run")
    assert "2 pairs over about 15 subwords join after 3 epochs, " in printed


def test_a_first_start_with_a_wrong_value_is_not_in_the_way_of_the_next(train, corpus, tmp_path):
    with pytest.raises(InputError, match=r"vocab_size 90000 is too large .* or less"):
        run(train, tiny(corpus, subword__vocab_size=90_000), tmp_path)
    for size in (370, 360):  # a vocabulary of a start without a checkpoint is learned again
        start(train, tiny(corpus, subword__vocab_size=size, **NO_LAYOUT), tmp_path)
        assert Subword.load(tmp_path / "subword.model").size == size


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data__train__source": "dev.en"}, r"dev\.en has 12 lines but .*train\.de has 48"),
        ({"data__dev__target": "absent"}, r"cannot read .*absent: No such file or directory"),
        ({"data__test__source": "latin1"}, r"latin1, line 2: not UTF-8"),
        ({"data__train__source": "empty", "data__train__target": "empty"}, "have no lines"),
        ({"data__train__source": "blank", "data__train__target": "blank"}, "all 2 training pairs"),
        ({"data__tokenize": "mine"}, "unknown tokenizer 'mine' for BLEU"),
        ({"data__target_language": "xx"}, "no Moses tokenizer for language 'xx'"),
        ({"model__num_heads": 3}, r"model.num_heads 3 does not divide model.d_model 16"),
        ({"batch__micro_batches": 0}, r"batch.micro_batches is 0: give 1 or more"),
        (
            {"mesh__layout": "tensor", "mesh__model": 3},
            r"mesh.model is 3: give a divisor of the 8 devices",
        ),
        ({"subword__model_file": "absent"}, "cannot read the vocabulary absent: No such file"),
    ],
)
def test_bad_input_is_named_and_nothing_trained(train, tmp_path, changes, message):
    corpus = write_corpus(tmp_path)
    (corpus / "latin1").write_bytes("fine\nläuft\n".encode("latin-1"))
    (corpus / "empty").write_bytes(b"")
    (corpus / "blank").write_bytes(b"\n \n")
    with pytest.raises(InputError, match=message):
        run(train, tiny(corpus, **changes), tmp_path / "run")
    assert not (tmp_path / "run" / "checkpoints").exists()
    assert not (tmp_path / "run" / "subword.model").exists()


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"model__d_ff": 32}, "model.d_ff = 16, not 32"),
        ({"subword__vocab_size": 360}, "subword.vocab_size = 370, not 360"),
    ],
)
def test_the_folder_of_another_run_is_refused_and_left_alone(
    train, finished, corpus, changes, shown
):
    folder, _ = finished
    with pytest.raises(InputError, match=f"{folder} holds a run with {shown}: give another"):
        run(train, tiny(corpus, **changes), folder)
    assert json.loads((folder / "config.json").read_text("utf-8")) == tiny(corpus)


def test_a_folder_that_cannot_be_written_is_named(train, corpus, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=f"cannot write to the workdir {tmp_path}/file/run"):
        run(train, tiny(corpus), tmp_path / "file" / "run")


@pytest.fixture
def parse(train, monkeypatch):
    """`train.parse_flags`, without flags left over."""
    before = set(flags.FLAGS)

    def parse(*arguments):
        command = ["train.py", *arguments]
        monkeypatch.setattr(sys, "argv", command)
        train.parse_flags(command)
        return flags.FLAGS.config

    yield parse
    for name in set(flags.FLAGS) - before:
        delattr(flags.FLAGS, name)
    flags.FLAGS.unparse_flags()
    sys.modules.pop("config_config", None)


# Of ml_collections.
QUIET = pytest.mark.filterwarnings("ignore:the load_module:DeprecationWarning")


@QUIET
def test_any_field_is_set_by_its_path(parse):
    config = parse(
        f"--config={ROOT}/configs/wmt14_ende_base.py",
        "--config.model.num_heads=16",
        "--config.model.d_k=8",
        "--config.optimizer.peak=0.1",
        "--config.data.train.source=a.en,b.en.gz",
    )
    assert config.model.num_heads == 16
    assert config.model.d_k == 8
    assert config.optimizer.peak == 0.1
    assert config.data.train.source == "a.en,b.en.gz"
    assert config.model.num_layers == 6
    assert config.is_locked


BASE = f"--config={ROOT}/configs/wmt14_ende_base.py"
TABLE_3 = f"--config={ROOT}/configs/table3.py"
PARSING = f"--config={ROOT}/configs/wsj_parsing.py"


@QUIET
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([BASE, "--config.model.num_head=4"], 'Did you mean "num_heads" instead of "num_head"?'),
        ([BASE, "--config.modell.num_heads=4"], 'Did you mean "model" instead of "modell"?'),
        ([BASE, "--config.zzz=4"], "no such field: 'zzz'"),
        ([BASE, "--config.model.num_heads=four"], "--config.model.num_heads=four: invalid literal"),
        ([BASE, "--stesp=4"], "Unknown command line flag 'stesp'"),
        (["--config=absent.py"], "No such file or directory: 'absent.py'"),
        ([f"{BASE}:h1"], "TypeError: get_config() takes 0 positional arguments but 1 was given"),
        ([f"{TABLE_3}:A.h3"], "no row 'A.h3' in Table 3: give base, A.h1, "),
        ([f"{TABLE_3}:base,size=tiny"], "give size= and paper, small or text"),
        ([f"{PARSING}:large"], "give one of :semi, :small, or none"),
    ],
)
def test_a_bad_flag_is_one_line(parse, arguments, message):
    with pytest.raises(SystemExit) as end:
        parse(*arguments)
    line = str(end.value.code)
    assert line.startswith("train.py: bad flag or configuration: ")
    assert message in line
    assert "\n" not in line


@QUIET
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def get_config(", "SyntaxError: '(' was never closed (mine.py, line 1)"),
        ("import absent", "ModuleNotFoundError: No module named 'absent'"),
        ("x = 1", "AttributeError: module 'config_config' has no attribute 'get_config'"),
        (
            "from configs import text\n"
            "def get_config():\n    c = text.get_config()\n    c.model.num_layer = 3\n    return c",
            'no such field: Did you mean "num_layers" instead of "num_layer"?',
        ),
    ],
)
def test_a_broken_configuration_is_one_line(parse, tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        parse("--config=mine.py")
    assert str(end.value.code) == f"train.py: bad flag or configuration: {message}"


@pytest.fixture
def program(compiled):
    """Starts a program as a command."""
    environment = {
        **os.environ,
        **compiled,
        "JAX_PLATFORMS": "cpu",
        "GLIBC_TUNABLES": "",  # no second start: see transformer_jax.memory
        "TF_CPP_MIN_LOG_LEVEL": "3",  # XLA complains where compiling takes long
    }
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)

    def program(name, *arguments):
        command = [sys.executable, f"{name}.py", *map(str, arguments)]
        return subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)

    return program


# What is no sentence, what other tools split, what is far too long, and no newline at the end.
NASTY = (
    "the dog runs\r\n"
    "\n"
    "the\u2028dog\u0085runs\rnow\x0c\x00\x1f.\n"
    " \u3000 \n"
    "\ufeff日 🤖\n"
    f"{'the dog runs ' * 30}\n"
    "a cat falls"
)


def test_the_commands_from_end_to_end(program, corpus, tmp_path):
    """Training that is asked to stop, goes on and ends; translation of nasty lines; a closed pipe.

    There is nothing on the standard error but what is said here.
    """
    folder = tmp_path / "run"
    arguments = ["--config=configs/text.py", f"--workdir={folder}"]
    for field, value in (TINY | {"data.directory": corpus}).items():
        arguments.append(f"--config.{field}={value}")

    first = program("train", *arguments, "--config.steps=1000000")
    for line in first.stdout:
        if line.startswith(b"step 6/"):
            first.send_signal(signal.SIGTERM)
            break
    _, said = first.communicate(timeout=300)
    last = steps_saved(folder)[-1]
    assert said.decode() == f"train.py: stopped at step {last}, which is saved\n"
    assert first.returncode == 1

    second = program("train", *arguments, f"--config.steps={last + 2}")
    printed, said = second.communicate(timeout=300)
    assert (second.returncode, said) == (0, b"")
    assert f"going on from step {last}\n  with steps = {last + 2}, which was 1000000" in (
        printed.decode()
    )
    assert steps_saved(folder)[-1] == last + 2
    assert (folder / "eval" / "test.json").exists()

    third = program("eval", f"--workdir={folder}", "--translate=-")
    printed, said = third.communicate(NASTY.encode(), timeout=300)
    assert third.returncode == 0
    lines = printed.decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == NASTY.count("\n") + 1
    assert [not line for line in lines][1:4] == [True, False, True]
    assert len(printed.decode().splitlines()) == len(lines)
    (warning,) = said.decode().splitlines()
    assert warning.startswith("eval.py: sentence 6 has ")

    with program("eval", f"--workdir={folder}", "--translate=-") as fourth:
        fourth.stdout.close()  # as `head` does when it has enough
        fourth.stdin.write("".join(f"{sentence}\n" for sentence in ENGLISH).encode())
        fourth.stdin.close()
        assert fourth.stderr.read() == b""
    assert fourth.returncode == 1


PARSES = [
    f"(S (NP (DT {article}) (NN {noun})) (VP (VBZ {verb})) (. .))"
    for article in ("the", "a", "my", "no")
    for noun in ("dog", "cat", "tree", "child")
    for verb in ("falls", "sleeps", "runs")
]


def test_a_run_of_the_parsing_task_ends_with_trees_over_the_words(train, tmp_path):
    for split in ("train", "dev"):
        text = "\n".join(f"(TOP {tree})" for tree in PARSES[:: 1 if split == "train" else 9])
        (tmp_path / f"{split}.mrg").write_text(text, encoding="utf-8")
    config = wsj_parsing.get_config("small")
    config.update_from_flattened_dict(
        TINY | {"data.directory": str(tmp_path), "subword.vocab_size": 310, "search.beam_size": 2}
    )
    folder = tmp_path / "run"
    printed = run(train, config.to_dict(), folder)
    scores = json.loads((folder / "eval" / "test.json").read_text("utf-8"))
    assert scores["sentences"] == 6
    assert {"f1", "recall", "precision", "exact_match", "repaired_share"} <= scores.keys()
    for tree, gold in zip(
        read_lines(folder / "eval" / "test.hypotheses.txt"), PARSES[::9], strict=True
    ):
        assert re.findall(r"([^ ()]+)\)", tree) == re.findall(r"([^ ()]+)\)", gold)
    report = (folder / "eval" / "test.report.txt").read_text("utf-8")
    assert "Bracketing FMeasure" in report
    assert f"dev perplexity {metrics(folder)[-1]['dev_perplexity']:.2f}, F1 " in printed
    assert Translator.load(folder).translate(["the dog runs .", ""])[1] == ""
