"""`autograder` with the real jail, but in it a server that imports no torch and starts at once.

For tests that start many servers and care for what happens around them. An answer is a number made from the
text of the cell that defines the function: the solution's text is right, and any other text is wrong.
A cell that says `# run this` is executed.

    python light.py grade 02_attention        as the command autograder
    dask worker … --preload light.py          in workers that were started elsewhere
"""

import os
import sys

from autograder.jail.outside import bubblewrap

SERVE = """
import hashlib, json, sys, time, types
sys.path.insert(0, sys.argv[1])
from inside import server

def prepare(limits, modules):
    del sys.path[0]
    global answers, recording, Answer, np
    import numpy as np
    from autograder.checks import answers, recording
    from autograder.checks.asking import Answer

def read_job(blob):
    size = answers.FileLimits(bytes=1 << 31, header_bytes=1 << 30, arrays=1_000_000, values=1 << 26)
    end = 8 + int.from_bytes(blob[:8], "little")
    arrays, words = answers.unpack(blob[end:], size)
    return json.loads(blob[8:end])["cells"], recording.cases_from_file(arrays, words["cases"])

def run_job(job, shell, limits, send):
    cells, cases = job
    text = ""
    time.sleep(SECONDS)
    for number, cell in enumerate(cells):
        if "# run this" in cell["source"]:
            exec(cell["source"], {})
        if "def " in cell["source"]:
            text = cell["source"]
        value = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
        name = cell["exercise"]
        given = {
            (cell["variant"], name, case): Answer(arrays={"": np.float32([value, case])})
            for case in range(len(cases.get(name, [])))
        }
        arrays, described = recording.answers_to_file(given)
        words = {"cell": number, "answers": described, "outputs": [], "seconds": 0.0, "problem": ""}
        send(answers.pack(arrays, words))

sys.modules["inside.runner"] = types.SimpleNamespace(read_job=read_job, run_job=run_job)
server.prepare = prepare
server.main(sys.argv[2:])
"""


def install() -> None:
    """From now on every server of this process is a light one; a job takes LIGHT_SECONDS."""
    bubblewrap.SERVE = SERVE.replace("SECONDS", os.environ.get("LIGHT_SECONDS", "0"))


def dask_setup(worker: object) -> None:
    install()


if __name__ == "__main__":
    install()
    sys.path.pop(0)  # this folder
    from autograder import cli

    cli.main()
