"""What waits on a computer with a network, or with time: in the jail it fails at once, or does without."""

from dataclasses import replace

import pytest

from autograder.jail.outside.client import Server
from tests.autograder.jail.conftest import LIMITS, run_in
from tests.conftest import COURSE_VIEW, SETTINGS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def patient(jail_possible):
    """A server in which a cell may take as long as in a real run."""
    limits = replace(LIMITS, cell_seconds=60, notebook_seconds=300)
    with Server(limits, view=COURSE_VIEW, modules=SETTINGS.preload) as server:
        yield lambda *cells: run_in(server, *cells)


def test_pip_does_not_try_again(patient):
    ran = patient("!pip install nothing-of-this-name; echo", "print(1)")
    assert "No matching distribution" in ran.stream(0) and "Retrying" not in ran.stream(0)
    assert ran.status == "finished" and ran.value() == 1


def test_torch_compile_runs_the_function_as_it_is(patient):
    compiled = """
        import torch

        @torch.compile(fullgraph=True)
        def double(x):
            return 2 * x

        print(double(torch.ones(2)).tolist())
    """
    assert patient(compiled).value() == [2, 2]


NEED_A_NETWORK = {
    "import urllib.request\nurllib.request.urlopen('https://example.org/data.csv')": "URLError",
    "import socket\nsocket.create_connection(('93.184.216.34', 443))": "unreachable",
    "import torch\ntorch.hub.load_state_dict_from_url('https://example.org/w.pt')": "URLError",
    "from google.colab import drive\ndrive.mount('/content/drive')": "ModuleNotFoundError",
    "import requests\nrequests.get('https://example.org/data.csv')": "ConnectionError",
    "from datasets import load_dataset\nload_dataset('imdb')": "ConnectionError",
    "!git clone https://example.org/x.git && echo done": "",
}


@pytest.mark.parametrize(("source", "error"), NEED_A_NETWORK.items())
def test_what_needs_a_network_fails_by_itself(patient, source, error):
    if source.startswith("from datasets"):
        pytest.importorskip("datasets")
    ran = patient(source, "print(1)")
    assert error in ran.frames[0].error_text
    assert ran.frames[0].problem != "timeout" and ran.value() == 1


NEVER_END = (
    "import asyncio\nawait asyncio.sleep(10**6)",
    "import threading\nthreading.Event().wait()",
    "import socket\nsocket.create_server(('127.0.0.1', 0)).accept()",
    "!sleep 100000",
    "import time\ntime.sleep(3000)",
)


def test_waits_that_never_end_take_no_time_from_the_others(patient):
    """None is stopped after a cell's whole minute: five minutes are the time of the notebook."""
    ran = patient(*NEVER_END, "print(1)")
    assert [frame.problem for frame in ran.frames] == [*["error"] * len(NEVER_END), ""]
    assert ran.value() == 1
