"""English constituency parsing (section 6.3, table 4) on trees in Penn Treebank brackets.

    python train.py --config=configs/wsj_parsing.py         WSJ only, a vocabulary of 16K
    python train.py --config=configs/wsj_parsing.py:semi    and a larger parsed corpus, 32K
    python train.py --config=configs/wsj_parsing.py:small --config.data.directory=DIR
                                                            any treebank, for a CPU

Put the trees (WSJ sections 2 to 21, 22 and 23, which the Linguistic Data Consortium sells) into
`data/wsj`, or name another directory with `--config.data.directory`. Traces and function tags are
taken off as they are read.

The paper chose dropout ("both attention and residual"), learning rate and beam on section 22 and
prints the beam alone. Dropout and schedule here are those of the authors' code of 2017
(`transformer_parsing_base`: 0.2 and 0.2, half the rate of equation 3, 16,000 warm-up steps; 0.1,
0.1 and 4,000 for `:semi`, as in `transformer_parsing_big`). Their code has six layers where the
paper says four, and an embedding for each side where one matrix serves both here. The number of
steps is ours.
"""

from ml_collections import ConfigDict

from configs import wmt14_ende_base

VARIANTS = ("", "semi", "small")


def get_config(variant: str = "") -> ConfigDict:
    if variant not in VARIANTS:
        raise ValueError(
            f"no variant {variant!r} of wsj_parsing: give one of :semi, :small, or none"
        )
    config = wmt14_ende_base.get_config()
    config.name = f"wsj_parsing_{variant}" if variant else "wsj_parsing"
    config.task = "parsing"
    data = ConfigDict()
    data.corpus = "trees"  # or "synthetic", which needs no files
    data.directory = "data/wsj"  # what the names below are relative to
    # A name, or several with commas between, which are concatenated; .gz is read as it is.
    data.train = ConfigDict({"trees": "02-21.mrg"})
    data.dev = ConfigDict({"trees": "22.mrg"})
    data.test = ConfigDict({"trees": "23.mrg"})
    # A second corpus for training, and what share of an epoch's trees it is.
    data.more = ConfigDict({"trees": "", "share": 0.0})
    config.data = data.lock()

    config.subword.vocab_size = 16_384  # labels included
    config.batch.max_length = 512
    config.model.num_layers = 4
    config.model.d_model = 1024
    config.model.dropout_rate = 0.2
    config.model.attention_dropout_rate = 0.2
    config.optimizer.factor = 0.5
    config.optimizer.warmup_steps = 16_000
    config.search.beam_size = 21
    config.search.length_penalty = 0.3
    config.search.extra_length = 300
    # A beam of 21 over input + 300 positions: 16 rows of 16 tokens have a cache of 3.5 GB.
    config.search.tokens_per_batch = 256

    if variant == "semi":
        # About 17 million sentences: the high-confidence and BerkeleyParser corpora
        # (Vinyals & Kaiser et al., 2014).
        config.subword.vocab_size = 32_768
        config.data.more = ConfigDict(
            {"trees": "high_confidence.mrg.gz,berkeley_parser.mrg.gz", "share": 0.9}
        )
        config.model.dropout_rate = 0.1
        config.model.attention_dropout_rate = 0.1
        config.optimizer.warmup_steps = 4000
    if variant == "small":
        config.data.train.trees = "train.mrg"
        config.data.dev.trees = "dev.mrg"
        config.data.test.trees = "dev.mrg"  # for want of another
        config.steps = 8000
        config.subword.vocab_size = 8000
        config.batch.tokens = 2048
        config.batch.max_length = 192
        # On short sentences the model finds out which tag belongs to which word.
        config.batch.short_length = 40
        config.batch.short_epochs = 14
        config.model.num_layers = 3
        config.model.d_model = 256
        config.model.d_ff = 1024
        config.model.num_heads = 4
        config.model.dropout_rate = 0.1
        config.model.attention_dropout_rate = 0.0
        config.optimizer.peak = 7e-4
        config.optimizer.warmup_steps = 800
        config.search.beam_size = 4
        config.search.tokens_per_batch = 1024
        config.checkpoint.every_minutes = 5.0
        config.checkpoint.every_steps = 500
        config.report.every_steps = 50
        config.report.evaluate_every_steps = 1000
        config.report.evaluate_sentences = 200
    return config
