"""The start page's cell says what is missing and what to do about it."""

import sys
from dataclasses import replace

import pytest

from coursekit import environment as module
from coursekit import vectors
from coursekit.environment import installation
from coursekit.models import catalogue


@pytest.mark.slow
def test_here_everything_is_installed():
    found = installation()
    assert found.ok, str(found)
    assert str(found).startswith("Everything is ready")


@pytest.mark.slow
def test_a_package_that_cannot_be_imported_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "bertviz", None
    )  # what Python does for a package that it must not import
    found = installation()
    assert found.title == "Not ready yet: see bertviz"
    assert "✗ bertviz" in str(found)
    assert module.REINSTALL in str(found)


def test_missing_word_vectors_come_with_the_command_that_installs_them(monkeypatch):
    missing = replace(vectors.PACKAGE, name="no-such-package")
    monkeypatch.setattr(vectors, "PACKAGE", missing)
    text = str(installation())
    assert "Not ready yet: see GloVe vectors" in text
    assert missing.install in text


def test_it_says_which_models_there_are(no_hub):
    text = str(installation())
    assert "✓ Encoder" in text and "all-MiniLM-L6-v2, from the package" in text
    assert "✓ Decoder" in text and "SmolLM2-135M-Instruct, from the package" in text


def test_a_missing_model_comes_with_the_command_that_installs_it(no_hub, monkeypatch):
    missing = replace(catalogue.SMOLLM2.package, name="no-such-package")
    monkeypatch.setitem(
        catalogue.CATALOGUE,
        "SmolLM2-135M-Instruct",
        replace(
            catalogue.CATALOGUE["SmolLM2-135M-Instruct"], stand_in=replace(catalogue.SMOLLM2, package=missing)
        ),
    )
    text = str(installation())
    assert "Not ready yet: see Decoder" in text
    assert missing.install in text


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_it_shows_itself_in_a_terminal_and_in_a_notebook(kind):
    item = module.Item("torch", "", "an <odd> message")
    shown = module.Installation((item,))._repr_mimebundle_()[kind]
    assert "torch" in shown
    assert ("an &lt;odd&gt; message" if kind == "text/html" else "an <odd> message") in shown
