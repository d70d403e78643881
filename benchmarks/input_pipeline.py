"""How full batches are, beside tensor2tensor's buckets, and how fast the pipeline makes them.

    python benchmarks/input_pipeline.py --source train.en --target train.de --vocab-size 10000

The share is of the slots of source and target together, over an epoch on average: the part that
holds a subword or EOS. tensor2tensor's buckets are counted alike; it cuts endless streams too.
Tokens/s counts subwords and EOS of both sides, not padding.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from transformer_jax.data.batching import Shape, TrainingPlan, non_pad_share, plan_training
from transformer_jax.data.pipeline import batches
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.data.sources import drop_empty, read_parallel
from transformer_jax.errors import InputError
from transformer_jax.text import subword


def tensor2tensor_boundaries(max_length: int) -> list[int]:
    """The boundaries of tensor2tensor's `_bucket_boundaries`, up to the first >= `max_length`."""
    boundaries = [8]
    while boundaries[-1] < max_length:
        boundaries.append(max(boundaries[-1] + 1, int(boundaries[-1] * 1.1)))
    return boundaries


def tensor2tensor_plan(pairs: TokenPairs, tokens_per_batch: int, max_length: int) -> TrainingPlan:
    """The plan with tensor2tensor's shapes, as far as the corpus has pairs for them."""
    boundaries = tensor2tensor_boundaries(max_length)
    bucket = np.searchsorted(boundaries, pairs.lengths)
    used = np.unique(bucket)
    return TrainingPlan(
        shapes=tuple(
            Shape(max(tokens_per_batch // boundaries[i], 1), boundaries[i], boundaries[i])
            for i in used
        ),
        buckets=tuple(np.flatnonzero(bucket == i) for i in used),
        seed=0,
        num_dropped=0,
        joins=(0,) * len(used),
    )


def read(arguments: argparse.Namespace) -> tuple[TokenPairs, int]:
    """The corpus as ids under a vocabulary of its own, and how many pairs were left out."""
    text, num_dropped = drop_empty(read_parallel(arguments.source, arguments.target))
    with TemporaryDirectory() as folder:
        vocabulary = subword.train(
            text.source + text.target, Path(folder) / "subword.model", arguments.vocab_size
        )
    source, target = vocabulary.encode(text.source), vocabulary.encode(text.target)
    kept = [max(len(a), len(b)) < arguments.max_length for a, b in zip(source, target, strict=True)]
    pairs = TokenPairs(
        Ragged.from_sequences(ids for ids, keep in zip(source, kept, strict=True) if keep),
        Ragged.from_sequences(ids for ids, keep in zip(target, kept, strict=True) if keep),
    )
    return pairs, num_dropped + len(kept) - len(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", required=True, help="one sentence a line")
    parser.add_argument("--target", required=True, help="their translations")
    parser.add_argument("--vocab-size", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=8192, help="slots a batch and side, at most")
    parser.add_argument("--shapes", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--max-length", type=int, default=256, help="longer pairs are left out")
    arguments = parser.parse_args()
    try:
        pairs, num_dropped = read(arguments)
        plans = [
            plan_training(
                pairs,
                num_shapes=num_shapes,
                tokens_per_batch=arguments.tokens,
                max_length=arguments.max_length,
                seed=0,
            )
            for num_shapes in arguments.shapes
        ]
    except InputError as error:
        parser.exit(1, f"{error}\n")

    print(f"{len(pairs)} pairs, {num_dropped} left out; {arguments.tokens} slots a batch and side")
    print(
        f"{'':15}{'shapes':>8}{'batches':>12}{'non-pad share':>16}{'batches/s':>11}{'tokens/s':>12}"
    )
    print(f"{'':15}{'':>8}{'an epoch':>12}{'over an epoch':>16}")
    theirs = tensor2tensor_plan(pairs, arguments.tokens, arguments.max_length)
    print(f"{'tensor2tensor':15}{_counted(pairs, theirs)}")
    tokens = pairs.source.lengths.sum() + pairs.target.lengths.sum() + 2 * len(pairs)
    for plan in plans:
        size = sum(plan.batches_per_epoch)
        num_batches = max(500, round(size))
        start = time.perf_counter()
        for _ in batches(pairs, plan, num_batches=num_batches):
            pass
        speed = num_batches / (time.perf_counter() - start)
        print(f"{'this plan':15}{_counted(pairs, plan)}{speed:11.0f}{speed * tokens / size:12.0f}")
    for plan in plans:
        print(f"\n{len(plan.shapes)} shapes (rows x source x target): {_listed(plan.shapes)}")


def _counted(pairs: TokenPairs, plan: TrainingPlan) -> str:
    size, share = sum(plan.batches_per_epoch), non_pad_share(pairs, plan)
    return f"{len(plan.shapes):8}{size:12.1f}{share:16.3f}"


def _listed(shapes: tuple[Shape, ...]) -> str:
    return ", ".join(" x ".join(map(str, shape)) for shape in shapes)


if __name__ == "__main__":
    main()
