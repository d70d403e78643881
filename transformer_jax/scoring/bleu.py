"""BLEU and chrF of a corpus: sacreBLEU's scores, and the paper's own BLEU.

Two numbers go by the name of BLEU here, and they are not comparable:

- `bleu` is sacreBLEU (Post, "A Call for Clarity in Reporting BLEU Scores", 2018) on detokenised
  text: the number to report today, together with its signature.
- `compound_bleu` is the BLEU of the paper's Table 2 and Table 3 (27.3 for base and 28.4 for big
  on English-German newstest2014): on tokens, with compounds split at their hyphens. It lies
  about 0.7 to 1.5 above sacreBLEU for the same German text.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import sacremoses
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacremoses.corpus import NonbreakingPrefixes

from transformer_jax.errors import InputError


class Score(NamedTuple):
    """A corpus score and how it was computed."""

    score: float
    """From 0 to 100."""
    signature: str
    """Name and settings, e.g. `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`."""

    def __str__(self) -> str:
        return f"{self.score:.2f} {self.signature}"


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Score:
    """sacreBLEU of a corpus with one reference a sentence.

    Give detokenised text and the default `tokenize="13a"`; sacreBLEU warns when the text looks
    tokenised. `tokenize="none"` is for corpora published as tokens (often lower-cased): they are
    compared as they are, without the warning. `lowercase` ignores case on both sides.

    Errors: InputError if the lists differ in length or are empty, or the tokenizer is unknown.
    """
    _check_pairs(hypotheses, references)
    if tokenize not in BLEU.TOKENIZERS:
        raise InputError(
            f"unknown tokenizer {tokenize!r} for BLEU: choose one of "
            f"{', '.join(sorted(map(str, BLEU.TOKENIZERS)))}"
        )
    # `force` turns off only the search for lines that look tokenised.
    metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=tokenize == "none")
    return _score(metric, hypotheses, references)


def compound_bleu(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "de"
) -> Score:
    """The paper's BLEU: tokenised, case-sensitive, compounds split at hyphens.

    The recipe is tensor2tensor's `utils/get_ende_bleu.sh`, applied to both sides, which are given
    as detokenised text:

    1. `normalize_punctuation`: Moses' replace-unicode-punctuation.perl, and the lower quote.
    2. Moses' tokenizer.perl with its defaults for `language` (hyphens stay inside words; special
       characters are escaped, which renames tokens one to one and leaves the score as it is).
    3. `split_compounds`.
    4. multi-bleu.perl, which is sacreBLEU on tokens as they are, without smoothing.

    Tokenizer: sacremoses, the Python port of Moses'. Unlike the present tokenizer.perl it leaves
    the full stop on an abbreviation or a number that ends the sentence (7 lines of the 3,000 of
    newstest2013, under 0.01 BLEU). The signature names the recipe as its tokenizer.

    Errors: InputError if the lists differ in length or are empty, or Moses has no such language.
    """
    _check_pairs(hypotheses, references)
    if language not in NonbreakingPrefixes().available_langs:
        raise InputError(f"no Moses tokenizer for language {language!r}: give a code such as 'de'")
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    score, signature = _score(
        metric,
        [_compound_tokens(sentence, language) for sentence in hypotheses],
        [_compound_tokens(sentence, language) for sentence in references],
    )
    recipe = f"tok:moses-{language}-compound-split"
    signature = signature.replace("tok:none", recipe)
    return Score(score, f"{signature}|sacremoses:{sacremoses.__version__}")


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """chrF2 of a corpus (Popović, 2015): the F-score of character n-grams up to 6, recall doubled.

    Give detokenised text. It is computed by sacreBLEU, with its defaults.

    Errors: InputError if the lists differ in length or are empty.
    """
    _check_pairs(hypotheses, references)
    return _score(CHRF(), hypotheses, references)


def normalize_punctuation(sentence: str) -> str:
    """Typographic and full-width punctuation as ASCII, as the BLEU of the paper needs it.

    Moses' replace-unicode-punctuation.perl, which get_ende_bleu.sh calls, leaves out the lower
    German quote „ (U+201E): references had to be mended by hand (tensor2tensor issue 317). It
    becomes `"` here, like the quotes “ and ”. Other marks, such as « and », stay, as in the script.
    """
    return _punctuation().replace_unicode_punct(sentence.replace("„", '"'))


def split_compounds(tokens: str) -> str:
    """`rich-text format` as `rich ##AT##-##AT## text format`.

    The script's Perl, `s{(\\S)-(\\S)}{$1 ##AT##-##AT## $2}g`, sees bytes, and its matches do not
    overlap. Hence `a-b-c` is split once, for the one byte `b` is part of the first match, but
    `a-ö-c` twice, for `ö` is two bytes. Published numbers contain this, so it is kept.
    """
    return _HYPHEN.sub(rb"\1 ##AT##-##AT## \2", tokens.encode()).decode()


_HYPHEN = re.compile(rb"(\S)-(\S)")


@cache
def _punctuation() -> sacremoses.MosesPunctNormalizer:
    return sacremoses.MosesPunctNormalizer()


@cache
def _tokenizer(language: str) -> sacremoses.MosesTokenizer:
    return sacremoses.MosesTokenizer(language)


def _compound_tokens(sentence: str, language: str) -> str:
    tokens = _tokenizer(language).tokenize(normalize_punctuation(sentence), return_str=True)
    return split_compounds(str(tokens))


def _check_pairs(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise InputError(
            f"{len(hypotheses)} hypotheses for {len(references)} references: "
            "give one hypothesis for each reference, in the same order"
        )
    if not hypotheses:
        raise InputError("0 hypotheses for 0 references: there is nothing to score")


def _score(metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(result.score, f"{result.name}|{metric.get_signature()}")
