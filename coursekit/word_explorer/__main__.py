"""python -m coursekit.word_explorer docs/book/senses.md: the prepared sentences as a page of the website, which has no kernel."""

import sys
from pathlib import Path

from coursekit.word_explorer.explorer import PREPARED, picture

PAGE = """# A word's vector between its senses

Four models read the same sentences. For each model, the picture shows where the vector of one word is after each layer. Layer 0 is
at the bottom, the last layer at the top. The horizontal position compares the vector with the mean vectors of 14 example sentences of each sense: where
the path meets the vertical line of a sense, the vector equals the mean of that sense in this direction. The shaded bands show the mean plus or minus one standard deviation of 11 other
sentences of each sense; where the bands overlap, the vector does not determine the sense. For a word with three senses, the means are the
corners of a triangle, the path begins in the middle, and faint dots are other sentences in the last layer.

Below the pictures, the colour of each word shows towards which sense it moves the vector: attention × value, summed over
heads and layers, compared with the average example sentence. Feed-forward layers also move the vector, but are not shown.

On the start page of the notebooks, `explore("bank")` draws these pictures for sentences that you type. Notebook 08 begins with
such a picture, drawn for MiniLM.
"""

if __name__ == "__main__":
    parts = [PAGE]
    for title, (word, *sentences) in PREPARED.items():
        drawn = picture(word, sentences)._repr_mimebundle_()["text/html"]
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{drawn}\n")
    Path(sys.argv[1]).write_text("\n".join(parts), encoding="utf-8")
