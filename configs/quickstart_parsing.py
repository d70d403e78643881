"""A small Transformer learns to parse the embedded corpus: minutes on two CPU cores, no file."""

from ml_collections import ConfigDict

from configs import wsj_parsing


def get_config() -> ConfigDict:
    config = wsj_parsing.get_config("small")
    config.name = "quickstart_parsing"
    config.data.corpus = "synthetic"
    config.steps = 1500
    config.subword.vocab_size = 1200
    config.batch.tokens = 2048
    config.batch.shapes = 5
    config.batch.max_length = 128
    config.batch.short_epochs = 0  # its sentences are short enough
    config.model.num_layers = 2
    config.model.d_model = 128
    config.model.d_ff = 512
    config.optimizer.warmup_steps = 200
    config.optimizer.peak = 0.0035
    config.search.extra_length = 60
    config.checkpoint.every_steps = 100
    config.checkpoint.every_minutes = 0.0
    config.checkpoint.keep = 5
    config.report.evaluate_every_steps = 500
    config.report.evaluate_sentences = 50
    return config
