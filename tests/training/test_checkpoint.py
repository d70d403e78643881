import itertools
import os
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType

from transformer_jax import sharding
from transformer_jax.data.batching import plan_training
from transformer_jax.data.pipeline import batches
from transformer_jax.data.ragged import Ragged, TokenPairs
from transformer_jax.errors import InputError
from transformer_jax.training.checkpoint import Checkpoints, average
from transformer_jax.training.state import TrainState

METADATA = {"config": {"seed": 0}, "vocabulary": "abc"}
OPTIMIZER = optax.adam(0.1)


def make_params(seed=0, width=8):
    generator = np.random.default_rng(seed)
    shapes = {"embedding": (16, width), "inner": {"kernel": (width, 8), "bias": (8,)}}
    return jax.tree.map(
        lambda shape: jnp.asarray(generator.normal(size=shape), jnp.float32),
        shapes,
        is_leaf=lambda node: isinstance(node, tuple),
    )


def make_state(seed=0, step=0):
    """Adam's moments are random too."""
    params = make_params(seed)
    _, opt_state = OPTIMIZER.update(make_params(seed + 1), OPTIMIZER.init(params))
    return TrainState(jnp.int32(step), params, opt_state)


def stream():
    sides = (Ragged.from_sequences([[5] * (1 + i % 7)] * 2 + [[6]]) for i in range(2))
    pairs = TokenPairs(*sides)
    plan = plan_training(pairs, num_shapes=2, tokens_per_batch=8, max_length=9, seed=0)
    return iter(batches(pairs, plan, num_batches=100))


def abstract(tree, mesh=None, layout="data"):
    """Shapes with the places of a mesh, by default of one device."""
    mesh = mesh or one_device()
    places = sharding.tree_shardings(tree, mesh, sharding.layout(layout))
    return jax.tree.map(
        lambda leaf, place: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=place),
        tree,
        places,
    )


def one_device():
    return jax.make_mesh((1, 1), ("data", "model"), (AxisType.Auto,) * 2, devices=jax.devices()[:1])


def assert_equal(ours, theirs):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


def save(directory, states, keep=None, metadata=METADATA):
    with Checkpoints(directory, keep or len(states)) as checkpoints:
        for step, state in states.items():
            checkpoints.save(state, step, stream(), metadata)
        checkpoints.wait()
        return checkpoints.steps


def test_what_is_restored_is_what_was_saved(tmp_path):
    state, iterator = make_state(step=7), stream()
    for _ in range(7):
        next(iterator)
    with Checkpoints(tmp_path / "checkpoints", keep=2) as checkpoints:
        checkpoints.save(state, 7, iterator, METADATA)
        expected = list(itertools.islice(iterator, 3))
    fresh = stream()
    with Checkpoints(tmp_path / "checkpoints", keep=2) as checkpoints:
        restored = checkpoints.restore(abstract(state), fresh)
    assert_equal(restored, state)
    for ours, theirs in zip(itertools.islice(fresh, 3), expected, strict=True):
        assert all(np.array_equal(ours[side], theirs[side]) for side in ("source", "target"))


def test_what_does_not_fit_is_one_line_of_readable_length(tmp_path):
    state = make_state(step=7)
    save(tmp_path / "checkpoints", {7: state})
    other = abstract(
        TrainState(state.step, {str(i): state.params for i in range(50)}, state.opt_state)
    )
    with (
        Checkpoints(tmp_path / "checkpoints", keep=2) as checkpoints,
        pytest.raises(InputError, match=r"^cannot read .*7: ") as error,
    ):
        checkpoints.restore(other, stream())
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


def test_an_empty_file_is_named(tmp_path):
    save(tmp_path, {7: make_state(step=7)})
    file = next(path for path in (tmp_path / "7" / "params").glob("**/d/*") if path.is_file())
    file.write_bytes(b"")
    with (
        Checkpoints(tmp_path) as checkpoints,
        pytest.raises(InputError, match=f"cannot read .*7: .*{file.name} is empty"),
    ):
        checkpoints.average(abstract(make_state(step=7).params), 1)


def test_the_newest_are_kept_and_the_newest_of_all_is_restored(tmp_path):
    states = {step: make_state(step, step) for step in (1, 2, 3, 10)}
    assert save(tmp_path, states, keep=2) == [3, 10]
    with Checkpoints(tmp_path) as checkpoints:
        assert checkpoints.steps == [3, 10]
        assert_equal(checkpoints.restore(abstract(states[10]), stream()), states[10])
        params = states[10].params
        assert_equal(checkpoints.average(abstract(params), 1)[0], params)


def test_a_step_is_written_once(tmp_path):
    first, second = make_state(0, 4), make_state(1, 4)
    with Checkpoints(tmp_path, keep=2) as checkpoints:
        checkpoints.save(first, 4, stream(), METADATA)
        checkpoints.wait()
        checkpoints.save(second, 4, stream(), METADATA)
        checkpoints.wait()
        assert_equal(checkpoints.restore(abstract(first), stream()), first)


