"""The paper's base model on WMT 2014 English-French: 36 million pairs, 32,000 subwords."""

from ml_collections import ConfigDict

from configs import wmt14_ende_base


def get_config() -> ConfigDict:
    config = wmt14_ende_base.get_config()
    config.name = "wmt14_enfr_base"
    config.data.directory = "data/wmt14_enfr"
    config.data.train.target = "train.fr"
    config.data.dev.target = "newstest2013.fr"
    config.data.test.target = "newstest2014.fr"
    config.data.target_language = "fr"
    config.subword.vocab_size = 32_000
    return config
