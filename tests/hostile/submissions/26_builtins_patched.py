"""tries: builtins that lie: isinstance, len, zip, AssertionError
loses: everything
cell: first
rest: unanswered
"""

import builtins

builtins.AssertionError = ZeroDivisionError
builtins.isinstance = lambda value, kind: True
builtins.len = lambda value: 0
builtins.zip = lambda *several, **more: iter(())
