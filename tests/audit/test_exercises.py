"""Every exercise on 300 draws of its inputs, with every mutant of its solution, and as other processors compute it."""

import os
import subprocess
import sys

import pytest

from autograder.authoring.mutants import judge_mutants
from tests.conftest import ASSIGNMENTS, ROOT
from tests.draws import rates_on_draws

pytestmark = [pytest.mark.audit, pytest.mark.slow, pytest.mark.timeout(7200)]
DRAWS = 300
DRAWS_OF_TRAINING = 10


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_verdict_depends_on_the_draw(name):
    rates = rates_on_draws(ASSIGNMENTS[name], 0, DRAWS, DRAWS_OF_TRAINING, generic=True)
    assert [str(rate) for rate in rates if not rate.holds] == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_checks_catch_the_mutants(name):
    report = judge_mutants(ASSIGNMENTS[name])
    assert report.total > 30
    assert report.share >= 0.95, report.survivors
    assert report.unexplained == ()


@pytest.mark.parametrize("capability", ["default", "avx2"])
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_key_is_the_same_with_the_instructions_of_another_processor(name, capability):
    """PyTorch and NumPy as they compute where there is no AVX512, and where there is no AVX at all."""
    without = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
    without += " AVX2 FMA3" if capability == "default" else ""
    command = [sys.executable, "-m", "autograder", "build", "--check", name]
    settings = {"ATEN_CPU_CAPABILITY": capability, "NPY_DISABLE_CPU_FEATURES": without}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
