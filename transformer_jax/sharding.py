"""The mesh and who holds what: the only file that names a mesh axis.

The mesh has two axes, "data" (batches are split over it) and "model" (tensor parallelism). A
layout is a table from parameter paths to PartitionSpecs; the model knows of none of this.
"""

import re
from collections.abc import Mapping

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from transformer_jax.errors import InputError

Rules = tuple[tuple[str, PartitionSpec], ...]
P = PartitionSpec

BATCH = P("data")
REPLICATED = P()

DATA_PARALLEL: Rules = ((r".*", P()),)

FULLY_SHARDED: Rules = (
    (r"embedding$", P(None, "data")),
    (r"positions$", P(None, "data")),
    (r"(query|key|value)$", P("data", None, None)),
    (r"out$", P(None, None, "data")),
    (r"inner/kernel$", P("data", None)),
    (r"outer/kernel$", P(None, "data")),
    (r"(bias|scale)$", P()),
)

TENSOR_PARALLEL: Rules = (
    (r"embedding$", P("model", None)),
    (r"positions$", P()),
    (r"(query|key|value)$", P(None, "model", None)),
    (r"out$", P("model", None, None)),
    (r"inner/kernel$", P(None, "model")),
    (r"inner/bias$", P("model")),
    (r"outer/kernel$", P("model", None)),
    (r"(outer/bias|norm/bias|scale)$", P()),
)

LAYOUTS = {"data": DATA_PARALLEL, "fsdp": FULLY_SHARDED, "tensor": TENSOR_PARALLEL}


def layout(name: str) -> Rules:
    """The table of a layout by its name in a configuration."""
    if name not in LAYOUTS:
        raise InputError(f"mesh.layout is {name!r}: give one of {', '.join(LAYOUTS)}")
    return LAYOUTS[name]


def make_mesh(model: int = 1) -> Mesh:
    """All devices, `model` of them side by side in a tensor-parallel group.

    The axes are Auto: XLA places whatever the tables leave open.
    """
    devices = jax.device_count()
    if model < 1 or devices % model:
        raise InputError(f"mesh.model is {model}: give a divisor of the {devices} devices")
    return jax.make_mesh((devices // model, model), ("data", "model"), (AxisType.Auto,) * 2)


def data_size(mesh: Mesh) -> int:
    """The number of parts a batch's rows are split into."""
    return mesh.shape["data"]


def batch_sharding(mesh: Mesh) -> NamedSharding:
    """Rows of a batch over the data axis."""
    return NamedSharding(mesh, BATCH)


def place_batch(batch: Mapping[str, object], mesh: Mesh) -> dict[str, jax.Array]:
    """The global batch on the devices, from the rows that each process holds of it."""
    rows = batch_sharding(mesh)
    return {
        name: jax.make_array_from_process_local_data(rows, np.asarray(array))
        for name, array in batch.items()
    }


def replicated(mesh: Mesh) -> NamedSharding:
    """A whole copy on every device."""
    return NamedSharding(mesh, REPLICATED)


def tree_shardings(tree: PyTree, mesh: Mesh, rules: Rules) -> PyTree:
    """The NamedSharding of every leaf: the spec of the first rule whose pattern its path matches.

    `tree` holds parameters or a whole training state, as arrays or `jax.ShapeDtypeStruct`; the
    optimizer's moments have the paths of their parameters. Scalars are replicated. A path
    without a rule, or a dimension that its axis does not divide, is an error.
    """

    def sharding(path, leaf):
        name = jax.tree_util.keystr(path, simple=True, separator="/")
        spec = P() if leaf.ndim == 0 else match(name, rules)
        for size, axis in zip(leaf.shape, spec, strict=False):
            if axis is not None and size % mesh.shape[axis]:
                raise InputError(
                    f"parameter {name} {leaf.shape}: {size} is not divisible by the "
                    f"{mesh.shape[axis]} devices of mesh axis {axis!r}; change model or mesh"
                )
        return NamedSharding(mesh, spec)

    return jax.tree_util.tree_map_with_path(sharding, tree)


def match(name: str, rules: Rules) -> PartitionSpec:
    """The spec of the first rule whose pattern is found in the path `name`."""
    for pattern, spec in rules:
        if re.search(pattern, name):
            return spec
    raise ValueError(f"parameter {name} has no rule in the table of layouts")
