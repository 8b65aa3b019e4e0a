"""Two small grammars, and all their sentences multiplied out: what the exact distributions are compared with."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np

from coursekit.language import Grammar, Language, RightCue
from coursekit.language.kinds import productions
from coursekit.language.notation import unfold

# Small, and with everything in it: tense, agreement, optional parts, a/an, both directions of cue.
SMALL = Grammar(
    lists={"past": "once earlier", "present": "now"},
    topics={
        "owls": """
            ({t}) a {a old young angry} {n1 bat#animal} {v1 fly} in the {n cave attic}
            the {n1 owl fox} {v1 hunt watch} ({d1 a/some the}) {n1 bat#animal}
        """,
        "games": """
            the {n1 player fan} {v1 swing hit watch} a ({a old heavy}) {n bat#club}
            every {n player fan} {v1 watch play} the {n game match}
        """,
        "weather": "the {n rain storm snow} {v come stop} {p after before} the {n game flood}",
    },
    frames="""
        ({t}) the X DOES
        the {n player fox} {v see fear} the X HAS
    """,
    right_cues={
        "bat#animal": RightCue("owls", does="{v1 sleep eat} in the {n cave attic}", has="that {v sleep fly}"),
        "bat#club": RightCue(
            "games", does="{v1 break hit} the {nx fan ball}", has="of the {n player fan}", person=True
        ),
    },
    shares={"none": 0.2, "left": 0.4, "right": 0.4},
)


# The same with a third sense of the word, and with sentences in which order decides.
SMALL_ORDER = replace(
    SMALL,
    topics=SMALL.topics | {"clubs": "the {n1 member guest} {v1 enter like} a ({a old loud}) {n bat#place}"},
    right_cues={
        sense: replace(SMALL.right_cues[sense], people=people, things=things, looks=looks)
        for sense, people, things, looks in (
            ("bat#animal", "owl", "cave", "furry"),
            ("bat#club", "player", "game", "wooden"),
        )
    }
    | {
        "bat#place": RightCue(
            "clubs", does="{v1 open close}", has="for the {n member guest}",
            people="member", things="door", looks="loud",
        )
    },
    order={
        "order1": """
            the OWN {vd watch like} the X near the OTHER
            the X1 {aux1 was/were} {vd watch like} near the OTHER by the OWN
        """,
        "order2": """
            the OWN that {vd meet} the OTHER {vd watch like} the X
            the OTHER {vd meet} the OWN that {vd watch like} the X
        """,
    },
    shares={"none": 0.1, "left": 0.2, "right": 0.3, "order1": 0.2, "order2": 0.2},
)  # fmt: skip


class Enumeration:
    """Every sentence of a grammar, its senses, topics and probability: all slots multiplied out."""

    def __init__(self, grammar: Grammar, language: Language):
        rule_list = productions(grammar)
        self.joint: Counter = Counter()
        for template in unfold(rule_list, grammar.lists):
            for fillers in itertools.product(*template.slots):
                words = tuple(filler.word for filler in fillers)
                sense = next((filler.sense for filler in fillers if filler.sense), None)
                each = template.probability / np.prod([len(slot) for slot in template.slots])
                self.joint[words, sense, rule_list[template.rule].topic] += each
        self.probability: Counter = Counter()
        for (words, _, _), p in self.joint.items():
            self.probability[words] += p
        self.tokens = {words: ("[BOS]", *words, "[EOS]") for words in self.probability}
        self.language = language

    def distribution(self, fits, word) -> np.ndarray:
        """p(word(sentence) | fits(sentence)) over the vocabulary."""
        result = np.zeros(len(self.language.vocabulary))
        for words, tokens in self.tokens.items():
            if fits(tokens):
                result[self.language.id_of[word(tokens)]] += self.probability[words]
        return result / result.sum()
