"""tries: put a module of its own in coursekit's place
loses: everything
cell: first
rest: unanswered
"""

import sys
import types

fake = types.ModuleType("coursekit")
for name in ("check", "hint", "predict", "reveal", "show"):
    setattr(fake, name, lambda *arguments, **more: None)
for name in [name for name in sys.modules if name.startswith("coursekit")]:
    sys.modules[name] = fake
