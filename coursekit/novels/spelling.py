"""How the novels' ELMo reads words: as characters, so that any word can be read; which words it can predict is another matter."""

from collections.abc import Sequence

from coursekit.novels.corpus import new_tokenizer, words_of
from coursekit.small.elmo import Spelling


class LiterarySpelling(Spelling):
    """Words of real text have digits, and punctuation marks are words, too.

    words   the words that ids stand for, special ones such as [UNK] first
    """

    LETTERS = Spelling.LETTERS + '0123456789.,;:!"()[]/&$%'

    def __init__(self, words: Sequence[str]):
        super().__init__(tuple(words))
        self.words = list(words)

    @staticmethod
    def split(sentence: str) -> list[str]:
        """Words and punctuation marks of a sentence, in lower case, as the model has read them: "It's" is it ' s."""
        return words_of(new_tokenizer(), sentence)
