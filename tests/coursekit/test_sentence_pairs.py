"""The texts of two sentences on which notebook 02 trains."""

from coursekit.language.pairs import sentence_pairs


def test_the_first_sentence_of_a_pair_has_the_ambiguous_word_and_not_the_word_left_out(language):
    ids, position, sense, cue = sentence_pairs(language, 400, seed=1, split="train", without="will")
    first, second = ids.chunk(2, dim=1)
    words = [language.vocabulary[word] for word in first.gather(1, position[:, None]).flatten()]
    assert 100 < len(ids) == len(cue) < 400
    senses = [language.senses[one] for one in sense]  # "mouse#animal" of "mice"
    assert all(word[0] == one[0] for word, one in zip(words, senses, strict=True))
    assert not (first == language.id_of["will"]).any()
    assert sorted(map(tuple, first.tolist())) == sorted(map(tuple, second.tolist())) and not first.equal(
        second
    )
