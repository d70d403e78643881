import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transformer_jax.ops import label_smoothed_cross_entropy

B, T, V = 3, 4, 7


def example(scale=2.0):
    generator = np.random.default_rng(0)
    logits = generator.normal(scale=scale, size=(B, T, V)).astype(np.float32)
    targets = generator.integers(0, V, (B, T), np.int32)
    weights = generator.random((B, T)) < 0.7
    return jnp.asarray(logits), jnp.asarray(targets), jnp.asarray(weights)


def smoothed(targets, label_smoothing):
    return np.eye(V)[np.asarray(targets)] * (1 - label_smoothing) + label_smoothing / V


def log_softmax(logits):
    logits = np.asarray(logits, np.float64)
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.9])
def test_the_loss_is_the_cross_entropy_with_the_smoothed_target(label_smoothing):
    logits, targets, weights = example()
    ours = label_smoothed_cross_entropy(logits, targets, weights, label_smoothing)
    logs = log_softmax(logits)
    each = -np.sum(smoothed(targets, label_smoothing) * logs, axis=-1)
    assert float(ours.loss) == pytest.approx(each[weights].sum(), rel=1e-6)
    each = -np.sum(smoothed(targets, 0.0) * logs, axis=-1)
    assert float(ours.nll) == pytest.approx(each[weights].sum(), rel=1e-6)
    assert float(ours.tokens) == np.sum(weights)
    if label_smoothing == 0:
        assert ours.loss == ours.nll


def test_the_gradient_is_that_of_automatic_differentiation():
    logits, targets, weights = example()

    def ours(logits):
        sums = label_smoothed_cross_entropy(logits, targets, weights, 0.1)
        return 2.0 * sums.loss - 3.0 * sums.nll

    def naive(logits):
        logs = jax.nn.log_softmax(logits)
        one_hot = jax.nn.one_hot(targets, V)
        loss = -jnp.sum((0.9 * one_hot + 0.1 / V) * logs, axis=-1)
        nll = -jnp.sum(one_hot * logs, axis=-1)
        return jnp.sum(weights * (2.0 * loss - 3.0 * nll))

    assert np.abs(jax.grad(ours)(logits) - jax.grad(naive)(logits)).max() < 1e-6


def test_the_gradient_of_a_token_is_its_probability_minus_its_smoothed_target():
    logits, targets, weights = example()
    gradient = jax.grad(
        lambda logits: label_smoothed_cross_entropy(logits, targets, weights, 0.1).loss
    )(logits)
    expected = np.exp(log_softmax(logits)) - smoothed(targets, 0.1)
    expected[~np.asarray(weights)] = 0
    assert np.abs(gradient - expected).max() < 1e-6


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_huge_logits_give_no_nan(dtype):
    logits, targets, weights = example(scale=1e30)
    logits = logits.astype(dtype)

    def loss(logits):
        return label_smoothed_cross_entropy(logits, targets, weights).loss

    value, gradient = jax.value_and_grad(loss)(logits)
    assert np.isfinite(value)
    assert gradient.dtype == dtype
    assert np.isfinite(np.asarray(gradient, np.float32)).all()


def test_tokens_without_weight_add_nothing_even_if_not_finite():
    logits, targets, weights = example()
    expected = label_smoothed_cross_entropy(logits, targets, weights)
    spoilt = jnp.where(weights[..., None], logits, jnp.nan)
    assert label_smoothed_cross_entropy(spoilt, targets, weights) == expected
    nothing = label_smoothed_cross_entropy(logits, targets, jnp.zeros_like(weights))
    assert [float(total) for total in nothing] == [0, 0, 0]


def test_no_prediction_has_less_loss_than_the_smoothed_target_itself():
    _, targets, weights = example()
    best = jnp.asarray(np.log(smoothed(targets, 0.1)), jnp.float32)
    loss = label_smoothed_cross_entropy(best, targets, weights).loss
    entropy = -(0.9 + 0.1 / V) * np.log(0.9 + 0.1 / V) - (V - 1) * 0.1 / V * np.log(0.1 / V)
    assert float(loss) == pytest.approx(entropy * int(weights.sum()), rel=1e-6)
    for seed in range(5):
        other = best + 0.1 * jax.random.normal(jax.random.key(seed), best.shape)
        assert label_smoothed_cross_entropy(other, targets, weights).loss > loss
