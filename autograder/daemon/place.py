"""Where the daemon listens: a name that changes with everything that it has read.

Imports little: each command reads this first.
"""

import os
import resource
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b

from autograder.signature import signature

STAY_SECONDS = 600
VARIABLE = "AUTOGRADER_STAY_SECONDS"
AUTOGRADER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "JUPYTER", "IPYTHON", "OMP_", "OPENBLAS_", "MKL_")
"""How variables begin that Python, or what is imported, reads when it starts."""


def stay_seconds(environment: Mapping[str, str] = os.environ) -> float:
    """How long servers stay after a command; 0: not at all. A value that is no number counts as 0."""
    try:
        return max(0.0, float(environment.get(VARIABLE, STAY_SECONDS)))
    except ValueError:
        return 0.0


def folder() -> str | None:
    """A folder that belongs to this user alone, for sockets. None where there is none."""
    above = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("TMPDIR") or "/tmp"
    path = os.path.join(above, f"autograder-{os.getuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    found = os.lstat(path)
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if ours else None


def _means() -> list[object]:
    """What a process may use, and sees: who says `nice`, or has a control group or limits, means this command."""
    found: list[object] = [os.getuid(), os.getgid(), sorted(os.getgroups())]
    found += [os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0))]
    found += [
        resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")
    ]
    with suppress(OSError):
        found += [os.readlink(f"/proc/self/ns/{name}") for name in ("mnt", "net", "pid", "user")]
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            found.append(file.read())
    return found


def identity(paths: Iterable[str] = tuple(sys.path)) -> str:
    """Of this installation and of what it may use: other code, packages, variables or limits give another name."""
    digest = blake2b(digest_size=10)
    for part in (sys.version, sys.prefix, sys.executable, AUTOGRADER):
        digest.update(part.encode() + b"\0")
    for name in sorted(os.environ):
        if name.startswith(READ_AT_START):
            digest.update(f"{name}={os.environ[name]}\0".encode(errors="surrogateescape"))
    digest.update(repr(_means()).encode())
    digest.update(signature([AUTOGRADER]))
    for path in paths:  # an installation changes the folder that it goes into
        if os.path.isdir(path):
            digest.update(f"{path} {os.stat(path).st_mtime_ns}\0".encode())
    return digest.hexdigest()
