"""For how many words do models of English novels remember whether a subject is feminine?"""

import numpy as np
import torch
from jaxtyping import Float

from coursekit.novels.shipped import load_elmo, load_gpt

SUBJECTS = (
    ("girl", "boy"), ("woman", "man"), ("queen", "king"), ("lady", "gentleman"),
    ("mother", "father"), ("sister", "brother"), ("aunt", "uncle"), ("daughter", "son"),
)  # fmt: skip
ROAD = "who had lost the key to the house at the end of the long road in the village"
BETWEEN = (
    "",
    "with the key",
    "who had lost the key to the house",
    ROAD,
    f"{ROAD} where it had rained for a week without a break",
)


def words_between() -> list[int]:
    """The numbers of words between the subject and the pronoun: those of BETWEEN, and "took off"."""
    return [len(words.split()) + 2 for words in BETWEEN]


@torch.no_grad()
def subjects_remembered() -> dict[str, Float[np.ndarray, "pair length"]]:
    """The factor by which a feminine subject raises the odds of "her" against "his", compared with a masculine one.

    For each pair of subjects and each length, according to two models: the left-to-right half of the novels' ELMo, which is
    recurrent, and their GPT, a transformer.
    """
    lstm, spelling = load_elmo()
    transformer, subwords = load_gpt()

    def her_or_his(prefix: str) -> tuple[float, float]:
        words = spelling.of_words(["[BOS]", *spelling.split(prefix)])
        recurrent = lstm.softmax(lstm.forward_stack(lstm.token(words)[None])[-1, 0, -1])
        ids = [subwords.token_to_id("[BOS]"), *subwords.encode(prefix).ids]
        attentive = transformer(torch.tensor([ids])).logits[0, -1]
        her, his = (spelling.words.index(word) for word in ("her", "his"))
        her_piece, his_piece = (subwords.token_to_id(word) for word in ("her", "his"))
        return (
            (recurrent[her] - recurrent[his]).item(),
            (attentive[her_piece] - attentive[his_piece]).item(),
        )

    def prefix(noun: str, words: str) -> str:
        return " ".join(f"The {noun} {words} took off".split())

    log_odds = np.array(  # pair, which of the two, length, model
        [
            [[her_or_his(prefix(noun, words)) for words in BETWEEN] for noun in subjects]
            for subjects in SUBJECTS
        ]
    )
    factors = np.exp(log_odds[:, 0] - log_odds[:, 1]).transpose(2, 0, 1)
    return dict(zip(("recurrent (LSTM)", "transformer"), factors, strict=True))
