"""tries: frames with wrong headers, in the style of every field
loses: nothing
cell: last
"""

import os
import random

random.seed(3)
bodies = [
    b"",
    b"{}",
    b"\xff" * 8,
    bytes(7),
    (3).to_bytes(8, "little") + b"{}}",
    (2**63).to_bytes(8, "little"),
]
bodies += [random.randbytes(random.randrange(200)) for _ in range(20)]
bodies += [
    len(head).to_bytes(8, "little") + head
    for head in (b"[" * 50_000, b'{"__metadata__":{"words":"' + b"[" * 50_000 + b'"}}')
]
for body in bodies:
    os.write(3, len(body).to_bytes(8, "little") + body)
