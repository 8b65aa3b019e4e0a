"""Runs pytest again and again in forks of a process that has imported what all tests share, but nothing of the repository.

python warm.py        in the folder that is tested; each line on stdin is a request, each on stdout its answer
"""

import contextlib
import importlib
import json
import os
import select
import signal
import sys

SHARED = (
    *(
        "numpy",
        "torch",
        "scipy.stats",
        "scipy.cluster.hierarchy",
        "sklearn.feature_extraction.text",
        "matplotlib.pyplot",
    ),
    *(
        "IPython",
        "ipykernel",
        "nbformat",
        "nbclient",
        "nbconvert",
        "jupytext",
        "jinja2",
        "sqlalchemy.orm",
        "alembic",
    ),
    *(
        "nbgrader.api",
        "nbgrader.apps",
        "nbgrader.converters",
        "nbgrader.preprocessors",
        "nbgrader.plugins.export",
    ),
    *(
        "nbgrader.server_extensions.formgrader",
        "typer.testing",
        "rich.table",
        "hypothesis",
        "xdist",
        "pytest_timeout",
    ),
    *(
        "safetensors.numpy",
        "fastjsonschema",
        "jsonschema",
        "msgspec",
        "nh3",
        "latex2mathml",
        "psutil",
        "cryptography",
    ),
)


def run(arguments: list[str], log: str, seconds: float) -> int | None:
    """The exit status of one pytest; None where it did not end in time."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.setsid()
            with open(log, "wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            import pytest

            status = int(pytest.main(arguments))
            sys.stdout.flush()
        finally:
            os._exit(status)
    handle = os.pidfd_open(pid)
    ended = select.select([handle], [], [], seconds)[0]
    os.close(handle)
    with contextlib.suppress(ProcessLookupError):  # also whatever the tests have left behind
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def main() -> None:
    for name in SHARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    ours = [name for name in sys.modules if name.partition(".")[0] in ("autograder", "coursekit", "tests")]
    assert not ours, f"these would be tested as they were before the fault: {ours}"
    sys.path.insert(0, os.getcwd())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):  # nobody waits for the answer any more
        for line in sys.stdin:
            print(json.dumps(run(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
