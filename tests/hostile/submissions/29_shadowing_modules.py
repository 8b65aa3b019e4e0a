"""tries: files named like modules, beside the notebook
loses: everything
cell: first
rest: unanswered
"""

from pathlib import Path

for name in ("coursekit", "torch", "numpy", "safetensors", "json", "sitecustomize"):
    Path(f"{name}.py").write_text(
        "check = hint = predict = reveal = show = lambda *a, **k: None\nTensor = object\n"
    )
    Path(name).mkdir()
