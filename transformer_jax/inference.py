"""From ids to ids: beam search and teacher-forced scoring of a trained model over a mesh."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Int32, PyTree

from transformer_jax import sharding
from transformer_jax.batch import BOS, EOS, PAD, Batch
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer
from transformer_jax.model.loss import token_loss
from transformer_jax.ops.beam_search import Hypotheses, beam_search


class Hypothesis(NamedTuple):
    """An output: its ids without EOS, and log p(y|x) / lp(|y|) in nats, EOS counted in both."""

    ids: Int32[np.ndarray, " n"]
    score: float


class BeamSearch:
    """Searches many sentences: sorted by length into a few fixed shapes, back in input order.

    A batch is `rows x length` source tokens, EOS included, of at most about `tokens_per_batch`;
    `length` is the smallest of 16, 32, 64, ... that holds its sentences, so a handful of programs
    serves any input. Rows are split over the mesh's data axis under `shard_map`: each device
    stops when its own sentences are done.
    """

    def __init__(
        self,
        model: Transformer,
        mesh: Mesh,
        *,
        beam_size: int = 4,
        length_penalty: float = 0.6,
        extra_length: int = 50,
        n_best: int = 1,
        tokens_per_batch: int = 2048,
    ):
        if not 1 <= n_best <= beam_size:
            raise InputError(f"n_best is {n_best}: give 1 to beam_size, which is {beam_size}")
        if length_penalty < 0:
            raise InputError(f"length_penalty is {length_penalty}: give 0 or more")
        self.model = model
        self.mesh = mesh
        self._extra_length = extra_length
        self._tokens_per_batch = tokens_per_batch
        self._options = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "n_best": n_best,
        }
        self._search = jax.jit(
            jax.shard_map(
                self._search_shard,
                mesh=mesh,
                in_specs=(sharding.REPLICATED, sharding.BATCH, sharding.BATCH),
                out_specs=sharding.BATCH,
                check_vma=False,
            )
        )

    def __call__(
        self,
        params: PyTree,
        sources: Sequence[Int32[np.ndarray, " _"]],
        progress: Callable[[int], object] = lambda done: None,
    ) -> list[list[Hypothesis]]:
        """The n best hypotheses of each source (ids without EOS), best first.

        A sentence's output has at most its own length + `extra_length` tokens and depends on
        that sentence alone. `progress` is told how many sentences each batch has finished.
        """
        results: list[list[Hypothesis]] = [[] for _ in sources]
        for rows, length, members in self._batches([len(source) + 1 for source in sources]):
            batch = np.full((rows, length), PAD, np.int32)
            limits = np.zeros(rows, np.int32)
            for row, member in enumerate(members):
                ids = sources[member]
                batch[row, : len(ids)] = ids
                batch[row, len(ids)] = EOS
                limits[row] = len(ids) + self._extra_length
            found = jax.device_get(self._search(params, batch, limits))
            for row, member in enumerate(members):
                results[member] = [
                    Hypothesis(tokens[: size - 1], float(score))
                    for tokens, score, size in zip(*(part[row] for part in found), strict=True)
                    if size > 0
                ]
            progress(len(members))
        return results

    def _batches(self, lengths: list[int]) -> Iterable[tuple[int, int, list[int]]]:
        shards = sharding.data_size(self.mesh)
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        while order:
            length = max(16, 1 << (lengths[order[0]] - 1).bit_length())
            most = max(self._tokens_per_batch // length // shards, 1) * shards
            # Sentences that would fit a smaller shape start a batch of that shape.
            fitting = [i for i in order[:most] if length == 16 or lengths[i] > length // 2]
            # A lone sentence does not wait for a full batch of padding.
            rows = most if len(fitting) > most // 8 else max(most // 8 // shards, 1) * shards
            yield rows, length, fitting[:rows]
            order = order[len(fitting[:rows]) :]

    def _search_shard(self, params, source, limits) -> Hypotheses:
        length = source.shape[1] + self._extra_length
        variables = {"params": params}
        cache = self.model.apply(
            variables, source, self._options["beam_size"], length, method=Transformer.start
        )
        return beam_search(
            partial(self.model.apply, variables, method=Transformer.step),
            cache,
            limits,
            max_length=length,
            bos=BOS,
            eos=EOS,
            pad=PAD,
            reorder=lambda cache, parents: cache.reorder(parents),
            **self._options,
        )


class TeacherForcing:
    """The unsmoothed negative log-likelihood of given translations, summed in float32."""

    def __init__(self, model: Transformer, mesh: Mesh):
        self._mesh = mesh

        self._nll = jax.jit(partial(token_loss, model))

    def __call__(self, params: PyTree, batches: Iterable[Batch]) -> float:
        """exp(nll / tokens) over all target tokens of `batches`, EOS included: the perplexity."""
        sums = [self._nll(params, sharding.place_batch(batch, self._mesh)) for batch in batches]
        total = jax.tree.map(lambda *parts: float(np.sum(parts)), *jax.device_get(sums))
        # exp of more than 88 is no float32, and infinity is no JSON.
        return float(np.exp(min(total.nll / total.tokens, 88.0)))
