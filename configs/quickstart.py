"""A small Transformer on the embedded English-German corpus: minutes on two CPU cores."""

from ml_collections import ConfigDict

from configs import wmt14_ende_base


def get_config() -> ConfigDict:
    config = wmt14_ende_base.get_config()
    config.name = "quickstart"
    config.steps = 2500
    config.data.corpus = "synthetic"
    config.subword.vocab_size = 2000
    config.batch.tokens = 1024
    config.batch.shapes = 5
    config.batch.max_length = 64
    config.model.num_layers = 2
    config.model.d_model = 128
    config.model.d_ff = 512
    config.model.num_heads = 4
    config.model.dropout_rate = 0.05
    config.optimizer.warmup_steps = 200
    config.optimizer.peak = 0.0035
    config.search.extra_length = 20
    config.search.tokens_per_batch = 1024
    config.checkpoint.every_steps = 100
    config.checkpoint.every_minutes = 0.0
    config.checkpoint.keep = 5
    config.report.every_steps = 50
    config.report.evaluate_every_steps = 500
    config.report.evaluate_sentences = 50
    return config
