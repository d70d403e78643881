"""What Tables 2, 3 and 4 print (arXiv 1706.03762v7); None where a cell is blank."""

from typing import NamedTuple


class System(NamedTuple):
    """A row of Table 2: BLEU on newstest2014, to the digit, and the training cost in FLOPs."""

    name: str
    bleu_de: str | None
    bleu_fr: str | None
    cost_de: float | None
    cost_fr: float | None


# The Transformers have one cost, printed across both columns.
TABLE_2 = (
    System("ByteNet", "23.75", None, None, None),
    System("Deep-Att + PosUnk", None, "39.2", None, 1.0e20),
    System("GNMT + RL", "24.6", "39.92", 2.3e19, 1.4e20),
    System("ConvS2S", "25.16", "40.46", 9.6e18, 1.5e20),
    System("MoE", "26.03", "40.56", 2.0e19, 1.2e20),
    System("Deep-Att + PosUnk Ensemble", None, "40.4", None, 8.0e20),
    System("GNMT + RL Ensemble", "26.30", "41.16", 1.8e20, 1.1e21),
    System("ConvS2S Ensemble", "26.36", "41.29", 7.7e19, 1.2e21),
    System("Transformer (base)", "27.3", "38.1", 3.3e18, 3.3e18),
    System("Transformer (big)", "28.4", "41.8", 2.3e19, 2.3e19),
)


class Variation(NamedTuple):
    """A row of Table 3, measured on newstest2013; None is "as base" left of `perplexity`.

    `perplexity` is per subword, `parameters` in millions.
    """

    name: str
    num_layers: int | None = None
    d_model: int | None = None
    d_ff: int | None = None
    num_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    dropout_rate: float | None = None
    label_smoothing: float | None = None
    steps: int | None = None
    positions: str | None = None
    perplexity: float = 0.0
    bleu: float = 0.0
    parameters: int | None = None


def _row(name: str, perplexity: float, bleu: float, parameters: int | None = None, **columns):
    return Variation(name, perplexity=perplexity, bleu=bleu, parameters=parameters, **columns)


# The paper gives the groups A to E letters and their rows no names.
TABLE_3 = (
    Variation("base", 6, 512, 2048, 8, 64, 64, 0.1, 0.1, 100_000, "sinusoidal", 4.92, 25.8, 65),
    _row("A.h1", 5.29, 24.9, num_heads=1, d_k=512, d_v=512),
    _row("A.h4", 5.00, 25.5, num_heads=4, d_k=128, d_v=128),
    _row("A.h16", 4.91, 25.8, num_heads=16, d_k=32, d_v=32),
    _row("A.h32", 5.01, 25.4, num_heads=32, d_k=16, d_v=16),
    _row("B.dk16", 5.16, 25.1, 58, d_k=16),
    _row("B.dk32", 5.01, 25.4, 60, d_k=32),
    _row("C.N2", 6.11, 23.7, 36, num_layers=2),
    _row("C.N4", 5.19, 25.3, 50, num_layers=4),
    _row("C.N8", 4.88, 25.5, 80, num_layers=8),
    _row("C.d256", 5.75, 24.5, 28, d_model=256, d_k=32, d_v=32),
    _row("C.d1024", 4.66, 26.0, 168, d_model=1024, d_k=128, d_v=128),
    _row("C.ff1024", 5.12, 25.4, 53, d_ff=1024),
    _row("C.ff4096", 4.75, 26.2, 90, d_ff=4096),
    _row("D.drop0", 5.77, 24.6, dropout_rate=0.0),
    _row("D.drop2", 4.95, 25.5, dropout_rate=0.2),
    _row("D.ls0", 4.67, 25.3, label_smoothing=0.0),
    _row("D.ls2", 5.47, 25.7, label_smoothing=0.2),
    _row("E.learned", 4.92, 25.7, positions="learned"),
    Variation("big", 6, 1024, 4096, 16, None, None, 0.3, None, 300_000, None, 4.33, 26.4, 213),
)


class Parser(NamedTuple):
    """A row of Table 4: what it was trained on, and F1 on section 23 of the WSJ."""

    name: str
    training: str
    f1: float


TABLE_4 = (
    Parser("Vinyals & Kaiser et al. (2014)", "WSJ only, discriminative", 88.3),
    Parser("Petrov et al. (2006)", "WSJ only, discriminative", 90.4),
    Parser("Zhu et al. (2013)", "WSJ only, discriminative", 90.4),
    Parser("Dyer et al. (2016)", "WSJ only, discriminative", 91.7),
    Parser("Transformer (4 layers)", "WSJ only, discriminative", 91.3),
    Parser("Zhu et al. (2013)", "semi-supervised", 91.3),
    Parser("Huang & Harper (2009)", "semi-supervised", 91.3),
    Parser("McClosky et al. (2006)", "semi-supervised", 92.1),
    Parser("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    Parser("Transformer (4 layers)", "semi-supervised", 92.7),
    Parser("Luong et al. (2015)", "multi-task", 93.0),
    Parser("Dyer et al. (2016)", "generative", 93.3),
)
