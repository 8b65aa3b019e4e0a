"""How the novels' ELMo reads words: as characters, so that it can read any word, although it predicts only frequent ones."""

from collections.abc import Sequence

from coursekit.novels.corpus import new_tokenizer, words_of
from coursekit.small.elmo import Spelling


class LiterarySpelling(Spelling):
    """The spelling for real text, which contains digits, and in which punctuation marks are words, too.

    words   the word of each id; special tokens such as [UNK] come first
    """

    LETTERS = Spelling.LETTERS + '0123456789.,;:!"()[]/&$%'

    def __init__(self, words: Sequence[str]):
        super().__init__(tuple(words))
        self.words = list(words)

    @staticmethod
    def split(sentence: str) -> list[str]:
        """The words and punctuation marks of a sentence in lower case, as the model reads them: "It's" is it ' s."""
        return words_of(new_tokenizer(), sentence)
