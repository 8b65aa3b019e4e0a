"""tries: a frame of seven megabytes of JSON that would need twenty times as much memory
loses: nothing
cell: last
"""

import json

head = b'{"__metadata__":{"words":' + json.dumps("[" + "{}," * 1_100_000 + "{}]").encode() + b"}}"
head2 = b'{"a":[' + b"[]," * 1_000_000 + b"[]]}"
pipe = open(3, "wb", closefd=False)
for one in (head, head2):
    frame = len(one).to_bytes(8, "little") + one
    pipe.write(len(frame).to_bytes(8, "little") + frame)
    pipe.flush()
