"""tries: read the solution in the course folder and run it
loses: everything
cell: first
rest: unanswered
"""

from pathlib import Path

for path in Path("@COURSE@/solutions").rglob("*"):
    text = path.read_text()
    print(text)
    exec(text)
print(open("@COURSE@/solutions/02_attention/02_attention.py").read())
