"""Where no jail can be built and root starts the server: it runs as nobody, with a copy of what a jail would show.

In a container that forbids namespaces, the container is the jail. Inside it, file permissions keep students' code from the
solution and the results: both are root's alone. Everything else that a jail adds is missing: there is a network, other processes
can be seen, and the disk is not bounded.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.errors import JailError
from autograder.jail.inside.isolation import SCRATCH_PREFIX
from autograder.jail.outside import bubblewrap, withheld
from autograder.jail.outside.bubblewrap import NOBODY, View

CACHES = shutil.ignore_patterns("__pycache__")


class Place:
    """A folder with a copy of what students' code may read, and a folder to which it may write.

    `view` is what a jail would show. What it names as hidden must be closed to others. Raises JailError.
    """

    def __init__(self, view: View):
        if os.getuid() != 0:
            raise JailError("Only root can run students' code as another user: start this as root.")
        for folder in view.hidden:
            if others_reach(folder):
                raise JailError(f"{folder} can be read by every user: `chmod go-rwx {folder}`.")
        if not others_reach(Path(sys.executable)):
            raise JailError(
                f"{Path(sys.executable).resolve()} can be run by root only: install Python where every user can read it."
            )
        self._folder = tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX)
        self.top = Path(self._folder.name)
        self.top.chmod(0o755)
        self.library, self.server, self.scratch = self.top / "library", self.top / "server", self.top / "own"
        self.scratch.mkdir(mode=0o700)
        os.chown(self.scratch, NOBODY, NOBODY)
        self._lay_out(view)

    def _lay_out(self, view: View) -> None:
        """Copy, so that closed folders can stay closed; in place of right answers what a jail would show."""
        masked = withheld.masks(view.withheld) | dict.fromkeys(
            bubblewrap.masked(view), bubblewrap.NOT_WHILE_GRADED.read_bytes()
        )
        homes = {bubblewrap.INSIDE: self.server, bubblewrap.LIBRARY: self.library}
        copies = {
            source: place / target.relative_to(home)
            for source, target in bubblewrap.OURS.items()
            for home, place in homes.items()
            if target.is_relative_to(home)
        }
        packages = {bubblewrap.package_folder(name): Path(*name.split(".")) for name in view.packages}
        readable = {Path(path).resolve(): _within(path, view.hidden) for path in view.readable}
        for source, name in {**packages, **readable}.items():
            copies[source] = self.library / name
        for source, target in copies.items():
            _copy(source, target, masked)

    def cleanup(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


def others_reach(path: Path) -> bool:
    """Whether every user can read what lies there, by the permissions of it and of the folders around it."""
    path = path.resolve()
    return bool(path.stat().st_mode & 0o005) and all(folder.stat().st_mode & 0o001 for folder in path.parents)


def _within(path: Path, roots: Iterable[Path]) -> Path:
    """Its name below a hidden folder, the course, where it lies in one."""
    inner = (path.relative_to(root) for root in roots if path.is_relative_to(root))
    return next(inner, Path(path.name))


def _copy(source: Path, target: Path, masked: Mapping[Path, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=CACHES, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
    for file, content in masked.items():
        if file.is_relative_to(source):
            (target / file.relative_to(source)).write_bytes(content)
    for copied in (target, *target.rglob("*")):
        copied.chmod(0o755 if copied.is_dir() else 0o644)
