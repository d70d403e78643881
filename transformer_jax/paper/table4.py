"""Table 4: F1 of the parsers that the paper lists, and of parsing runs of this project.

python -m transformer_jax.paper table4 --runs runs/wsj_parsing
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from transformer_jax.errors import InputError
from transformer_jax.paper.printed import TABLE_4
from transformer_jax.paper.tables import markdown, read_scores
from transformer_jax.tasks.task import SPLITS
from transformer_jax.workdir import Workdir

_PERCENT = ("f1", "recall", "precision", "exact_match")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", nargs="+", metavar="DIR", default=[], help="workdirs of parsing runs"
    )


def run(arguments: argparse.Namespace) -> None:
    own = of_runs([Path(directory) for directory in arguments.runs])
    print(printed())
    if own:
        print(f"\n{own}")


def printed() -> str:
    """The paper's table."""
    lines = [(parser.name, parser.training, f"{parser.f1:.1f}") for parser in TABLE_4]
    table = markdown(("parser", "training", "WSJ 23 F1"), lines)
    return f"Table 4, section 23 of the Wall Street Journal, as printed\n\n{table}"


def of_runs(paths: Sequence[Path]) -> str:
    """The scores of each run, a line a split, under headings that name the treebank.

    Raises:
      InputError: a workdir is not of parsing, or has no scores.
    """
    treebanks: dict[str, list[tuple[str, ...]]] = {}
    for path in paths:
        workdir = Workdir(path)
        config = workdir.config()
        if config["task"] != "parsing":
            raise InputError(
                f"{path} is a run of {config['task']}, and Table 4 is of parsing: leave it out"
            )
        # Whatever else is there, a copy of the scores for example, is the user's.
        files = [file for split in SPLITS if (file := workdir.eval / f"{split}.json").exists()]
        if not files:
            raise InputError(f"no scores in {workdir.eval}: python eval.py --workdir={path}")
        data = config["data"]
        embedded = data.get("corpus") == "synthetic"
        treebank = "the embedded corpus" if embedded else f"the treebank {data['directory']}"
        lines = treebanks.setdefault(treebank, [])
        for file in files:
            trees = "" if embedded else f" ({data[file.stem]['trees']})"
            lines.append((str(path), f"{file.stem}{trees}", *_cells(file)))
    header = (
        "run",
        "split",
        "sentences",
        "left out",
        "F1",
        "recall",
        "precision",
        "exact",
        "repaired",
    )
    return "\n\n".join(
        f"This project's runs on {treebank}. Sentences left out, because EVALB calls\n"
        f"them errors or skips them, are in no score. Scores and repaired outputs in percent.\n\n"
        f"{markdown(header, lines)}"
        for treebank, lines in treebanks.items()
    )


def _cells(file: Path) -> list[str]:
    left_out = ("error_sentences", "skipped_sentences")
    scores = read_scores(file, "sentences", *left_out, *_PERCENT, "repaired_share")
    return [
        f"{scores['sentences']:,}",
        f"{sum(scores[name] for name in left_out):,}",
        *(f"{scores[name]:.2f}" for name in _PERCENT),
        f"{100 * scores['repaired_share']:.2f}",
    ]
