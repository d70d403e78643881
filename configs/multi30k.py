"""Multi30k English-German, the text-only Transformer-Tiny of Wu et al. (ACL 2021).

The published recipe gives 41.02 BLEU on test.2016, lower-cased tokens as they are. It searches with
a beam of 5 and length penalty 1 in fairseq's form (score / length); ours is the paper's.
"""

from ml_collections import ConfigDict

from configs import wmt14_ende_base


def get_config() -> ConfigDict:
    config = wmt14_ende_base.get_config()
    config.name = "multi30k"
    config.steps = 8000
    config.data.directory = "data/multi30k"
    config.data.dev = ConfigDict({"source": "valid.en", "target": "valid.de"})
    config.data.test = ConfigDict({"source": "test.2016.en", "target": "test.2016.de"})
    config.data.tokenize = "none"
    config.subword.vocab_size = 10_000
    config.batch.tokens = 9216  # about 8192 of them real
    config.batch.max_length = 128
    config.model.num_layers = 4
    config.model.d_model = 128
    config.model.d_ff = 256
    config.model.num_heads = 4
    config.model.dropout_rate = 0.3
    config.optimizer.eps = 1e-8
    config.optimizer.clip_norm = 25.0
    config.optimizer.warmup_steps = 2000
    config.optimizer.peak = 0.005
    config.search.beam_size = 5
    config.search.length_penalty = 1.0
    # The recipe averages the last 10 epochs, of about 50 steps each.
    config.checkpoint.every_steps = 50
    config.checkpoint.every_minutes = 0.0
    config.checkpoint.keep = 10
    config.checkpoint.average = 10
    config.report.every_steps = 50
    config.report.evaluate_every_steps = 500
    config.report.evaluate_sentences = 200
    return config
