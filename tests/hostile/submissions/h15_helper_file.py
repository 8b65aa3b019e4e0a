"""tries: nothing: writes a module beside the notebook and imports it
loses: nothing
cell: attention-split_heads
"""

from pathlib import Path

Path("mine.py").write_text("def cut(x, heads):\n    return x.unflatten(-1, (heads, -1)).transpose(1, 2)\n")
import mine


def split_heads(x, heads):
    return mine.cut(x, heads)
