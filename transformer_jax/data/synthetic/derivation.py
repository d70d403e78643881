"""The derivation: a grammar that draws sentences at random."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from transformer_jax.data.synthetic import usage
from transformer_jax.data.synthetic.structure import (
    Clause,
    Complement,
    Coordination,
    Nominal,
    NounPhrase,
    Predicate,
    Relative,
    Sentence,
    Subordinate,
    has_determiner,
    has_relative,
)
from transformer_jax.data.synthetic.words import (
    BE,
    BENEFICIARY,
    COMPANIONS,
    CONJUNCTIONS,
    CONTROLS,
    DEGREES,
    DETERMINERS,
    FITTING,
    IT,
    LOCATIONS,
    MANNERS,
    MODALS,
    NOUNS,
    OCCASIONS,
    PLACES,
    PRONOUNS,
    REPORTS,
    VERBS,
    WEATHER,
    WHAT,
    WHO,
    Adjective,
    Adverb,
    Determiner,
    Noun,
    Pronoun,
    Slot,
    Verb,
)

Option = TypeVar("Option")


class Grammar:
    """Draws sentences; every decision comes from one stream of random numbers."""

    def __init__(self, seed: int):
        # random() alone is the same on every Python version; choice() is not promised to be.
        self.random: Callable[[], float] = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def choose(self, options: Sequence[Option]) -> Option:
        return options[int(self.random() * len(options))]

    # Phrases

    def noun_phrase(
        self,
        nouns: Sequence[Noun],
        definite: bool = False,
        relative: float = 0.0,
        plural: bool = False,
    ) -> NounPhrase:
        """A phrase with one of `nouns`, and with the given chance of a relative clause."""
        noun = self.choose(nouns)
        mass = noun.english_plural is None
        plural = (
            not mass
            and noun.kind != "cause"
            and (plural or self.chance(0.08 if noun.kind in usage.SETTINGS else 0.3))
        )
        determiner = self.determiner(noun, plural, definite)
        plural = plural and not (noun in usage.PARENTS and determiner in usage.POSSESSIVES)
        adjectives = self.attributes(noun)
        phrase = NounPhrase(determiner, adjectives, noun, plural)
        if self.chance(0.04) and noun.kind in usage.OWNED and determiner is DETERMINERS["the"]:
            owner = self.noun_phrase(usage.HUMANS, definite=True)
            phrase = phrase._replace(possessor=owner._replace(adjectives=owner.adjectives[:1]))
        elif self.chance(relative) and not mass:
            phrase = phrase._replace(relative=self.relative_clause(phrase))
        return phrase

    def determiner(self, noun: Noun, plural: bool, definite: bool) -> Determiner | None:
        draw = self.random()
        if noun.kind == "relative" and draw < 0.75:
            return self.choose(usage.POSSESSIVES)
        stranger = noun.kind == "person" and noun not in usage.OWN_PEOPLE
        possessive, this = (0, 0.12) if stranger or noun.kind in usage.UNOWNED else (0.14, 0.08)
        draw = self.random()
        if noun.english_plural is None:
            if noun.kind == "cause" or definite or draw < 0.4:
                return DETERMINERS["the"]
            return None if draw < 0.85 else self.choose(usage.POSSESSIVES)
        if draw < possessive:
            return self.choose(usage.POSSESSIVES)
        draw = self.random()
        if draw < this:
            return DETERMINERS["this"]
        if definite or draw < 0.55 or noun.kind == "relative":
            return DETERMINERS["the"]
        if not plural:
            return DETERMINERS["every" if draw > 0.96 else "a"]
        names = ("two", "three", "four", "many", "some", "all")
        return None if draw < 0.75 else DETERMINERS[self.choose(names)]

    def attributes(self, noun: Noun) -> tuple[Adjective, ...]:
        fitting = FITTING[noun]
        if not fitting or not self.chance(0.36):
            return ()
        first = self.choose(fitting)
        if first not in usage.COLORS and self.chance(0.12):
            colors = [adjective for adjective in fitting if adjective in usage.COLORS]
            if colors:
                return first, self.choose(colors)
        return (first,)

    def subject(self, nouns: Sequence[Noun], relative: float = 0.06) -> Nominal:
        human = nouns[0].kind in usage.HUMAN
        if human and self.chance(0.36):
            return self.pronoun()
        if human and self.chance(0.06):
            left = self.noun_phrase(usage.HUMANS, definite=True)
            right = self.noun_phrase(usage.HUMANS, definite=True)
            if left.noun is not right.noun:
                return Coordination(left, right)
        definite = self.chance(0.6)
        phrase = self.noun_phrase(nouns, definite, relative)
        if has_determiner(phrase, "the") and self.chance(0.03) and not phrase.possessor:
            return phrase._replace(determiner=DETERMINERS["no"])
        return phrase

    def human(self) -> Nominal:
        return self.subject(usage.HUMANS, relative=0.0)

    def pronoun(self) -> Pronoun:
        return self.choose(tuple(PRONOUNS.values()))

    def complement(
        self,
        slot: Slot,
        subject: Nominal,
        definite: bool,
        relative: float = 0.0,
        plural: bool = False,
    ) -> Complement:
        if slot.nouns[0].kind == "person" and self.chance(0.25):
            options = [name for name in PRONOUNS if usage.differs(name, subject)]
            return Complement.of(slot, PRONOUNS[self.choose(options)])
        taken = subject.noun if isinstance(subject, NounPhrase) else None
        nouns = [noun for noun in slot.nouns if noun is not taken]
        if slot.german:
            relative = 0.0
        return Complement.of(slot, self.noun_phrase(nouns, definite, relative, plural))

    # Clauses

    def clause(
        self, subject: Nominal | None = None, tense: str | None = None, plain: bool = False
    ) -> Clause:
        """A declarative clause; one that is `plain` leaves room for another.

        `subject`, if given, is human; so are the subjects of verbs for "habit".
        """
        if self.chance(0.16):
            return self.copula(subject, tense, passing=tense is not None)
        if subject is None:
            verb = self.choose(usage.VERBS_IN.get(tense, VERBS))
            subject = self.subject(verb.subjects, 0.0 if plain else 0.09)
        else:
            verb = self.choose(usage.HUMAN_VERBS_IN.get(tense, usage.HUMAN_VERBS))
        return self.predication(subject, verb, tense, plain)

    def predication(
        self, subject: Nominal, verb: Verb, tense: str | None = None, plain: bool = False
    ) -> Clause:
        """Fills a verb's slots and the clause's adverbials."""
        negated = self.chance(0.15) and usage.is_definite(subject)
        relative = 0.0 if plain or has_relative(subject) else 0.12
        complements: list[Complement] = []
        for slot in verb.slots:
            last = len(complements) == len(verb.slots) - 1
            recipient = slot.case == "dat" and len(verb.slots) > 1
            definite = "state" in verb.flags or recipient or not last
            chance = relative if last else 0.0
            plural = "many" in verb.flags
            complements.append(self.complement(slot, subject, definite, chance, plural))
        negated = negated and all(usage.is_negatable(one.phrase) for one in complements)
        if len(complements) == 2:
            first, second = complements
            if isinstance(first.phrase, Pronoun) and first.phrase == second.phrase:
                return self.predication(subject, verb, tense, plain)  # "gives him him"
        plain = plain or any(has_relative(complement.phrase) for complement in complements)
        clause = Clause(subject, verb, tuple(complements), negated=negated)
        return self.adverbials(self.tensed(clause, tense), plain)

    def tensed(self, clause: Clause, tense: str | None) -> Clause:
        """Chooses tense, modal verb and aspect."""
        flags = clause.verb.flags
        if "state" in flags:
            return clause
        willing = usage.is_a(clause.subject, *usage.HUMAN, "animal")
        able = willing and not has_determiner(clause.subject, "no") and "mishap" not in flags
        if tense is None:
            draw = self.random()
            if draw < 0.22 and able:
                modal = self.choose(tuple(MODALS.values()))
                if clause.negated and modal.english == "would like to":
                    modal = MODALS["want to"]
                past = modal.past is not None and self.chance(0.35)
                return clause._replace(modal=modal, tense="past" if past else "present")
            limits = (("past", 0.5), ("future", 0.62), ("habit", 0.8), ("present", 1.0))
            tense = next(name for name, limit in limits if draw < limit)
        if tense == "habit":
            return clause
        if tense == "present":
            if usage.is_momentary(clause.verb):
                return clause._replace(tense="past")
            return clause._replace(progressive=True)
        return clause._replace(tense=tense)

    def adverbials(self, clause: Clause, plain: bool) -> Clause:
        """Adds time, manner and place, and may front one of them."""
        flags, base = clause.verb.flags, clause.verb.english.base
        if clause.tense != "present":
            tense = clause.tense
        elif clause.modal:
            tense = "future"
        else:
            tense = "present" if clause.progressive else "habit"
        if "state" not in flags:
            suited = [adverb for adverb, verbs in MANNERS if base in verbs]
            free = not clause.negated and not clause.verb.english.particle
            if suited and free and self.chance(0.3):
                clause = clause._replace(manner=self.choose(suited))
        if (plain and self.chance(0.6)) or "state" in flags:
            return clause
        if clause.verb.slots and "for" in flags and self.chance(0.2):
            beneficiary = self.complement(BENEFICIARY, clause.subject, definite=True)
            clause = clause._replace(complements=(*clause.complements, beneficiary))
        elif "with" in flags and self.chance(0.2):
            company = self.complement(self.choose(COMPANIONS), clause.subject, definite=True)
            clause = clause._replace(place=company)
        elif "in" in flags and self.chance(0.5):
            clause = clause._replace(place=self.place(clause.subject))
        if self.chance(0.8 if tense == "habit" else 0.5):
            clause = clause._replace(time=self.time(clause, tense))
        draw = self.random()
        if clause.time and draw < 0.4:
            if not isinstance(clause.time, Adverb) or clause.time.frontable:
                clause = clause._replace(front="time")
        elif clause.place and draw < 0.25 and not clause.negated:
            clause = clause._replace(front="place")
        return clause

    def place(self, subject: Nominal) -> Adverb | Complement:
        if self.chance(0.3):
            return self.choose(PLACES if usage.is_a(subject, *usage.HUMAN) else PLACES[:3])
        return self.complement(self.choose(LOCATIONS), subject, definite=self.chance(0.7))

    def time(self, clause: Clause, tense: str) -> Adverb | Complement:
        eventful = clause.verb.subjects[0].kind == "event" or any(
            isinstance(complement.phrase, NounPhrase) and complement.phrase.noun.kind == "event"
            for complement in clause.complements
        )
        if tense in ("past", "future") and not eventful and self.chance(0.3):
            return self.complement(self.choose(OCCASIONS), clause.subject, definite=True)
        options = usage.TIMES_OF[tense]
        if clause.negated:
            options = [adverb for adverb in options if not adverb.before_verb]
        return self.choose(options)

    def copula(self, subject: Nominal | None, tense: str | None, passing: bool = False) -> Clause:
        """A clause with "be": "The dog is tired"; "passing" ones are about someone's state."""
        if subject is None:
            subject = self.human() if passing else self.subject(usage.DESCRIBED, 0.09)
            if isinstance(subject, NounPhrase):
                subject = subject._replace(adjectives=())
        noun = subject.noun if isinstance(subject, NounPhrase) else usage.MAN
        fitting = [a for a in usage.PASSING if a in FITTING[noun]] if passing else FITTING[noun]
        adjective = self.choose(fitting)
        gradable = adjective not in usage.ABSOLUTE
        predicate = Predicate(adjective)
        draw = self.random()
        if draw < 0.25 and gradable:
            predicate = predicate._replace(degree=self.choose(DEGREES))
        elif draw < 0.4 and gradable and not passing and not has_relative(subject):
            alike = [other for other in NOUNS if other.kind == noun.kind and other is not noun]
            alike = [other for other in alike if adjective in FITTING[other]]
            if alike:
                compared = self.noun_phrase(alike, definite=True)
                compared = compared._replace(adjectives=(), possessor=None)
                comparison = "than" if self.chance(0.7) else "as"
                predicate = Predicate(adjective, comparison=comparison, compared=compared)
        elif draw < 0.5:
            other = self.choose(fitting)
            if other is not adjective and usage.are_compatible(adjective, other):
                predicate = predicate._replace(conjoined=other)
        if tense is None:
            tense = "past" if self.chance(0.35) else "present"
        elif tense == "habit":
            tense = "present"
        negated = usage.is_definite(subject) and not predicate.conjoined and self.chance(0.15)
        return Clause(subject, BE, predicate=predicate, tense=tense, negated=negated)

    def relative_clause(self, head: NounPhrase) -> Clause:
        """A short clause about `head`, as its subject or as an object."""
        gap = Relative(head)
        draw = self.random()
        tense = "past" if self.chance(0.5) else "present"
        objects = usage.VERBS_WITH[head.noun]
        if draw < 0.55 and objects:
            verb = self.choose(objects)
            subject = self.subject(verb.subjects, relative=0.0)
            if isinstance(subject, NounPhrase):
                subject = subject._replace(adjectives=(), possessor=None)
            clause = Clause(subject, verb, (Complement.of(verb.slots[0], gap),))
            return self.tensed(clause, tense)
        verbs = usage.VERBS_OF[head.noun]
        fitting = [a for a in FITTING[head.noun] if a not in head.adjectives]
        if fitting and (draw < 0.75 or not verbs):
            return Clause(gap, BE, predicate=Predicate(self.choose(fitting)), tense=tense)
        verb = self.choose(verbs)
        complements = []
        for slot in verb.slots:
            phrase = self.noun_phrase([n for n in slot.nouns if n is not head.noun], definite=True)
            phrase = phrase._replace(adjectives=phrase.adjectives[:1], possessor=None)
            complements.append(Complement.of(slot, phrase))
        return self.tensed(Clause(gap, verb, tuple(complements)), tense)

    # Sentences

    def follow_up(self, clause: Clause, tense: str | None) -> Clause:
        """A clause that goes with `clause`: mostly about the same person, sometimes the weather."""
        if self.chance(0.12):
            weather = self.choose(WEATHER)
            progressive = tense == "present"
            tense = "past" if tense == "past" else "present"
            return Clause(IT, weather, tense=tense, progressive=progressive)
        pronoun = usage.echo(clause.subject) if self.chance(0.85) else None
        subject = pronoun or self.human()
        if self.chance(0.25):
            return self.copula(subject, tense, passing=True)
        return self.clause(subject, tense, plain=True)._replace(front="subject")

    def sentence(self) -> Sentence:
        draw = self.random()
        if draw < 0.5:
            return Sentence(self.clause())
        if draw < 0.66:
            return Sentence(self.subordination())
        if draw < 0.75:
            return Sentence(self.report())
        if draw < 0.81:
            return Sentence(self.control())
        if draw < 0.87:
            tense = self.choose(("past", "present"))
            main = self.clause(self.human(), tense, plain=True)._replace(front="subject")
            conjunction = self.choose((("and", "und"), ("but", "aber")))
            return Sentence(main, conjunction, self.follow_up(main, tense))
        return self.question()

    def subordination(self) -> Clause:
        english, german, when = self.choose(CONJUNCTIONS)
        tense = when
        if when == "any":
            tense = "past" if self.chance(0.5) else "present"
        main = self.clause(tense=tense, plain=True)
        main = main._replace(front="subject", negated=False)
        if english == "when" and main.verb.english.base == "ask":
            english, german = "because", "weil"
        inner = self.follow_up(main, tense)._replace(time=None)
        if english in ("when", "before", "while"):
            inner = inner._replace(negated=False)
        if self.chance(0.35):
            main = main._replace(front="subordinate")
        return main._replace(subordinate=Subordinate(english, german, inner))

    def report(self) -> Clause:
        verb, openings = self.choose(REPORTS)
        negated = openings[0] == "not"
        english, german = self.choose(openings[1:] if negated else openings).split("/")
        subject = self.human()
        if negated and not usage.is_definite(subject):
            subject = PRONOUNS["I"]
        tense = self.choose(("present", "future")) if verb.english.base == "hope" else None
        inner = self.clause(tense=tense, plain=True)._replace(front="subject")
        if english in ("why", "where", "when"):
            inner = self.asked_about(english)
        subordinate = Subordinate(english, german, inner)
        return Clause(subject, verb, negated=negated, subordinate=subordinate)

    def asked_about(self, adverb: str) -> Clause:
        """A clause without what a question adverb asks for."""
        verb = self.choose({"why": VERBS, "where": usage.PLACED, "when": usage.EVENTS}[adverb])
        subject = self.subject(verb.subjects, 0.0)
        clause = self.predication(subject, verb, plain=True)
        clause = clause._replace(front="subject", negated=clause.negated and adverb == "why")
        if adverb == "when":
            return clause._replace(time=None)
        return clause._replace(place=None) if adverb == "where" else clause

    def control(self) -> Clause:
        """A clause like "He tries to find the key"."""
        subject = self.human()
        if not usage.is_definite(subject):
            subject = self.pronoun()
        verb = self.choose(CONTROLS)
        inner = self.predication(subject, self.choose(usage.ACTIONS), "habit", plain=True)
        inner = inner._replace(front="subject", time=None, negated=False)
        tense = self.choose(("present", "past"))
        progressive = tense == "present" and verb.english.base in ("try", "plan")
        subordinate = Subordinate("", "", inner, "infinitive")
        return Clause(subject, verb, tense=tense, progressive=progressive, subordinate=subordinate)

    def question(self) -> Sentence:
        draw = self.random()
        clause = self.clause(plain=True)._replace(front="subject", negated=False)
        if draw < 0.4:
            return Sentence(clause, question=True)
        if draw < 0.6:
            adverb = self.choose((("why", "warum"), ("where", "wo"), ("when", "wann")))
            clause = self.asked_about(adverb[0])._replace(negated=False)
            return Sentence(clause, question=True, adverb=adverb)
        if draw < 0.75:
            verb = self.choose(usage.HUMAN_VERBS)
            clause = self.predication(WHO, verb, plain=True)
            return Sentence(clause._replace(front="subject", negated=False), question=True)
        verb = self.choose(usage.OBJECT_VERBS)
        subject = self.subject(verb.subjects, 0.0)
        slot = verb.slots[0]
        asked: Nominal = WHO if slot.nouns[0].kind in usage.HUMAN else WHAT
        if self.chance(0.5):
            noun = self.choose(slot.nouns)
            plural = noun.english_plural is not None and self.chance(0.3)
            asked = NounPhrase(DETERMINERS["which"], (), noun, plural)
        clause = Clause(subject, verb, (Complement.of(slot, asked),), front="object")
        return Sentence(self.tensed(clause, None), question=True)
