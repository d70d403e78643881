import itertools
import math
import re

import jax
import numpy as np
import optax
import pytest
from jax.sharding import PartitionSpec as P

from transformer_jax import sharding
from transformer_jax.errors import InputError
from transformer_jax.model import Transformer, TransformerConfig
from transformer_jax.training.optimizer import adam
from transformer_jax.training.state import abstract_params, create_state

# Every kind of parameter is in one of these.
VARIANTS = tuple(
    TransformerConfig(
        16, num_layers=1, d_model=16, d_ff=32, num_heads=2, d_v=4, positions=positions, norm=norm
    )
    for positions, norm in itertools.product(("sinusoidal", "learned"), ("post", "pre"))
)


@pytest.fixture(scope="module")
def mesh():
    return sharding.make_mesh(model=2)


@pytest.fixture(scope="module")
def parameters(mesh):
    """Path -> shape, of all variants."""
    found = {}
    for config in VARIANTS:
        tree = abstract_params(Transformer(config), mesh)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
            found[jax.tree_util.keystr(path, simple=True, separator="/")] = leaf.shape
    return found


@pytest.mark.parametrize("name", sharding.LAYOUTS)
def test_every_parameter_has_a_rule_and_every_rule_a_parameter(parameters, name):
    rules = sharding.layout(name)
    used = set()
    for parameter, shape in parameters.items():
        spec = sharding.match(parameter, rules)
        assert len(spec) in (0, len(shape)), parameter
        used.add(next(rule for rule in rules if re.search(rule[0], parameter)))
    assert used == set(rules)


@pytest.mark.parametrize(("name", "axis"), [("fsdp", "data"), ("tensor", "model")])
def test_every_matrix_is_split(parameters, name, axis):
    whole = {parameter for parameter, shape in parameters.items() if len(shape) > 1}
    split = {p for p in whole if axis in sharding.match(p, sharding.layout(name))}
    # Rows of a table of positions are few, and every device of a tensor-parallel group has them.
    assert whole - split == ({"positions"} if name == "tensor" else set())


@pytest.mark.parametrize("name", sharding.LAYOUTS)
def test_adams_moments_lie_where_their_parameters_do(mesh, name):
    def new_state():
        return create_state(jax.random.key(0), Transformer(VARIANTS[3]), adam(lambda count: 0.1))

    state = jax.eval_shape(new_state)
    placed = sharding.tree_shardings(state, mesh, sharding.layout(name))
    for moment in ("mu", "nu"):
        assert optax.tree.get(placed.opt_state, moment) == placed.params
    assert placed.step.spec == P()


def test_eight_devices_hold_an_eighth_of_each_matrix_each():
    mesh = sharding.make_mesh()
    tree = abstract_params(Transformer(VARIANTS[3]), mesh)
    placed = sharding.tree_shardings(tree, mesh, sharding.layout("fsdp"))
    for leaf, place in zip(jax.tree.leaves(tree), jax.tree.leaves(placed), strict=True):
        part = math.prod(place.shard_shape(leaf.shape))
        assert part == (leaf.size if leaf.ndim == 1 else leaf.size // 8)


def test_a_dimension_that_the_devices_do_not_divide_is_named():
    mesh = sharding.make_mesh(model=4)
    config = TransformerConfig(16, num_layers=1, d_model=16, d_ff=32, num_heads=2)
    tree = abstract_params(Transformer(config), mesh)
    with pytest.raises(InputError, match=r"decoder_0/cross_attention/key \(16, 2, 8\): 2 .* 4 .*"):
        sharding.tree_shardings(tree, mesh, sharding.layout("tensor"))


def test_a_parameter_without_a_rule_is_named():
    with pytest.raises(ValueError, match="parameter decoder_0/gate has no rule"):
        sharding.match("decoder_0/gate", sharding.TENSOR_PARALLEL)


def test_an_unknown_layout_is_named():
    with pytest.raises(InputError, match=r"mesh.layout is 'zero': give one of data, fsdp, tensor"):
        sharding.layout("zero")


@pytest.mark.parametrize("model", [-1, 0, 3, 16])
def test_a_tensor_parallel_group_is_a_divisor_of_the_devices(model):
    with pytest.raises(InputError, match=rf"mesh.model is {model}: .* 8 devices"):
        sharding.make_mesh(model)


@pytest.mark.parametrize("model", [1, 2, 8])
def test_a_mesh_has_every_device_once(model):
    mesh = sharding.make_mesh(model)
    assert dict(mesh.shape) == {"data": 8 // model, "model": model}
    assert sharding.data_size(mesh) == 8 // model
    assert set(mesh.devices.ravel()) == set(jax.devices())


def test_a_placed_batch_is_the_batch_with_its_rows_split(mesh):
    batch = {"source": np.arange(24, dtype=np.int32).reshape(8, 3)}
    placed = sharding.place_batch(batch, mesh)
    assert np.array_equal(placed["source"], batch["source"])
    assert {shard.data.shape for shard in placed["source"].addressable_shards} == {(2, 3)}
