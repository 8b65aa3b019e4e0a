"""A word's vector between its senses, layer by layer, in four models: `explore("bank")` in a notebook.

    explore("bank")                         # type sentences and see where the word's vector goes
    compare("bank", sentence, another)      # the same picture of given sentences, without controls

`readers` read a sentence with GloVe, ELMo, MiniLM and SmolLM2; `plane` places vectors between the means of a word's senses; `drawing`
makes the picture, and `explorer` the controls.
"""

from coursekit.word_explorer.explorer import compare, explore

__all__ = ["compare", "explore"]
