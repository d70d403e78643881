"""The embedded corpus: correct German, in the order German wants, and nothing twice."""

import json
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
import sacrebleu

from transformer_jax.data.synthetic import (
    Pair,
    english_tree,
    generate,
    german_fields,
    realize,
    sentences,
    word_for_word,
)
from transformer_jax.data.synthetic.corpus import text
from transformer_jax.data.synthetic.english import leaves, present_participle, third_person
from transformer_jax.data.synthetic.german import german_nominal, german_present
from transformer_jax.data.synthetic.structure import (
    Clause,
    Complement,
    NounPhrase,
    Predicate,
    Relative,
    Sentence,
    Subordinate,
)
from transformer_jax.data.synthetic.words import (
    ADJECTIVES,
    BE,
    CONTROLS,
    DETERMINERS,
    IT,
    MODALS,
    NOUNS,
    PRONOUNS,
    TIMES,
    VERBS,
    WEATHER,
    WHO,
)


@pytest.fixture(scope="module")
def corpus():
    """Made by another process: free of type checks, and of this one's hash seed."""
    code = (
        "import json; from transformer_jax.data.synthetic import splits;print(json.dumps(splits()))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return {
        name: [Pair(*pair) for pair in pairs] for name, pairs in json.loads(made.stdout).items()
    }


@pytest.fixture(scope="module")
def derivations():
    return list(islice(sentences(3), 2_000))


def noun(english):
    return next(noun for noun in NOUNS if noun.english == english)


def verb(german):
    return next(v for v in VERBS if v.german.prefix + v.german.infinitive == german)


def phrase(words, plural=False, **more):
    """A noun phrase from "the old man"; no article: "- old men" with `plural`."""
    determiner, *adjectives, head = words.split()
    return NounPhrase(
        DETERMINERS.get(determiner),
        tuple(ADJECTIVES[adjective] for adjective in adjectives),
        noun(head),
        plural,
        **more,
    )


def with_(case, words, english="", german="", plural=False):
    built = phrase(words, plural) if isinstance(words, str) else words
    return Complement(english, german, case, built)


def time(english):
    return next(adverb for adverb in TIMES if adverb.english == english)


# The school-book table: masculine, feminine, neuter, plural in nominative, accusative, dative.
SCHOOL_BOOK = {
    "the": """
        der alte Mann | die alte Frau | das alte Auto | die alten Frauen
        den alten Mann | die alte Frau | das alte Auto | die alten Frauen
        dem alten Mann | der alten Frau | dem alten Auto | den alten Frauen
        des alten Mannes | der alten Frau | des alten Autos | der alten Frauen""",
    "a": """
        ein alter Mann | eine alte Frau | ein altes Auto | alte Frauen
        einen alten Mann | eine alte Frau | ein altes Auto | alte Frauen
        einem alten Mann | einer alten Frau | einem alten Auto | alten Frauen
        eines alten Mannes | einer alten Frau | eines alten Autos | alter Frauen""",
    "no": """
        kein alter Mann | keine alte Frau | kein altes Auto | keine alten Frauen
        keinen alten Mann | keine alte Frau | kein altes Auto | keine alten Frauen
        keinem alten Mann | keiner alten Frau | keinem alten Auto | keinen alten Frauen
        keines alten Mannes | keiner alten Frau | keines alten Autos | keiner alten Frauen""",
    "-": """
        alter Mann | alte Frau | altes Auto | alte Frauen
        alten Mann | alte Frau | altes Auto | alte Frauen
        altem Mann | alter Frau | altem Auto | alten Frauen
        alten Mannes | alter Frau | alten Autos | alter Frauen""",
    "our": """
        unser alter Mann | unsere alte Frau | unser altes Auto | unsere alten Frauen
        unseren alten Mann | unsere alte Frau | unser altes Auto | unsere alten Frauen
        unserem alten Mann | unserer alten Frau | unserem alten Auto | unseren alten Frauen
        unseres alten Mannes | unserer alten Frau | unseres alten Autos | unserer alten Frauen""",
    "this": """
        dieser alte Mann | diese alte Frau | dieses alte Auto | diese alten Frauen
        diesen alten Mann | diese alte Frau | dieses alte Auto | diese alten Frauen
        diesem alten Mann | dieser alten Frau | diesem alten Auto | diesen alten Frauen
        dieses alten Mannes | dieser alten Frau | dieses alten Autos | dieser alten Frauen""",
}


