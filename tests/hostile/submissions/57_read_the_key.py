"""tries: read the answer key
loses: everything
cell: first
rest: unanswered
"""

from pathlib import Path

from autograder.checks import answer_key

print(list(Path("@COURSE@").rglob("*.key")), list(Path("@ROOT@").rglob("*.key")))
print(answer_key.find("attention.softmax"))
