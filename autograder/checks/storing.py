"""Files that are there whole or not at all, and locks that every system has."""

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE = 5.0
"""Seconds that `locked` waits for another process."""


@contextlib.contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to: moved into its place when the block ends, removed when it fails."""
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
    name = path.with_name(f".{secrets.token_hex(8)}")
    try:
        yield name
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def write_aside(path: Path, content: str | bytes, through_a_power_cut: bool = False) -> None:
    """Write a whole file or none: aside first, then moved into place."""
    with aside(path) as name:
        with name.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if through_a_power_cut:
                file.flush()
                os.fsync(file.fileno())
        name.chmod(0o644)


def try_lock(file: IO) -> bool:
    """Whether this process now is the only one with a lock on the open file. Closing the file gives it back."""
    try:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # held by another; Windows says the second
        return False
    return True


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time is in this block for a path, which lies beside what it protects.

    It is a convenience: who cannot have the lock goes on without after a while, so that nothing hangs on a full disk, on
    a file system without locks or on a process that was stopped.
    """
    with contextlib.ExitStack() as closing:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = closing.enter_context(path.open("a+"))
            patient_until = time.monotonic() + PATIENCE
            while not try_lock(file) and time.monotonic() < patient_until:
                time.sleep(0.005)
        except OSError:
            pass
        yield
