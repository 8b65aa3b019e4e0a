"""A control group for each submission, where one can be had: it bounds what no limit of a process does.

Memory that the kernel keeps for a process (buffers of sockets, locks, page tables) counts as its own, and all processes of a
submission together have no more of the processors than one notebook needs. Root has such groups on any Linux that mounts
them; an ordinary user where a part of the tree is delegated, as systemd does for a session. Elsewhere there are none, and
the watchdog, which sees resident memory only, and the limits of each process remain.

The group is made here, outside. Handles of its lists of processes go to the fork, which writes itself into them before it
does anything else; inside there is no file by which a process could leave again. A group in which a submission has left
nothing behind is the next one's: to make one takes 2 ms.
"""

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.jail.inside.limits import MEGABYTE, Limits

CONTROLLERS = ("memory", "cpu", "pids")
HEADROOM = 64 * MEGABYTE  # for page tables, and copies of what the watchdog counts as shared
MOST_LEFT = 8 * MEGABYTE
"""Of the headroom, that what has ended may leave to the next: files that the system has read, mostly."""
LISTS = ("tasks", "cgroup.procs")
"""Of those who are in it. The first, of version 1, moves a thread; a fork has no other. A whole process waits, at the second,
5 to 13 ms until no other process of the system is just being made."""
IN_USE = ("memory.usage_in_bytes", "memory.current")
"""Bytes, by version."""
PERIOD = 100_000  # microseconds in which a share of the processors is counted

_numbers = itertools.count()


@dataclass(frozen=True)
class ControlGroup:
    """Its folders: one, or (version 1) one for each controller."""

    folders: tuple[Path, ...]

    def open(self) -> list[int]:
        """Handles by which a process with a single thread can enter it."""
        return [os.open(_of(folder, LISTS), os.O_WRONLY | os.O_CLOEXEC) for folder in self.folders]

    def is_as_new(self) -> bool:
        """Whether nobody is in it, and hardly any memory counts as its own."""
        lists = [_of(folder, LISTS) for folder in self.folders]
        in_use = [_of(folder, IN_USE) for folder in self.folders]
        try:
            left = [int(file.read_text()) for file in in_use if file.exists()]  # only where memory is counted
            return not any(file.read_text() for file in lists) and all(size <= MOST_LEFT for size in left)
        except (OSError, ValueError):
            return False

    def remove(self) -> None:
        """Now, or with a later one if somebody is still ending in it."""
        _to_remove.extend(self.folders)
        remove_ended()


def _of(folder: Path, names: Iterable[str]) -> Path:
    """The first of these files that is there, else the last."""
    *others, last = (folder / name for name in names)
    return next((file for file in others if file.exists()), last)


_to_remove: list[Path] = []


def remove_ended() -> None:
    """Remove the groups in which nobody is any more."""
    for folder in _to_remove[:]:
        with contextlib.suppress(OSError):
            folder.rmdir()
        if not folder.exists():
            with contextlib.suppress(ValueError):  # another thread was quicker
                _to_remove.remove(folder)


def make(limits: Limits) -> ControlGroup | None:
    """A new group with these limits; None where none can be had."""
    name = f"autograder-{os.getpid()}-{next(_numbers)}"
    made: list[Path] = []
    try:
        for parent, version in _parents():
            _sweep(parent)
            folder = parent / name
            folder.mkdir()
            made.append(folder)
            for file, value in _settings(limits, version).items():
                if (folder / file).exists():
                    (folder / file).write_text(value)
        return ControlGroup(tuple(made)) if made else None
    except OSError:
        ControlGroup(tuple(made)).remove()
        return None


@lru_cache
def _sweep(parent: Path) -> None:
    """Remove, once, the empty groups of processes that were killed before they could."""
    for folder in parent.glob("autograder-*"):
        pid = folder.name.split("-")[1]
        if not Path("/proc", pid).exists():
            ControlGroup((folder,)).remove()


def possible() -> bool:
    """Whether a group can be made on this machine, by this user."""
    return bool(_parents())


def _settings(limits: Limits, version: int) -> dict[str, str]:
    memory = str(limits.memory_bytes + limits.scratch_bytes + HEADROOM)
    quota = str(int(limits.cores * PERIOD))
    if version == 1:
        return {
            "memory.limit_in_bytes": memory,
            "memory.memsw.limit_in_bytes": memory,
            "cpu.cfs_period_us": str(PERIOD),
            "cpu.cfs_quota_us": quota,
            "pids.max": str(limits.processes + 1),
        }
    return {
        "memory.max": memory,
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": f"{quota} {PERIOD}",
        "pids.max": str(limits.processes + 1),
    }


def _parents() -> list[tuple[Path, int]]:
    """The folders in which a group can be made, with the version of each: as many controllers as can be had."""
    try:
        mounts = list(_mounts(Path("/proc/self/mountinfo").read_text()))
        own = dict(_own(Path("/proc/self/cgroup").read_text()))
    except OSError:
        return []
    parents: list[tuple[Path, int]] = []
    for place, kind, controllers in mounts:
        if kind == "cgroup2" and (parent := _delegated(place, own.get("", "/"))):
            parents.append((parent, 2))
        for name in controllers & set(CONTROLLERS):
            folder = place / own.get(name, "/").lstrip("/")
            parents.append((folder if folder.is_dir() else place, 1))
    return [(folder, version) for folder, version in dict.fromkeys(parents) if os.access(folder, os.W_OK)]


def _mounts(mountinfo: str) -> Iterator[tuple[Path, str, set[str]]]:
    """Where control groups are mounted, the version, and (version 1) the controllers."""
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            yield Path(left.split()[4]), kind, set(options.split(",")) if kind == "cgroup" else set()


def _own(text: str) -> Iterator[tuple[str, str]]:
    """The controllers of this process, each with its place in its tree; "" is version 2."""
    for line in text.splitlines():
        _, controllers, place = line.split(":", 2)
        for name in controllers.split(","):
            yield name, place


def _delegated(mount: Path, own: str) -> Path | None:
    """The next folder upwards in which we may make groups that are counted."""
    folder = mount / own.lstrip("/")
    for parent in (folder, *folder.parents):
        if not parent.is_relative_to(mount):
            return None
        with contextlib.suppress(OSError):
            counted = "memory" in (parent / "cgroup.subtree_control").read_text().split()
            if counted and os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK):
                return parent
    return None
