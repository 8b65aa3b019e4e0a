"""tries: nothing: warns and logs on stderr
loses: nothing
cell: attention-split_heads
"""

import logging
import sys
import warnings


def split_heads(x, heads):
    warnings.warn("old function", DeprecationWarning, stacklevel=1)
    warnings.warn("careful", stacklevel=1)
    logging.error("this looks bad and is not")
    print("on stderr", file=sys.stderr)
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
