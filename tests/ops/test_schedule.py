import numpy as np
import pytest

from transformer_jax.ops import noam_schedule, peak_schedule


@pytest.mark.parametrize(("d_model", "warmup_steps", "factor"), [(512, 4000, 1.0), (64, 10, 2.0)])
def test_the_noam_schedule_is_equation_3_at_the_number_of_the_update(d_model, warmup_steps, factor):
    counts = np.array([0, 1, warmup_steps - 2, warmup_steps - 1, warmup_steps, 10**6])
    step = counts + 1.0
    expected = factor * d_model**-0.5 * np.minimum(step**-0.5, step * warmup_steps**-1.5)
    ours = noam_schedule(d_model, warmup_steps, factor)(counts)
    assert np.asarray(ours) == pytest.approx(expected, rel=1e-6)


def test_the_rate_rises_in_equal_steps_to_its_peak_and_falls_from_there():
    rates = np.asarray(peak_schedule(3e-4, 100)(np.arange(1000)))
    assert rates[0] == pytest.approx(3e-6)
    assert np.diff(rates[:100]) == pytest.approx(np.full(99, 3e-6), rel=1e-3)
    assert rates[99] == np.float32(3e-4)
    assert (np.diff(rates[99:]) < 0).all()
    assert rates[399] == pytest.approx(1.5e-4)


def test_without_warm_up_the_first_update_has_the_peak():
    assert peak_schedule(0.5, 1)(0) == 0.5
