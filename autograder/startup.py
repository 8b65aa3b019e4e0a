"""What makes the commands start sooner. Import it before everything else."""

import sys

THRESHOLDS = 50_000, 20, 100
"""Of the garbage collector. With Python's own it examines everything that was imported again and again: a tenth of a command's time."""

# jsonschema imports them where they are installed, for kinds of addresses and of durations that no notebook holds, and does
# without them where they are not. The grammar of the first takes 1.6 s to build, the others a tenth of a second to import.
for name in ("rfc3987_syntax", "rfc3986_validator", "isoduration"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # None is how Python notes what may not be imported
