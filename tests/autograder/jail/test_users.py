"""The jail serves an ordinary user as it serves root: all its walls once more, as somebody else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.jail.outside import bubblewrap

HERE = Path(__file__).parent
SOMEBODY = 12345


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="the tests run as an ordinary user already")
def test_every_wall_stands_for_an_ordinary_user(jail_possible):
    world = [str(bubblewrap.find_bubblewrap()), "--dev-bind", "/", "/", *opened(Path(sys.base_prefix)), "--"]
    somebody = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups"]
    tests = [
        str(HERE / "test_walls.py"),
        f"{HERE / 'test_client.py'}::test_a_server_that_dies_twice_under_a_job",
    ]
    done = subprocess.run(
        [*world, *somebody, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=HERE.parents[2],
        env=os.environ | {"HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def opened(path: Path) -> list[str]:
    """Arguments for a world in which everybody can reach `path`: an interpreter below root's closed home, say."""
    closed = [folder for folder in path.parents if folder.stat().st_mode & 0o001 == 0]
    if not closed:
        return []
    top = closed[-1]
    between = [folder for folder in reversed(path.parents) if folder.is_relative_to(top) and folder != top]
    arguments = ["--perms", "0755", "--tmpfs", str(top)]
    for folder in between:
        arguments += ["--perms", "0755", "--dir", str(folder)]
    return [*arguments, "--ro-bind", str(path), str(path)]
