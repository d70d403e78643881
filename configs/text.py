"""Any two parallel text files, with a small model for a few thousand to a few million pairs.

    python train.py --config=configs/text.py --workdir=runs/mine --config.data.directory=DIR

expects train.en, train.de, dev.en, dev.de, test.en and test.de in DIR; other names are fields, such
as `--config.data.train.source=corpus.en.gz`.
"""

from ml_collections import ConfigDict

from configs import wmt14_ende_base


def get_config() -> ConfigDict:
    config = wmt14_ende_base.get_config()
    config.name = "text"
    config.steps = 20_000
    config.data.directory = "data"
    config.data.dev = ConfigDict({"source": "dev.en", "target": "dev.de"})
    config.data.test = ConfigDict({"source": "test.en", "target": "test.de"})
    config.subword.vocab_size = 16_000
    config.batch.tokens = 8192
    config.batch.max_length = 128
    config.model.num_layers = 4
    config.model.d_model = 256
    config.model.d_ff = 1024
    config.model.num_heads = 4
    config.optimizer.warmup_steps = 2000
    config.optimizer.peak = 1e-3
    config.checkpoint.every_steps = 1000
    config.report.evaluate_every_steps = 1000
    config.report.evaluate_sentences = 200
    return config
