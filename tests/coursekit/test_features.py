"""The slots of the generated language as true features (notebook 15)."""

import numpy as np
import pytest

from coursekit import features
from coursekit.language import load_language

pytestmark = pytest.mark.slow


def test_a_slot_is_one_list_of_words_in_every_number_and_tense():
    language, (of_row, named) = load_language(), features.slots()
    number = next(number for number, name in named.items() if name == "gardener/farmer/neighbor/florist")
    rows = np.flatnonzero(of_row == number)
    words = {language.vocabulary[word] for row in rows for word in language.tables.fillers[row] if word >= 0}
    assert words == {
        form for name in ("gardener", "farmer", "neighbor", "florist") for form in (name, f"{name}s")
    }
    assert len(named) == 38 and len(set(named.values())) == 38
    assert not {name for name in named.values() if set(name.split("/")) & set(language.ambiguous)}


def test_a_token_has_the_slot_that_its_template_has_at_its_position():
    language = load_language()
    drawn = language.sample(2_000, np.random.default_rng(3))
    present, asked = features.true_features(drawn)["slot gardener/farmer/neighbor/florist"]
    assert present.any() and asked.all()
    words = {language.vocabulary[word] for word in drawn.ids[present]}
    assert {"farmer", "farmers"} & words and words <= {
        f"{name}{end}" for name in ("gardener", "farmer", "neighbor", "florist") for end in ("", "s")
    }
    elsewhere = np.isin(drawn.ids, [language.id_of["farmer"], language.id_of["farmers"]]) & ~present
    assert elsewhere.any()  # the miller, baker, housekeeper or farmer
