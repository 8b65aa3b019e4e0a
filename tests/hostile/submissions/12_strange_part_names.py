"""tries: parts with names that are markup, control codes, separators, and very long
loses: attention-split_heads
says: one tensor is expected
cell: attention-split_heads
"""


def split_heads(x, heads):
    names = ["[/red]", "\x1b[2J", "a|b|c", "|", "9" * 5000, "<script>", "\ud800", "x" * 100_000, "..", "\0"]
    return {name: x for name in names}
