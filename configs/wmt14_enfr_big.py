"""The paper's big model on WMT 2014 English-French, with dropout 0.1 (section 6.1)."""

from ml_collections import ConfigDict

from configs import wmt14_ende_big, wmt14_enfr_base


def get_config() -> ConfigDict:
    config = wmt14_enfr_base.get_config()
    big = wmt14_ende_big.get_config()
    config.name = "wmt14_enfr_big"
    config.steps = big.steps
    config.model = big.model
    config.model.dropout_rate = 0.1
    config.checkpoint.average = big.checkpoint.average
    return config
