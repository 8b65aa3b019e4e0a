"""A word's vector between its senses, layer by layer, in four models: `explore("bank")` in a notebook.

    explore("bank")                         # type sentences and see where the word's vector goes
    compare("bank", sentence, another)      # the same picture of given sentences, without controls
    pooled(files)                           # the sentences that fool a model, which the students of a class have kept

`readers` read a sentence with GloVe, ELMo, MiniLM and SmolLM2; `plane` places vectors between the means of a word's senses; `drawing`
makes the picture, `explorer` the controls, and `fooling` the files with sentences that fool a model.
"""

from coursekit.word_explorer.explorer import compare, explore
from coursekit.word_explorer.fooling import pooled

__all__ = ["compare", "explore", "pooled"]
