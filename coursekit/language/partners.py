"""Partners: sentences with the same words and another sense, in which only the word order determines the sense.

A sentence of the kinds "order1" and "order2" contains three nouns: the ambiguous word, and people associated with two of its
senses. If the people are exchanged, the word has the other sense. Both sentences are equally probable.
"""

from dataclasses import replace

import numpy as np

from coursekit.language.model import Language
from coursekit.language.sentences import Sentences


def partners(language: Language, sentences: Sentences) -> Sentences:
    """Each sentence with its people exchanged, in the same row.

    Raises ValueError for a sentence without a partner, that is, one whose cue is not "order1" or "order2".
    """
    if (other := ~np.isin(sentences.cue, ("order1", "order2"))).any():
        row = int(other.argmax())
        raise ValueError(
            f"sentence {row}, {language.decode(sentences.ids[row])!r}, has no partner: its cue is {sentences.cue[row]!r}"
        )
    noun = language.parts_of_speech.index("NOUN")
    people = (sentences.parts_of_speech == noun) & (sentences.senses < 0)
    first, last = people.argmax(axis=1), people.shape[1] - 1 - people[:, ::-1].argmax(axis=1)
    rows, ids = np.arange(len(sentences)), sentences.ids.copy()
    ids[rows, first], ids[rows, last] = sentences.ids[rows, last], sentences.ids[rows, first]
    template = language.best_template(ids)
    rule = language.tables.rule_of[template]
    senses = language.tables.sense_of[language.tables.slot_of[:, template].T[:, : ids.shape[1]]]
    return replace(
        sentences,
        ids=ids,
        senses=senses,
        topic=language.tables.topic_of[rule],
        cue=language.tables.cue_of[rule],
        template=template,
    )
