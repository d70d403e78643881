"""The paper's big model on WMT 2014 English-German (last row of Table 3, section 6.1)."""

from ml_collections import ConfigDict

from configs import wmt14_ende_base


def get_config() -> ConfigDict:
    config = wmt14_ende_base.get_config()
    config.name = "wmt14_ende_big"
    config.steps = 300_000
    config.model.d_model = 1024
    config.model.d_ff = 4096
    config.model.num_heads = 16
    config.model.dropout_rate = 0.3
    config.checkpoint.average = 20
    return config
