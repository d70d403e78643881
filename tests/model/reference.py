"""The Transformer of the paper in NumPy and float64: a sentence, a head, a position at a time.

Written from the paper's sections and equations. It shares nothing with the package but the names
and shapes of the parameters, and knows neither batches nor padding: a sentence comes as the list
of its ids, which end in EOS.
"""

import numpy as np

BOS = 2


def float64(params):
    if isinstance(params, dict):
        return {name: float64(part) for name, part in params.items()}
    return np.asarray(params, np.float64)


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def layer_norm(params, x):
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return params["scale"] * (x - mean) / np.sqrt(variance + 1e-6) + params["bias"]


def attention(config, query, key, value, visible):
    """Equation 1 for one head; query t sees the keys at the positions `visible(t)`."""
    divisor = np.sqrt(query.shape[1]) if config.scale_scores else 1.0
    rows = []
    for t in range(len(query)):
        seen = visible(t)
        weights = softmax(np.array([key[s] @ query[t] for s in seen]) / divisor)
        rows.append(sum(weight * value[s] for weight, s in zip(weights, seen, strict=True)))
    return np.array(rows)


def near(config, t, end):
    """The positions before `end` that self-attention at t may see (section 4)."""
    r = config.neighbourhood
    return [s for s in range(end) if r is None or 2 * abs(s - t) <= r]


def multi_head_attention(params, config, x, memory, visible):
    """Section 3.2.2: sum over heads of head_i W^O_i, which is Concat(heads) W^O."""
    output = np.zeros_like(x)
    for head in range(params["query"].shape[1]):
        output += (
            attention(
                config,
                x @ params["query"][:, head],
                memory @ params["key"][:, head],
                memory @ params["value"][:, head],
                visible,
            )
            @ params["out"][head]
        )
    return output


def feed_forward(params, x):
    """Equation 2."""
    inner = np.maximum(0, x @ params["inner"]["kernel"] + params["inner"]["bias"])
    return inner @ params["outer"]["kernel"] + params["outer"]["bias"]


def add_norm(params, config, x, sublayer):
    """LayerNorm(x + Sublayer(x)) (3.1), or x + Sublayer(LayerNorm(x))."""
    if config.norm == "pre":
        return x + sublayer(layer_norm(params["norm"], x))
    return layer_norm(params["norm"], x + sublayer(x))


def embed(params, config, ids):
    """Sections 3.4 and 3.5."""
    d_model = params["embedding"].shape[1]
    rows = []
    for position, token in enumerate(ids):
        if config.positions == "learned":
            encoding = params["positions"][position]
        else:
            encoding = np.empty(d_model)
            for i in range(d_model):
                angle = position / 10000 ** ((i - i % 2) / d_model)
                encoding[i] = np.cos(angle) if i % 2 else np.sin(angle)
        rows.append(np.sqrt(d_model) * params["embedding"][token] + encoding)
    return np.array(rows)


def encode(params, config, source):
    """The encoder's output for one sentence."""
    x = embed(params, config, source)
    for number in range(config.num_layers):
        layer = params[f"encoder_{number}"]

        def self_attention(y, layer=layer):
            return multi_head_attention(
                layer["self_attention"], config, y, y, lambda t: near(config, t, len(source))
            )

        x = add_norm(layer["self_attention_norm"], config, x, self_attention)
        x = add_norm(
            layer["feed_forward_norm"],
            config,
            x,
            lambda y, layer=layer: feed_forward(layer["feed_forward"], y),
        )
    return layer_norm(params["encoder_norm"], x) if config.norm == "pre" else x


def logits(params, config, source, target):
    """[T, V]: row t predicts target[t] from target[:t] and the source."""
    memory = encode(params, config, source)
    x = embed(params, config, [BOS, *target[:-1]])
    for number in range(config.num_layers):
        layer = params[f"decoder_{number}"]

        def self_attention(y, layer=layer):
            return multi_head_attention(
                layer["self_attention"], config, y, y, lambda t: near(config, t, t + 1)
            )

        def cross_attention(y, layer=layer):
            return multi_head_attention(
                layer["cross_attention"], config, y, memory, lambda t: range(len(memory))
            )

        x = add_norm(layer["self_attention_norm"], config, x, self_attention)
        x = add_norm(layer["cross_attention_norm"], config, x, cross_attention)
        x = add_norm(
            layer["feed_forward_norm"],
            config,
            x,
            lambda y, layer=layer: feed_forward(layer["feed_forward"], y),
        )
    if config.norm == "pre":
        x = layer_norm(params["decoder_norm"], x)
    return x @ params["embedding"].T


def log_probabilities(params, config, source, target):
    """log p(target[t] | target[:t], source) for every t."""
    rows = logits(params, config, source, target)
    return np.array([np.log(softmax(row)[id]) for row, id in zip(rows, target, strict=True)])


def loss(params, config, pairs, label_smoothing):
    """Section 5.4, summed over the target tokens of (source, target) pairs."""
    total = 0.0
    for source, target in pairs:
        for row, id in zip(logits(params, config, source, target), target, strict=True):
            wanted = np.full(len(row), label_smoothing / len(row))
            wanted[id] += 1 - label_smoothing
            total -= wanted @ np.log(softmax(row))
    return total
