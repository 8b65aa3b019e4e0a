"""Files that are there whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_aside(path: Path, text: str) -> None:
    """Write a whole file or none: aside first, then moved into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
