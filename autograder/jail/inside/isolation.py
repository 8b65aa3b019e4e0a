"""The two ways to fork a submission: behind every wall, or (where someone said so) behind none."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from . import namespaces
from .kernel import prctl
from .limits import Limits

SCRATCH_PREFIX = "grading-"  # of the folder in which a server without a jail may write
CHILD_SUBREAPER, DEATH_SIGNAL = 36, 1  # options of prctl


class Jailed:
    """In bubblewrap's sandbox, a nest of namespaces for each submission."""

    def before_imports(self) -> None:
        """Mount a small file system to write to, for what libraries write while they are imported."""
        namespaces.open_scratch()

    def after_imports(self) -> None:
        """Make that file system read-only: no submission leaves anything for the next one."""
        namespaces.seal_scratch()
        self.user = os.getuid(), os.getgid()

    def fork_server(self) -> int:
        """Fork a server that ends with this one, and everything below it when it is killed; 0 in the fork."""
        pid = namespaces.fork(namespaces.OF_A_SERVER)
        if pid == 0:
            namespaces.enter_as_server(*self.user)
            _end_with_parent()
        return pid

    def fork(self) -> int:
        """Fork a child into namespaces of its own. Returns its process number, 0 in the child."""
        return namespaces.fork()

    def enter(self, limits: Limits) -> None:
        """In the child: build the jail around this process and move into its scratch file system. Raises OSError."""
        namespaces.enter(limits, *self.user)
        _live_in(namespaces.WORK / "home", namespaces.TEMPORARY)

    def clear_away(self) -> None:
        """The scratch file system ended with its namespace."""

    def end(self) -> None:
        """So does the server's own."""


class Plain:
    """An ordinary process with limits: for our own notebooks, and for systems without namespaces.

    `own_user`: nobody else runs anything as this user, so that the number of processes can be bounded.
    """

    def __init__(self, own_user: bool = False):
        self.own_user = own_user

    def before_imports(self) -> None:
        """Become the parent of processes that lose theirs, and remember which server is the first one."""
        self._adopt_orphans()
        self.first = os.getpid()

    def after_imports(self) -> None:
        """Nothing was opened for the imports."""

    def fork_server(self) -> int:
        """Fork a server in a session of its own that ends with this one; 0 in the fork."""
        pid = os.fork()
        if pid == 0:
            os.setsid()
            _end_with_parent()
            self._adopt_orphans()
        return pid

    def fork(self) -> int:
        """Make a folder for one submission and fork. Returns the child's process number, 0 in the child."""
        self.place = Path(tempfile.mkdtemp(prefix="job-"))
        return os.fork()

    def enter(self, limits: Limits) -> None:
        """In the child: set the limits of each process and move into the submission's folder."""
        os.setsid()
        _end_with_parent()
        namespaces.limit_resources(limits, own_processes=self.own_user)
        os.chdir(self.place)
        _live_in(self.place, self.place)

    def clear_away(self) -> None:
        """Remove the submission's folder."""
        shutil.rmtree(self.place, ignore_errors=True)

    def end(self) -> None:
        """Remove the folder that `launch` made for the server; its client may not have lived to do so."""
        scratch = Path(os.environ.get("TMPDIR", ""))
        if os.getpid() == self.first and scratch.name.startswith(SCRATCH_PREFIX):
            shutil.rmtree(scratch, ignore_errors=True)

    def _adopt_orphans(self) -> None:
        if sys.platform == "linux":
            prctl("subreaper", CHILD_SUBREAPER, 1)  # what a submission leaves behind comes back to be killed


def _end_with_parent() -> None:
    if sys.platform == "linux":
        prctl("death signal", DEATH_SIGNAL, 9)


def _live_in(home: Path, scratch: Path) -> None:
    os.environ.update(HOME=str(home), TMPDIR=str(scratch), MPLCONFIGDIR=str(scratch))
    tempfile.tempdir = None  # the server's choice, made before
    sys.path.insert(0, "")  # as in a kernel: a module that the notebook writes beside itself is found
