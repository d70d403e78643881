# ruff: noqa: RUF001  (typographic punctuation is what some of these tests are about)
import logging
import math
from pathlib import Path

import pytest

from transformer_jax.errors import InputError
from transformer_jax.scoring.bleu import (
    Score,
    bleu,
    chrf,
    compound_bleu,
    normalize_punctuation,
    split_compounds,
)

CORPORA = Path(__file__).parents[2].parent / "shared" / "data" / "bleu"
needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="no shared corpora here")

METRICS = [bleu, compound_bleu, chrf]


def lines(name: str) -> list[str]:
    return (CORPORA / name).read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("metric", METRICS)
def test_equal_corpora_score_100(metric):
    corpus = ["Das Haus am See ist alt .", "Ein E-Mail-Programm für alle , bitte ."]
    assert metric(corpus, corpus).score == pytest.approx(100)


@pytest.mark.parametrize("metric", METRICS)
def test_corpora_without_a_common_character_score_0(metric):
    assert metric(["aa bb cc dd"], ["ee ff gg hh"]).score == 0


def test_bleu_is_the_geometric_mean_of_the_precisions():
    # Unigrams 4 of 5 (a b c d), bigrams 3 of 4, trigrams 2 of 3, 4-grams 1 of 2; equal lengths.
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d x"], ["a b c d e"]).score == pytest.approx(expected)


def test_counts_are_summed_over_the_corpus_before_the_precisions():
    # (5 + 4) of (5 + 5) unigrams, (4 + 3) of 8, (3 + 2) of 6, (2 + 1) of 4.
    expected = 100 * (9 / 10 * 7 / 8 * 5 / 6 * 3 / 4) ** (1 / 4)
    score = bleu(["a b c d e", "f g h i x"], ["a b c d e", "f g h i j"]).score
    assert score == pytest.approx(expected)


def test_a_repeated_word_counts_as_often_as_the_reference_has_it():
    # a: 2 of 4 (not 4 of 4), plus b c d: 5 of 7. Bigrams: aa, ab, bc, cd: 4 of 6 (aa 1 of 3).
    # Trigrams: aab, abc, bcd: 3 of 5. 4-grams: aabc, abcd: 2 of 4. Longer: no brevity penalty.
    expected = 100 * (5 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** (1 / 4)
    assert bleu(["a a a a b c d"], ["a a b c d"]).score == pytest.approx(expected)


def test_a_short_output_pays_the_brevity_penalty():
    # All n-grams are right; 5 words for 8: exp(1 - 8/5).
    score = bleu(["a b c d e"], ["a b c d e f g h"]).score
    assert score == pytest.approx(100 * math.exp(1 - 8 / 5))


def test_case_counts_unless_told_otherwise():
    assert bleu(["A B C D"], ["a b c d"]).score == 0
    assert bleu(["A B C D"], ["a b c d"], lowercase=True).score == pytest.approx(100)
    assert compound_bleu(["A B C D"], ["a b c d"]).score == 0


def test_tokens_are_compared_as_they_are_on_request():
    assert bleu(["a b c d e-f"], ["a b c d e-f"], tokenize="none").score == pytest.approx(100)
    # 13a splits the full stop off; "none" leaves "d." a word that differs from "d".
    assert bleu(["a b c d."], ["a b c d ."]).score == pytest.approx(100)
    assert bleu(["a b c d."], ["a b c d ."], tokenize="none").score < 100


def test_compound_bleu_is_0_where_a_precision_is_0():
    # multi-bleu.perl does not smooth; sacreBLEU does.
    assert compound_bleu(["a b c x"], ["a b c d"]).score == 0
    assert bleu(["a b c x"], ["a b c d"]).score > 0


def test_compound_bleu_tokenises_and_splits_compounds():
    # ein E ##AT##-##AT## Mail . against ein E ##AT##-##AT## Post . : 4 of 5 unigrams match,
    # bigrams "ein E" and "E AT" of 4, the trigram "ein E AT" of 3, no 4-gram.
    assert compound_bleu(["ein E-Mail."], ["ein E-Post."]).score == 0
    # With one word more in front: 5 of 6, 3 of 5, 2 of 4, 1 of 3.
    expected = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4)
    score = compound_bleu(["nur ein E-Mail."], ["nur ein E-Post."]).score
    assert score == pytest.approx(expected)


def test_compound_bleu_does_not_see_the_kind_of_quote():
    plain = ['Er sagte: "Das ist gut", und ging.']
    typographic = ["Er sagte: „Das ist gut“, und ging."]
    assert compound_bleu(typographic, plain).score == pytest.approx(100)
    assert compound_bleu(plain, typographic).score == pytest.approx(100)


def test_an_abbreviation_of_the_language_keeps_its_full_stop():
    # "bzw." is German; to the English tokenizer it ends a sentence.
    tokenised, text = ["Tee bzw . Milch und Zucker"], ["Tee bzw. Milch und Zucker"]
    assert compound_bleu(tokenised, text, language="en").score == pytest.approx(100)
    assert compound_bleu(tokenised, text, language="de").score < 100


