"""`autograder written`, as a person types it."""

import datetime
import json
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.autograder.commands import command, refusal
from tests.autograder.written.class_of import NAME, group_of, make_course
from tests.autograder.written.conftest import MIXTURE
from tests.autograder.written.serving import serving
from tests.conftest import ROOT

HEAVY = ("torch", "transformers", "sklearn", "scipy", "coursekit")


@pytest.mark.slow
def test_before_anything_is_graded_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(make_course(tmp_path / "course").root)
    assert "autograder grade" in refusal("written", NAME, "--no-browser")


@pytest.mark.slow
def test_agreement_is_a_table(nine, desk, monkeypatch):
    monkeypatch.chdir(nine.root)
    ask = ["written", NAME, "--by", "words", "--agreement"]
    assert "No answer has been read twice" in command(*ask)
    for score, row in enumerate(group_of(desk.view("ann"), MIXTURE)["rows"]):
        desk.give("ann", row["answers"], score)
    while (shown := desk.next_again("bob", 1)).get("answer"):
        desk.give_again("bob", shown["answer"], 1)
    line = next(line for line in command(*ask).splitlines() if "Question 1" in line)
    assert line.split()[-6:] == ["two", "people", "4", "25%", "25%", "0.00"]


@pytest.mark.slow
def test_the_token_reaches_the_browser_in_a_private_file_and_nothing_is_left_at_the_end(nine, tmp_path):
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\ncd {tmp_path}; stat -c %a "${{1#file://}}" > mode; echo "$@" > command; mv command asked\n'
    )
    script.chmod(0o755)
    asked = tmp_path / "asked"
    with serving(nine, BROWSER=f"{script} %s", TMPDIR=str(tmp_path)) as (running, address):
        while not asked.exists():
            time.sleep(0.1)
        token = address.partition("token=")[2]
        redirect = Path(asked.read_text().strip().removeprefix("file://"))
        assert redirect.is_relative_to(tmp_path) and token not in asked.read_text()
        assert (tmp_path / "mode").read_text() == "600\n" and token in redirect.read_text()
        urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address)
        assert not redirect.exists()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)
        running.send_signal(signal.SIGINT)
        assert "Ended." in running.stdout.read()
    assert running.returncode == 0
    assert not list(tmp_path.glob("autograder-written-*"))


@pytest.mark.slow
def test_what_a_user_has_configured_for_jupyter_does_not_apply(nine, tmp_path):
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')")
    (tmp_path / "jupyter_server_config.py").write_text("import trap\nc.IdentityProvider.token = ''")
    (tmp_path / "jupyter_server_config.d").mkdir()
    extensions = {"ServerApp": {"jpserver_extensions": {"trap": True}, "allow_remote_access": True}}
    for name in ("jupyter_config.json", "jupyter_server_config.d/trap.json"):
        (tmp_path / name).write_text(json.dumps(extensions))
    places = dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "PYTHONPATH"), str(tmp_path))
    with (
        serving(nine, "--no-browser", **places, JUPYTER_TOKEN="easy") as (_, address),
        pytest.raises(urllib.error.HTTPError, match="403"),
    ):
        urllib.request.urlopen(f"{address.partition('?')[0]}?token=easy")
    assert not (tmp_path / "loaded").exists()


@pytest.mark.slow
def test_the_page_is_encrypted_with_a_certificate(nine, tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    with serving(nine, "--no-browser", "--certfile", str(certificate), "--keyfile", str(key)) as (_, address):
        assert address.startswith("https://")
        handlers = [
            urllib.request.HTTPCookieProcessor(),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificate)),
        ]
        assert b"Written answers" in urllib.request.build_opener(*handlers).open(address).read()


def make_certificate(certificate: Path, key: Path) -> None:
    """One that this machine has signed for itself."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    certificate.write_bytes(signed.public_bytes(pem))
    unencrypted = serialization.NoEncryption()
    key.write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, unencrypted))


@pytest.mark.slow
def test_the_page_needs_no_model_until_it_groups():
    script = f"import sys, autograder.cli, autograder.written.server\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"
