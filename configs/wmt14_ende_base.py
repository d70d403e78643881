"""The paper's base model on WMT 2014 English-German (sections 5 and 6.1), and every field there is.

Other configurations take this one and change a few lines. Any field can be set on the command
line: `--config.model.num_heads=16`.

Put the corpus (about 4.5 million pairs) into `data/wmt14_ende`, or name another directory with
`--config.data.directory`. On fewer devices than the batch needs memory for, raise
`batch.micro_batches`: the update stays the same.
"""

from ml_collections import ConfigDict
from ml_collections.config_dict import placeholder


def get_config() -> ConfigDict:
    config = ConfigDict()
    config.name = "wmt14_ende_base"  # the run is kept in runs/<name> unless --workdir says where
    config.task = "translation"
    config.seed = 0
    config.steps = 100_000

    config.data = ConfigDict()
    config.data.corpus = "text"  # or "synthetic", which needs no files
    config.data.directory = "data/wmt14_ende"  # what the names below are relative to
    # A name, or several with commas between, which are concatenated; .gz is read as it is.
    config.data.train = ConfigDict({"source": "train.en", "target": "train.de"})
    config.data.dev = ConfigDict({"source": "newstest2013.en", "target": "newstest2013.de"})
    config.data.test = ConfigDict({"source": "newstest2014.en", "target": "newstest2014.de"})
    config.data.target_language = "de"  # Moses' rules for bleu_compound
    config.data.tokenize = "13a"  # sacreBLEU's tokenizer; "none" scores tokens as they are

    config.subword = ConfigDict()
    config.subword.vocab_size = 37_000
    config.subword.sample_sentences = 2_000_000  # the vocabulary is learned from at most so many
    config.subword.model_file = ""  # an existing SentencePiece model instead

    config.batch = ConfigDict()
    config.batch.tokens = 25_000  # of an update on either side, padding included
    config.batch.shapes = 8  # padded shapes, and so programs to compile
    config.batch.max_length = 256  # longer pairs are dropped in training, and counted
    config.batch.short_epochs = 0  # so many first epochs have only pairs of about
    config.batch.short_length = 0  # this length at most
    config.batch.micro_batches = 1  # parts of a batch that are computed one after another

    config.model = ConfigDict()
    config.model.num_layers = 6
    config.model.d_model = 512
    config.model.d_ff = 2048
    config.model.num_heads = 8
    config.model.d_k = placeholder(int)  # d_model / num_heads unless given
    config.model.d_v = placeholder(int)
    config.model.dropout_rate = 0.1
    config.model.attention_dropout_rate = 0.0  # of attention weights (section 6.3)
    config.model.positions = "sinusoidal"  # or "learned"
    config.model.max_positions = 1024  # the size of a learned table
    config.model.norm = "post"  # or "pre"
    config.model.neighbourhood = placeholder(int)  # r of restricted self-attention (section 4)
    config.model.scale_scores = True  # by 1 / sqrt(d_k)
    config.model.dtype = "float32"  # of activations; or "bfloat16"

    config.loss = ConfigDict()
    config.loss.label_smoothing = 0.1

    config.optimizer = ConfigDict()
    config.optimizer.b1 = 0.9
    config.optimizer.b2 = 0.98
    config.optimizer.eps = 1e-9
    config.optimizer.clip_norm = placeholder(float)  # off
    config.optimizer.warmup_steps = 4000
    config.optimizer.factor = 1.0  # of equation 3
    config.optimizer.peak = placeholder(float)  # the highest learning rate, instead of equation 3

    config.mesh = ConfigDict()
    config.mesh.model = 1  # devices that share one copy of the model (layout "tensor")
    config.mesh.layout = "data"  # or "fsdp", "tensor"

    config.search = ConfigDict()
    config.search.beam_size = 4
    config.search.length_penalty = 0.6
    config.search.extra_length = 50  # an output has at most the input's length + this
    config.search.tokens_per_batch = 4096

    config.checkpoint = ConfigDict()
    config.checkpoint.every_steps = 0  # 0: by the clock alone
    config.checkpoint.every_minutes = 10.0
    config.checkpoint.keep = 20
    config.checkpoint.average = 5

    config.report = ConfigDict()
    config.report.every_steps = 100
    config.report.evaluate_every_steps = 5000  # dev perplexity and BLEU; 0 for never
    config.report.evaluate_sentences = 500  # of the dev set
    return config.lock()  # a misspelt field is an error from here on