@pytest.mark.parametrize("determiner", SCHOOL_BOOK)
def test_adjectives_and_articles_agree_in_gender_case_and_number(determiner):
    table = [line.split("|") for line in SCHOOL_BOOK[determiner].strip().splitlines()]
    for case, row in zip(("nom", "acc", "dat", "gen"), table, strict=True):
        for column, (head, expected) in enumerate(
            zip(("man", "woman", "car", "woman"), row, strict=True)
        ):
            word = "-" if determiner == "a" and column == 3 else determiner
            built = phrase(f"{word} old {head}", plural=column == 3)
            assert " ".join(german_nominal(built, case)) == expected.strip()


@pytest.mark.parametrize(
    ("english", "plural", "case", "german"),
    [
        ("the boy", False, "acc", "den Jungen"),
        ("the bear", False, "dat", "dem Bären"),
        ("the student", False, "nom", "der Student"),
        ("the child", True, "dat", "den Kindern"),
        ("the car", True, "dat", "den Autos"),
        ("the garden", True, "dat", "den Gärten"),
        ("many child", True, "dat", "vielen Kindern"),
        ("two small child", True, "dat", "zwei kleinen Kindern"),
        ("- cold milk", False, "nom", "kalte Milch"),
        ("- hot tea", False, "acc", "heißen Tee"),
        ("the expensive dress", False, "nom", "das teure Kleid"),
        ("a high wall", False, "dat", "einer hohen Mauer"),
        ("a dark room", False, "nom", "ein dunkles Zimmer"),
        ("the tired dog", False, "nom", "der müde Hund"),
    ],
)
def test_nouns_and_adjectives_decline(english, plural, case, german):
    assert " ".join(german_nominal(phrase(english, plural), case)) == german


@pytest.mark.parametrize(
    ("infinitive", "forms"),
    [
        ("sehen", "sehe siehst sieht sehen"),
        ("lesen", "lese liest liest lesen"),
        ("essen", "esse isst isst essen"),
        ("arbeiten", "arbeite arbeitest arbeitet arbeiten"),
        ("lächeln", "lächle lächelst lächelt lächeln"),
        ("wandern", "wandere wanderst wandert wandern"),
        ("halten", "halte hältst hält halten"),
        ("einladen", "lade lädst lädt laden"),
        ("waschen", "wasche wäschst wäscht waschen"),
        ("öffnen", "öffne öffnest öffnet öffnen"),
        ("mögen", "mag magst mag mögen"),
        ("finden", "finde findest findet finden"),
        ("tanzen", "tanze tanzt tanzt tanzen"),
    ],
)
def test_verbs_conjugate(infinitive, forms):
    german = verb(infinitive).german
    persons = [(1, False), (2, False), (3, False), (3, True)]
    made = [german_present(german.infinitive, german.third, *one) for one in persons]
    assert made == forms.split()


MAN, WOMAN, DOG = phrase("the man"), phrase("the woman"), phrase("the small dog")
ME, YOU, HE, SHE, WE, THEY = (PRONOUNS[word] for word in ("I", "you", "he", "she", "we", "they"))
RISE = Clause(SHE, verb("aufstehen"))
SLEEPS = Clause(Relative(MAN), verb("schlafen"), progressive=True)
READS = Clause(phrase("the boy"), verb("lesen"), progressive=True)
THE_BOOK = phrase(
    "the book",
    relative=READS._replace(complements=(Complement("", "", "acc", Relative(phrase("the book"))),)),
)

