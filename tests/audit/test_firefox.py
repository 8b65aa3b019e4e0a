"""A student's notebook in Firefox, driven by puppeteer (Playwright drives only a Firefox of its own)."""

import json
import re
import shutil
import subprocess

import pytest

from tests.browser.conftest import lab
from tests.browser.test_student import CHECK, NAMED, WRONG, solution
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = [pytest.mark.audit, pytest.mark.slow, pytest.mark.browser]
NAME = "02_attention"
PUPPETEER = "puppeteer-core@25"


@pytest.fixture
def firefox() -> str:
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if not found or not shutil.which("node"):
        pytest.skip("there is no Firefox, or no Node.js, on PATH")
    return found


def test_a_student_runs_everything_and_reads_which_mistake_it_was(firefox, tmp_path):
    folder = tmp_path / "course" / "notebooks" / NAME
    folder.mkdir(parents=True)
    shutil.copy(ASSIGNMENTS[NAME].release, folder)
    shutil.copy(ASSIGNMENTS[NAME].key, folder)
    shutil.copytree(ROOT / "tools" / "jupyterlab", tmp_path / "course" / "tools" / "jupyterlab")
    npm = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(tmp_path), PUPPETEER]
    if subprocess.run(npm, capture_output=True).returncode:
        pytest.skip("puppeteer could not be installed: there is no npm registry")
    script = shutil.copy(ROOT / "tests" / "audit" / "firefox.mjs", tmp_path)
    with lab(tmp_path / "course", tmp_path) as address:
        opened = re.sub(r"/lab/tree/\S*\?", f"/lab/tree/notebooks/{NAME}/{NAME}.ipynb?", address)
        done = subprocess.run(
            ["node", script, firefox, opened, solution(WRONG)], capture_output=True, text=True, timeout=550
        )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "Attention, step by step" in seen["title"]
    errors = [
        source for source, outputs in seen["untouched"] for one in outputs if one["output_type"] == "error"
    ]
    assert errors == [], "an untouched notebook runs to its end"
    (check,) = (outputs for source, outputs in seen["answered"] if 'check("attention.similarities"' in source)
    assert NAMED in json.dumps(check, ensure_ascii=False)
    assert "Keys and queries swapped" in seen["cards"], f"the card of {CHECK} is drawn"
