"""What makes the commands start sooner. Import it before everything else."""

import sys

# jsonschema imports it where it is installed, for a kind of address that no notebook holds, and does without it
# where it is not. Its grammar takes 1.6 s to build.
sys.modules.setdefault("rfc3987_syntax", None)
