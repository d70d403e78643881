"""Text in, text out: a trained model with its task, its vocabulary and its search."""

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from jax.sharding import Mesh
from jaxtyping import PyTree

from transformer_jax import sharding, tasks
from transformer_jax.configuration import model_config
from transformer_jax.errors import InputError
from transformer_jax.inference import BeamSearch
from transformer_jax.model import Transformer
from transformer_jax.tasks import Output, Task
from transformer_jax.text.subword import Subword
from transformer_jax.training.checkpoint import Checkpoints
from transformer_jax.training.state import abstract_params
from transformer_jax.workdir import Workdir


@dataclasses.dataclass(frozen=True, eq=False)
class Translator:
    """Translates sentences; with a run of the parsing task, into their trees.

        translator = Translator.load("runs/quickstart")
        translator.translate(["The small dog sleeps."])

    `max_length` is the most subwords the model was trained on; longer sentences are translated in
    pieces, but parsed whole. `averaged_steps` are the checkpoints whose mean `params` is.
    """

    task: Task
    vocabulary: Subword
    params: PyTree = dataclasses.field(repr=False)
    search: BeamSearch
    max_length: int
    averaged_steps: tuple[int, ...] = ()

    @classmethod
    def load(
        cls, workdir: str | Path, average: int | None = None, mesh: Mesh | None = None
    ) -> "Translator":
        """The model of a run: the mean of its last `average` checkpoints (default: the run's own).

        Raises:
          InputError: there is no run or no checkpoint in `workdir`, or they do not fit together.
        """
        run = Workdir(workdir)
        config = run.config()
        mesh = sharding.make_mesh() if mesh is None else mesh
        vocabulary = Subword.load(run.vocabulary_file)
        model = Transformer(model_config(config, vocabulary.size))
        abstract = abstract_params(model, mesh)
        last = config["checkpoint"]["average"] if average is None else average
        with Checkpoints(run.checkpoints) as checkpoints:
            checkpoints.check_vocabulary(vocabulary.fingerprint)
            params, steps = checkpoints.average(abstract, last)
        if average is not None and len(steps) < average:
            warnings.warn(
                f"asked to average {average} checkpoints, {workdir} has {len(steps)}: all of them",
                stacklevel=2,
            )
        search = BeamSearch(model, mesh, **config["search"])
        return cls(
            tasks.named(config["task"]),
            vocabulary,
            params,
            search,
            config["batch"]["max_length"],
            tuple(steps),
        )

    def translate(
        self, sentences: Sequence[str], progress: Callable[[int], object] = lambda done: None
    ) -> list[str]:
        """The best translation, or tree, of each sentence, in order; an empty one stays empty.

        A sentence over `max_length` subwords is named in a warning; it is translated in pieces of
        at most that many, cut between words where it can be. `progress` is told how many pieces
        were done.
        """
        return [output.text for output in self.outputs(sentences, progress)]

    def outputs(
        self, sentences: Sequence[str], progress: Callable[[int], object] = lambda done: None
    ) -> list[Output]:
        """As `translate`, with whether the text had to be mended (`tasks.task.Output`)."""
        if isinstance(sentences, str):
            raise InputError(f"translate takes a list of sentences: give [{sentences!r}]")
        pieces: list[np.ndarray] = []
        owners: list[int] = []
        encoded = self.task.encode_sources(self.vocabulary, sentences)
        for number, (sentence, ids) in enumerate(zip(sentences, encoded, strict=True)):
            # A line of wide or no-break spaces is empty too, as it is to training.
            filled = len(ids) and not sentence.isspace()
            cut = self.task.cut(self.vocabulary, ids, self.max_length - 1) if filled else []
            if len(ids) > self.max_length - 1:
                how = f"in {len(cut)} pieces" if len(cut) > 1 else "as a whole"
                warnings.warn(
                    f"sentence {number + 1} has {len(ids)} subwords, more than the "
                    f"{self.max_length - 1} of training: done {how}",
                    stacklevel=2,
                )
            pieces += cut
            owners += [number] * len(cut)
        found = self.search(self.params, pieces, progress)
        outputs = [Output("")] * len(sentences)
        ids = [hypotheses[0].ids for hypotheses in found]
        sources = [sentences[owner] for owner in owners]
        for owner, part in zip(
            owners, self.task.decode(self.vocabulary, ids, sources), strict=True
        ):
            before = outputs[owner]
            text = f"{before.text} {part.text}".strip()
            outputs[owner] = Output(text, before.repaired or part.repaired)
        return outputs