def test_what_eight_devices_saved_one_restores_and_the_other_way_round(tmp_path):
    state = make_state(step=3)
    eight = abstract(state, sharding.make_mesh(), "fsdp")
    places = jax.tree.map(lambda leaf: leaf.sharding, eight)
    save(tmp_path, {3: jax.device_put(state, places)})
    with Checkpoints(tmp_path) as checkpoints:
        one = checkpoints.restore(abstract(state), stream())
        spread = checkpoints.restore(eight, stream())
    assert_equal(one, state)
    assert_equal(spread, state)
    assert {device for leaf in jax.tree.leaves(one) for device in leaf.devices()} == {
        jax.devices()[0]
    }
    assert jax.tree.map(lambda leaf: leaf.sharding, spread) == places


def test_an_average_is_the_mean_of_the_newest(tmp_path):
    states = {step: make_state(step, step) for step in range(1, 5)}
    save(tmp_path, states)
    shapes = abstract(states[1].params)
    with Checkpoints(tmp_path) as checkpoints:
        for last, steps in ((3, [2, 3, 4]), (9, [1, 2, 3, 4])):
            ours, averaged = checkpoints.average(shapes, last)
            assert averaged == steps
            parts = [jax.tree.leaves(states[step].params) for step in steps]
            for leaf, *theirs in zip(jax.tree.leaves(ours), *parts, strict=True):
                mean = np.mean(np.asarray(theirs, np.float64), axis=0)
                largest = np.abs(theirs).max()
                assert leaf.dtype == np.float32
                # A rounding for each sum and one for the quotient.
                allowed = len(steps) * np.finfo(np.float32).eps * largest
                assert np.abs(np.asarray(leaf) - mean).max() <= allowed
        newest, averaged = checkpoints.average(shapes, 1)
        assert averaged == [4]
        assert_equal(newest, states[4].params)


def test_an_average_of_none_is_refused(tmp_path):
    shapes = abstract(make_params())
    with Checkpoints(tmp_path) as checkpoints:
        with pytest.raises(InputError, match="average 0 checkpoints: give 1 or more"):
            checkpoints.average(shapes, 0)
        with pytest.raises(InputError, match=f"{tmp_path} holds no checkpoint"):
            checkpoints.average(shapes, 5)


def test_an_average_of_other_shapes_names_the_parameter_and_both_shapes(tmp_path):
    save(tmp_path, {1: make_state()})
    narrow = abstract(make_params(width=4))
    with pytest.raises(InputError, match=r"embedding is \(16, 8\), the model's \(16, 4\)"):
        average([tmp_path / "1"], narrow)
    absent = abstract({name: part for name, part in make_params().items() if name != "inner"})
    with pytest.raises(InputError, match=r"inner/bias is \(8,\), the model's absent"):
        average([tmp_path / "1"], absent)
    more = abstract({**make_params(), "positions": jnp.zeros((4, 8))})
    with pytest.raises(InputError, match=r"positions is absent, the model's \(4, 8\)"):
        average([tmp_path / "1"], more)


def test_an_average_of_models_of_two_vocabularies_is_refused(tmp_path):
    save(tmp_path / "a", {1: make_state()})
    save(tmp_path / "b", {1: make_state()}, metadata={"vocabulary": "xyz"})
    both = [tmp_path / "a" / "1", tmp_path / "b" / "1"]
    with pytest.raises(InputError, match=rf"{both[1]}: its vocabulary xyz is not the abc of"):
        average(both, abstract(make_params()))


def test_a_folder_that_was_not_written_to_its_end_is_no_checkpoint(tmp_path):
    save(tmp_path, {1: make_state(step=1)})
    # All that a killed run may have written, but for the last step: giving the folder its name.
    half = tmp_path / "2.orbax-checkpoint-tmp"
    shutil.copytree(tmp_path / "1", half)
    with Checkpoints(tmp_path) as reader:
        assert reader.steps == [1]
    assert half.exists()  # someone may be writing it
    with Checkpoints(tmp_path, keep=5) as writer:
        assert writer.steps == [1]
        writer.save(make_state(step=2), 2, stream(), METADATA)
        writer.wait()
        assert writer.steps == [1, 2]
    assert not half.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=f"cannot write checkpoints to {tmp_path}/checkpoints"):
        Checkpoints(tmp_path / "checkpoints", keep=1)


@pytest.mark.parametrize("place", ["checkpoints", "run/checkpoints"])
def test_a_file_in_the_place_of_the_folder_is_an_error_that_names_it(tmp_path, place):
    (tmp_path / place.split("/")[0]).write_text("in the way")
    with pytest.raises(InputError, match=f"cannot write checkpoints to {tmp_path}/{place}"):
        Checkpoints(tmp_path / place, keep=1)
