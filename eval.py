"""Scores a run on a split, or translates text with it.

python eval.py --workdir=runs/quickstart                     scores the test set
python eval.py --workdir=runs/quickstart --split=dev --average=1
python eval.py --workdir=runs/quickstart --translate=FILE    one output line an input line;
                                                             a run of the parsing task: its tree
echo "The dog sleeps." | python eval.py --workdir=runs/quickstart --translate=-
"""

import io
import os
import sys
import warnings

from absl import app, flags, logging
from tqdm import tqdm

from transformer_jax import files, tasks
from transformer_jax.errors import InputError
from transformer_jax.evaluation import evaluate_split, table
from transformer_jax.translator import Translator
from transformer_jax.workdir import Workdir

_WORKDIR = flags.DEFINE_string("workdir", None, "The run's folder.", required=True)
_AVERAGE = flags.DEFINE_integer(
    "average", None, "How many of the last checkpoints to average; the run's own number if absent."
)
_SPLIT = flags.DEFINE_enum("split", "test", tasks.SPLITS, "What to score.")
_TRANSLATE = flags.DEFINE_string(
    "translate", None, "A file to translate to standard output, or - for standard input."
)


def run() -> None:
    workdir = Workdir(_WORKDIR.value)
    if _TRANSLATE.value is not None:
        if _TRANSLATE.value == "-":
            read = files.decode_lines(sys.stdin.buffer, "standard input")
        else:
            read = files.read_lines(_TRANSLATE.value)
        lines = list(read)
        translator = Translator.load(workdir.path, _AVERAGE.value)
        for line in translator.translate(lines, _bar(len(lines))):
            print(line)
        return
    config = workdir.config()
    pairs, left_out = tasks.named(config["task"]).read_pairs(config["data"], _SPLIT.value)
    if left_out:
        print(f"{left_out:,} empty pairs of the {_SPLIT.value} set are left out", file=sys.stderr)
    translator = Translator.load(workdir.path, _AVERAGE.value)
    found = evaluate_split(workdir, translator, _SPLIT.value, pairs, _bar(len(pairs.source)))
    print(table(found.scores))


def _bar(total: int):
    bar = tqdm(total=total, unit="sentence", disable=not sys.stderr.isatty(), leave=False)
    return bar.update


def main(arguments: list[str]) -> None:
    logging.set_verbosity(logging.WARNING)
    warnings.showwarning = lambda message, *_: print(f"eval.py: {message}", file=sys.stderr)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as the files are, whatever the locale
    if len(arguments) > 1:
        sys.exit(f"eval.py: unknown argument {arguments[1]!r}: give --name=value, see --help")
    try:
        run()
        sys.stdout.flush()
    except InputError as error:
        sys.exit(f"eval.py: {error}")
    except KeyboardInterrupt:
        sys.exit("eval.py: interrupted")
    except BrokenPipeError:  # whoever reads, `head` for example, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def parse_flags(arguments: list[str]) -> list[str]:
    try:
        return flags.FLAGS(arguments)
    except flags.Error as error:
        sys.exit(f"eval.py: {error}")


if __name__ == "__main__":
    app.run(main, flags_parser=parse_flags)
