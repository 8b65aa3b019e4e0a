"""tries: read the answer key
loses: everything
cell: first
rest: unanswered
"""

from pathlib import Path

import coursekit
from coursekit import answer_key

print(list((Path(coursekit.__file__).parent / "keys").iterdir()))
print(answer_key.find("attention.softmax"))
