"""Scores of a trained model on a split: what `eval.py` writes and training shows."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from transformer_jax import sharding
from transformer_jax.batch import Batch
from transformer_jax.data.batching import make_batch, plan_evaluation
from transformer_jax.data.sources import Pairs
from transformer_jax.errors import InputError
from transformer_jax.inference import TeacherForcing
from transformer_jax.translator import Translator
from transformer_jax.workdir import Workdir


class Evaluation(NamedTuple):
    """Scores by name, the main ones in words, the outputs they are of, the task's report."""

    scores: dict[str, Any]
    summary: str
    hypotheses: list[str]
    report: str


class Evaluator:
    """Perplexity and the task's scores on fixed pairs; nothing is dropped, whatever its length.

    The perplexity is exp of the unsmoothed nll per target token, EOS counted; the rest is what the
    task's `score` says of the translations or trees. Compiles once, serves many parameters.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        pairs: Pairs,
        teacher_forcing: TeacherForcing,
        batches: list[Batch],
    ):
        self._data = data
        self._pairs = pairs
        self._teacher_forcing = teacher_forcing
        self._batches = batches

    @classmethod
    def of(cls, translator: Translator, config: Mapping[str, Any], pairs: Pairs) -> "Evaluator":
        """For the pairs of a split, with the batches that the translator's mesh wants.

        Raises:
          InputError: a pair is longer than the model's learned table of positions.
        """
        mesh = translator.search.mesh
        tokens = translator.task.encode(translator.vocabulary, pairs)
        plan = plan_evaluation(
            tokens,
            boundaries=(32, 64),
            tokens_per_batch=config["search"]["tokens_per_batch"],
            rows_multiple=sharding.data_size(mesh),
        )
        model = translator.search.model.config
        longest = max(max(shape.source, shape.target) for shape in plan.shapes)
        if model.positions == "learned" and longest > model.max_positions:
            raise InputError(
                f"a pair to evaluate has {longest} subwords, but the learned table "
                f"{model.max_positions} positions (model.max_positions): take it out, or train "
                "with a larger table"
            )
        batches = [
            make_batch(tokens, planned.pairs, plan.shapes[planned.shape])
            for planned in plan.epoch(0)
        ]
        return cls(config["data"], pairs, TeacherForcing(translator.search.model, mesh), batches)

    def __call__(
        self, translator: Translator, progress: Callable[[int], object] = lambda done: None
    ) -> Evaluation:
        """Scores of the translator's parameters."""
        outputs = translator.outputs(self._pairs.source, progress)
        scored = translator.task.score(self._data, outputs, self._pairs.target)
        perplexity = self._teacher_forcing(translator.params, self._batches)
        hypotheses = [output.text for output in outputs]
        scores = scored.scores | {"perplexity": perplexity}
        summary = f"perplexity {perplexity:.2f}, {scored.summary}"
        return Evaluation(scores, summary, hypotheses, scored.report)


def evaluate_split(
    workdir: Workdir,
    translator: Translator,
    split: str,
    pairs: Pairs,
    progress: Callable[[int], object] = lambda done: None,
) -> Evaluation:
    """Scores a split; the workdir keeps `eval/<split>.json`, `.hypotheses.txt`, `.report.txt`."""
    start = time.monotonic()
    found = Evaluator.of(translator, workdir.config(), pairs)(translator, progress)
    scores = found.scores | {
        "sentences": len(pairs.source),
        "seconds": round(time.monotonic() - start, 2),
        "averaged_steps": list(translator.averaged_steps),
    }
    found = found._replace(scores=scores)
    workdir.write_evaluation(split, found.scores, found.hypotheses, found.report)
    return found


def table(scores: Mapping[str, Any]) -> str:
    """A score a line, aligned."""
    width = max(map(len, scores))
    shown = {
        name: f"{value:.2f}" if isinstance(value, float) else str(value)
        for name, value in scores.items()
    }
    return "\n".join(f"  {name:{width}}  {value}" for name, value in shown.items())


def sample(pairs: Pairs, number: int, seed: int) -> Pairs:
    """At most `number` of the pairs, drawn without replacement, in their order."""
    chosen = np.random.default_rng(seed).permutation(len(pairs.source))[:number]
    chosen.sort()
    return Pairs([pairs.source[i] for i in chosen], [pairs.target[i] for i in chosen])


def side_by_side(pairs: Pairs, hypotheses: list[str], number: int) -> str:
    """The first sentences with their reference and the model's output, three lines each."""
    return "\n".join(
        f"  source     {source}\n  reference  {target}\n  output     {hypothesis}\n"
        for source, target, hypothesis in zip(
            pairs.source[:number], pairs.target[:number], hypotheses[:number], strict=True
        )
    )
