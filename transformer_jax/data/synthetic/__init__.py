"""The embedded corpus: English-German sentence pairs from a small grammar.

A derivation draws a language-neutral structure (`Clause`, `NounPhrase`, ...), which `english_tree`
and `german_fields` realize. English comes out as a phrase-structure tree with Penn labels, whose
leaves are the sentence; German as topological fields (prefield, left bracket, middle field, right
bracket, postfield), which is where verb second, verb-final clauses, separable verbs and the place
of "nicht" are decided. Every English sentence has one German translation: where an English word
has two ("when": "als" or "wenn"; "eat": "essen" or "fressen"), the sentence itself decides.

Each file imports only those before it:

    nouns, lexicon   the tables, in a dictionary's notation
    words            the tables, parsed
    structure        what a sentence says
    german, english  how a language says it
    usage            which words go together
    derivation       sentences at random
    corpus, gloss    the pairs, and their word-for-word translation
"""

from transformer_jax.data.synthetic.corpus import Pair, generate, realize, sentences, splits, trees
from transformer_jax.data.synthetic.english import english_tree
from transformer_jax.data.synthetic.german import german_fields
from transformer_jax.data.synthetic.gloss import word_for_word

__all__ = [
    "Pair",
    "english_tree",
    "generate",
    "german_fields",
    "realize",
    "sentences",
    "splits",
    "trees",
    "word_for_word",
]