SENTENCES = [
    (
        Clause(DOG, verb("finden"), (with_("acc", "the ball"),), tense="past", negated=True),
        "The small dog did not find the ball.",
        "Der kleine Hund hat den Ball nicht gefunden.",
    ),
    (  # verb second
        Clause(MAN, verb("kaufen"), (with_("acc", "a new car"),), time=time("yesterday"),
               tense="past", front="time"),
        "Yesterday the man bought a new car.",
        "Gestern hat der Mann ein neues Auto gekauft.",
    ),
    (  # a separable verb: split, joined at the end, in the participle, with a modal
        RISE._replace(time=time("every morning")),
        "She gets up every morning.",
        "Sie steht jeden Morgen auf.",
    ),
    (
        Clause(ME, BE, predicate=Predicate(ADJECTIVES["happy"]),
               subordinate=Subordinate("because", "weil", RISE._replace(progressive=True))),
        "I am happy because she is getting up.",
        "Ich bin glücklich, weil sie aufsteht.",
    ),
    (RISE._replace(tense="past"), "She got up.", "Sie ist aufgestanden."),
    (RISE._replace(modal=MODALS["have to"]), "She has to get up.", "Sie muss aufstehen."),
    (
        RISE._replace(modal=MODALS["have to"], negated=True),
        "She does not have to get up.",
        "Sie muss nicht aufstehen.",
    ),
    (RISE._replace(tense="future"), "She will get up.", "Sie wird aufstehen."),
    (
        Clause(HE, verb("anrufen"), (with_("acc", SHE),), tense="past"),
        "He called her up.",
        "Er hat sie angerufen.",
    ),
    (  # infinitive clauses
        Clause(WE, CONTROLS[0], tense="past",
               subordinate=Subordinate("", "", Clause(WE, verb("anrufen"),
                                       (with_("acc", MAN),)), "infinitive")),
        "We tried to call up the man.",
        "Wir haben versucht, den Mann anzurufen.",
    ),
    (  # kein and nicht
        Clause(WOMAN, verb("trinken"), (with_("acc", "- milk"),), negated=True, progressive=True),
        "The woman is not drinking milk.",
        "Die Frau trinkt keine Milch.",
    ),
    (
        Clause(WE, verb("warten"), (with_("acc", "the bus", "for", "auf"),), negated=True,
               modal=MODALS["can"]),
        "We cannot wait for the bus.",
        "Wir können nicht auf den Bus warten.",
    ),
    (  # dative before accusative, unless the pronoun is first anyhow
        Clause(MAN, verb("geben"), (with_("dat", "the child", plural=True),
                                    with_("acc", "a apple")),
               tense="past"),
        "The man gave the children an apple.",
        "Der Mann hat den Kindern einen Apfel gegeben.",
    ),
    (
        Clause(SHE, verb("helfen"), (with_("dat", HE),), time=time("often")),
        "She often helps him.",
        "Sie hilft ihm oft.",
    ),
    (  # place, direction
        Clause(ME, verb("legen"), (with_("acc", "the book"),
                                  with_("acc", "the table", "on", "auf")), tense="past"),
        "I laid the book on the table.",
        "Ich habe das Buch auf den Tisch gelegt.",
    ),
    (
        Clause(phrase("the book"), verb("liegen"), (with_("dat", "the table", "on", "auf"),)),
        "The book lies on the table.",
        "Das Buch liegt auf dem Tisch.",
    ),
    (
        Clause(THEY, verb("gehen"), (with_("dat", "the school", "to", "zu"),), tense="past"),
        "They went to the school.",
        "Sie sind zur Schule gegangen.",
    ),
    (  # reflexive verbs
        Clause(ME, verb("freuen"), (with_("acc", "the party", "to", "auf"),), progressive=True),
        "I am looking forward to the party.",
        "Ich freue mich auf die Party.",
    ),
    (
        Clause(MAN, verb("ausruhen"), time=time("now"), front="time", progressive=True),
        "Now the man is resting.",
        "Jetzt ruht sich der Mann aus.",
    ),
    (  # subordinate clauses in front, and what "when" means
        Clause(HE, verb("singen"),
               subordinate=Subordinate("when", "wenn", Clause(IT, WEATHER[0])),
               front="subordinate"),
        "When it rains, he sings.",
        "Wenn es regnet, singt er.",
    ),
    (  # relative clauses
        Clause(MAN._replace(relative=SLEEPS), BE, predicate=Predicate(ADJECTIVES["old"])),
        "The man who is sleeping is old.",
        "Der Mann, der schläft, ist alt.",
    ),
    (
        Clause(SHE, verb("suchen"), (with_("acc", THE_BOOK, "for"),), tense="past"),
        "She looked for the book that the boy is reading.",
        "Sie hat das Buch gesucht, das der Junge liest.",
    ),
    (  # comparison
        Clause(DOG, BE, predicate=Predicate(ADJECTIVES["big"], comparison="than",
                                            compared=phrase("a cat"))),
        "The small dog is bigger than a cat.",
        "Der kleine Hund ist größer als eine Katze.",
    ),
    (
        Clause(MAN._replace(possessor=None), verb("öffnen"),
               (with_("acc", phrase("the door", possessor=phrase("the old doctor"))),),
               tense="past"),
        "The man opened the door of the old doctor.",
        "Der Mann hat die Tür des alten Arztes geöffnet.",
    ),
    (  # fressen is for animals
        Clause(DOG, verb("fressen"), (with_("acc", "the carrot"),), progressive=True),
        "The small dog is eating the carrot.",
        "Der kleine Hund frisst die Karotte.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "english", "german"), SENTENCES)
def test_a_structure_is_realized_in_both_languages(clause, english, german):
    assert realize(Sentence(clause)) == (english, german)


QUESTIONS = [
    (
        Sentence(Clause(MAN, verb("sehen"), (with_("acc", DOG),)), question=True),
        "Does the man see the small dog?",
        "Sieht der Mann den kleinen Hund?",
    ),
    (
        Sentence(Clause(YOU, verb("helfen"), (with_("dat", WHO),), front="object"), question=True),
        "Whom do you help?",
        "Wem hilfst du?",
    ),
    (
        Sentence(Clause(WHO, verb("anrufen"), (with_("acc", WE),), tense="past"), question=True),
        "Who called us up?",
        "Wer hat uns angerufen?",
    ),
    (
        Sentence(RISE._replace(tense="past"), question=True, adverb=("why", "warum")),
        "Why did she get up?",
        "Warum ist sie aufgestanden?",
    ),
    (
        Sentence(
            Clause(YOU, verb("lesen"), (with_("acc", "which book"),), front="object", tense="past"),
            question=True,
        ),
        "Which book did you read?",
        "Welches Buch hast du gelesen?",
    ),
]


@pytest.mark.parametrize(("sentence", "english", "german"), QUESTIONS)
def test_a_question_puts_the_verb_first_or_after_its_question_word(sentence, english, german):
    assert realize(sentence) == (english, german)


def test_the_tree_has_penn_labels_and_the_sentence_as_its_leaves(derivations):
    clause = Clause(DOG, verb("finden"), (with_("acc", "the ball"),), tense="past", negated=True)
    assert english_tree(Sentence(clause)) == (
        "S",
        ("NP", ("DT", "the"), ("JJ", "small"), ("NN", "dog")),
        (
            "VP",
            ("VBD", "did"),
            ("RB", "not"),
            ("VP", ("VB", "find"), ("NP", ("DT", "the"), ("NN", "ball"))),
        ),
        (".", "."),
    )
    for sentence, pair in derivations:
        assert text(leaves(english_tree(sentence))) == pair.english


def clauses(sentence):
    """The main clauses."""
    return [clause for clause in (sentence.clause, sentence.second) if clause is not None]


def test_the_finite_verb_stands_second_in_main_clauses_and_last_in_subordinate_ones(derivations):
    subordinates = 0
    for sentence, _ in derivations:
        for clause in clauses(sentence):
            if not sentence.question:
                fields = german_fields(clause, "second")
                assert fields.prefield
                assert len(fields.left) == 1
                assert fields.left[0] not in fields.right
            inner = clause.subordinate
            if inner and inner.order == "final":
                subordinates += 1
                main = german_fields(inner.clause, "second")
                final = german_fields(inner.clause, "final", [inner.german])
                assert final.left == [inner.german]
                prefix = inner.clause.verb.german.prefix
                split = main.right == [prefix] and prefix
                expected = [prefix + main.left[0]] if split else [*main.right, *main.left]
                assert final.right == expected
    assert subordinates > 200


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others():
    assert generate(5, 50) == generate(5, 80)[:50]
    assert not set(generate(5, 50)) & set(generate(6, 50))
    assert generate(0, 0) == []


def test_another_process_makes_the_same_corpus(corpus):
    assert generate(0, 500) == corpus["dev"]


def test_dev_and_test_sentences_are_not_in_training(corpus):
    assert {name: len(pairs) for name, pairs in corpus.items()} == {
        "train": 20_000, "dev": 500, "test": 500,
    }  # fmt: skip
    for side in ("english", "german"):
        sides = [getattr(pair, side) for pairs in corpus.values() for pair in pairs]
        assert len(set(sides)) == len(sides)


def test_english_determines_german():
    """Before the corpus drops repeated sentences; without type checks, for speed."""
    code = (
        "from transformer_jax.data.synthetic import realize;"
        "from transformer_jax.data.synthetic.derivation import Grammar; grammar = Grammar(11);"
        "pairs = {realize(grammar.sentence()) for _ in range(50_000)};"
        "print(len(pairs), len({pair.english for pair in pairs}))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    pairs, english = map(int, made.stdout.split())
    assert pairs == english > 40_000


def test_sentences_have_normal_length_and_orthography(corpus):
    lengths = sorted(len(pair.english.split()) for pair in corpus["train"])
    assert 3 <= lengths[0] <= lengths[-1] <= 16
    assert 6 <= lengths[len(lengths) // 2] <= 9
    for pair in corpus["train"]:
        for side in pair:
            assert side[0].isupper()
            assert side[-1] in ".?"
            assert side[-2].isalpha()
            assert "  " not in side
            assert " ," not in side
            assert ",," not in side


def test_every_lexeme_is_frequent_in_training(corpus):
    english = Counter(
        word for pair in corpus["train"]
        for word in set(pair.english.lower().replace(",", "")[:-1].split())
    )  # fmt: skip
    frequency = {
        noun.english: english[noun.english] + english[(noun.english_plural or "").lower()]
        for noun in NOUNS
        if noun.english != noun.english_plural
    }
    frequency |= {word: english[word] for word in ADJECTIVES}
    for one in VERBS:
        base = one.english.base
        forms = {base, one.english.past, one.english.participle}
        forms |= {third_person(base), present_participle(base)}
        frequency[base] = sum(english[form] for form in forms)
    frequency |= {
        word: english[word] for adverb in TIMES for word in adverb.english.lower().split()
    }
    assert len(frequency) >= 300
    assert min(frequency.values()) >= 20, sorted(frequency, key=frequency.get)[:10]


def test_word_for_word_translation_scores_low(corpus):
    assert word_for_word("The small dogs did not find the ball.") == (
        "Der klein Hund tun nicht finden der Ball."
    )
    candidates = [word_for_word(pair.english) for pair in corpus["test"]]
    references = [pair.german for pair in corpus["test"]]
    assert sacrebleu.corpus_bleu(candidates, [references]).score < 30
