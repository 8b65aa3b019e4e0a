"""A mount and a process namespace in which Unix users can be made, and which leaves nothing of them behind."""

import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from autograder.jail.outside import bubblewrap
from tests.conftest import ROOT
from tests.processes import processes_below


def missing() -> str | None:
    """Why this machine cannot run the hub with several users; None when it can."""
    if os.getuid() != 0:
        return "a hub for several Unix users needs root"
    if find_spec("jupyterhub") is None or find_spec("jupyterhub_idle_culler") is None:
        return 'JupyterHub is missing: pip install -c constraints.txt -e "./course[hub]"'
    for program, package in (
        ("configurable-http-proxy", "the npm package of that name"),
        ("useradd", "the Debian package passwd"),
        ("unshare", "the Debian package util-linux"),
    ):
        if shutil.which(program) is None:
            return f"{program} is missing: install {package}"
    if bubblewrap.find_bubblewrap() is None:
        return "bubblewrap is missing"
    return bubblewrap.find_problem()


class World:
    """Processes that see this machine with another /etc, /home and /srv, and of the checkout only what students have."""

    def __init__(self, folder: Path):
        for name in ("home", "srv"):
            (folder / name).mkdir(mode=0o755)
        subprocess.run(["cp", "-a", "/etc", folder / "etc"], check=True)
        own = [part for name in ("etc", "home", "srv") for part in ("--bind", folder / name, f"/{name}")]
        apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        bwrap = [bubblewrap.find_bubblewrap(), "--dev-bind", "/", "/", *own, *_what_students_have()]
        self._first = subprocess.Popen([*apart, *bwrap, "--", "sleep", "infinity"])
        self._enter = ["nsenter", f"--target={self._sleeper()}", "--mount", "--pid", "--"]

    def _sleeper(self) -> int:
        for _ in range(100):
            for pid in processes_below(self._first.pid):
                if Path(f"/proc/{pid}/comm").read_text() == "sleep\n":
                    return pid
            assert self._first.poll() is None, "the world could not be made"
            time.sleep(0.1)
        raise AssertionError("the world did not begin within ten seconds")

    def start(self, *command: str | Path, user: str = "root", **options) -> subprocess.Popen:
        environment = {"PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", "COLUMNS": "200"}
        environment |= {"HOME": "/root" if user == "root" else f"/home/{user}"} | options.pop("env", {})
        as_user = [] if user == "root" else ["runuser", "--user", user, "--"]
        return subprocess.Popen(
            [*self._enter, *as_user, *command],
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            **options,
        )

    def run(self, *command: str | Path, user: str = "root", check: bool = True, **options) -> str:
        """What the command says; without `check` also when it fails."""
        process = self.start(*command, user=user, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0 or not check, f"{command}\n{said}"
        return said

    def end(self) -> None:
        self._first.kill()
        self._first.wait()


def _what_students_have() -> list[str | Path]:
    """The Python environment and coursekit, and nothing else of the checkout; both where everybody can reach them."""
    shown = [Path(sys.base_prefix), Path(sys.prefix), ROOT / "coursekit"]
    closed = {folder for path in shown for folder in path.parents if not folder.stat().st_mode & 0o001}
    arguments: list[str | Path] = []
    for folder in sorted({*closed, ROOT}):
        arguments += ["--perms", "0755", "--tmpfs", folder]
    for path in shown:
        between = [folder for folder in reversed(path.parents) if closed & {*folder.parents}]
        for folder in between:
            arguments += ["--perms", "0755", "--dir", folder]
        arguments += ["--ro-bind", path, path]
    return arguments
