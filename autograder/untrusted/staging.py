"""A copy of what a student handed in that holds regular files only, for those who would follow a link or wait at a pipe.

Nothing in `submitted/` is changed or removed: it is the student's, and evidence.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_FILES, MOST_BYTES = 1000, 100 << 20  # of a hand-in


@contextmanager
def staged(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """A temporary copy of `folder`, and the names of what is not in it."""
    with tempfile.TemporaryDirectory(prefix="handed-in-") as temporary:
        copy, left_out, files, room = Path(temporary), [], 0, MOST_BYTES
        for place, folders, names in os.walk(folder):
            inner = Path(place).relative_to(folder)
            left_out += [str(inner / name) for name in folders if (Path(place) / name).is_symlink()]
            for name in sorted(names):
                size = _copy(Path(place), name, copy / inner / name, room) if files < MOST_FILES else None
                if size is None:
                    left_out.append(str(inner / name))
                else:
                    files, room = files + 1, room - size
        yield copy, left_out


def _copy(place: Path, name: str, target: Path, room: int) -> int | None:
    """Bytes copied; None when it is no regular file, may not be read, or there is no room for it."""
    try:
        handle = os.open(place / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > room:
            return None
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as copy:
            shutil.copyfileobj(file, copy)
    return status.st_size