@pytest.mark.parametrize(
    ("tokens", "split"),
    [
        ("rich-text format", "rich ##AT##-##AT## text format"),
        ("ab-cd-ef", "ab ##AT##-##AT## cd ##AT##-##AT## ef"),
        # From Perl 5.36: matches do not overlap, and it sees bytes.
        ("a-b-c", "a ##AT##-##AT## b-c"),
        ("a-b-c-d-e", "a ##AT##-##AT## b-c ##AT##-##AT## d-e"),
        ("a-ö-c", "a ##AT##-##AT## ö ##AT##-##AT## c"),
        ("a--b", "a ##AT##-##AT## -b"),
        ("Maß-Öl", "Maß ##AT##-##AT## Öl"),
        ("- a -b c- -", "- a -b c- -"),
        ("", ""),
    ],
)
def test_compounds_are_split_as_perl_does(tokens, split):
    assert split_compounds(tokens) == split


@pytest.mark.parametrize(
    ("sentence", "normalized"),
    [
        ("„Ja“, sagte sie.", '"Ja", sagte sie.'),
        ("“Yes,” it’s fine…", '"Yes," it\'s fine...'),
        ("（１２％）", "(12%)"),
        ("«Oui» – ‚ja‘", "«Oui» – ‚ja‘"),
        ("Größe 5 - 6", "Größe 5 - 6"),
    ],
)
def test_punctuation_becomes_ascii(sentence, normalized):
    assert normalize_punctuation(sentence) == normalized


def test_chrf_is_the_mean_f2_of_character_n_grams():
    # "abcx" for "abcd": 3 of 4, 2 of 3, 1 of 2, 0 of 1; precision and recall are equal in each
    # order, so F2 of the mean precision and the mean recall is that mean.
    expected = 100 * (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4
    assert chrf(["abcx"], ["abcd"]).score == pytest.approx(expected)


def test_signatures_name_the_method_and_the_version():
    corpus = ["a b c d"]
    assert bleu(corpus, corpus).signature.startswith(
        "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"
    )
    assert "|case:lc|" in bleu(corpus, corpus, lowercase=True).signature
    assert "|tok:none|" in bleu(corpus, corpus, tokenize="none").signature
    compound = compound_bleu(corpus, corpus).signature
    assert "|tok:moses-de-compound-split|smooth:none|" in compound
    assert "|sacremoses:" in compound
    assert chrf(corpus, corpus).signature.startswith("chrF2|nrefs:1|")


def test_a_score_prints_with_its_signature():
    assert str(Score(27.3, "BLEU|tok:13a")) == "27.30 BLEU|tok:13a"


@pytest.mark.parametrize("metric", METRICS)
def test_corpora_of_different_length_are_an_error_naming_both(metric):
    with pytest.raises(InputError, match="3 hypotheses for 2 references"):
        metric(["a", "b", "c"], ["a", "b"])


@pytest.mark.parametrize("metric", METRICS)
def test_empty_corpora_are_an_error(metric):
    with pytest.raises(InputError, match="0 hypotheses for 0 references"):
        metric([], [])


@pytest.mark.parametrize("metric", METRICS)
def test_an_empty_hypothesis_is_scored(metric):
    assert metric([""], ["a b c d"]).score == 0


def test_an_unknown_tokenizer_or_language_is_an_error_naming_it():
    with pytest.raises(InputError, match=r"'moses'.* 13a, "):
        bleu(["a"], ["a"], tokenize="moses")
    with pytest.raises(InputError, match="'xx'"):
        compound_bleu(["a"], ["a"], language="xx")


def test_tokenised_text_is_scored_silently_only_where_tokens_are_asked_for(caplog, capfd):
    tokenised = ["das ist ein Satz ."] * 100
    with caplog.at_level(logging.DEBUG):
        bleu(tokenised, tokenised, tokenize="none")
        compound_bleu(tokenised, tokenised)
        chrf(tokenised, tokenised)
        assert caplog.text == ""
        bleu(tokenised, tokenised)
    assert "forgot to detokenize" in caplog.text
    assert capfd.readouterr().out == ""


@needs_corpora
def test_newstest2013_has_its_published_bleu():
    score = bleu(lines("newstest2013.output.de"), lines("newstest2013.de")).score
    assert round(score, 2) == 28.09


@needs_corpora
def test_tokenised_output_has_the_score_of_multi_bleu():
    score = bleu(lines("tokenised.output"), lines("tokenised.reference"), tokenize="none").score
    assert round(score, 2) == 22.58


@needs_corpora
def test_newstest2013_has_the_compound_bleu_of_the_perl_scripts():
    # tokenizer.perl, the split and multi-bleu.perl, run by Perl: 28.4508.
    score = compound_bleu(lines("newstest2013.output.de"), lines("newstest2013.de")).score
    assert score == pytest.approx(28.4508, abs=0.01)
