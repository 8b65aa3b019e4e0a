"""The course's secrets: one for all programs, whole, and for its owner alone."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor

from autograder.files import kept_secret

AT_ONCE = 8


def test_whoever_asks_at_the_same_time_gets_the_same_secret(tmp_path):
    start = threading.Barrier(AT_ONCE)

    def ask(number):
        start.wait()
        return kept_secret(tmp_path / "keys" / "secret", f"{number}\n".encode())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        (kept,) = set(pool.map(ask, range(AT_ONCE)))
    assert kept and kept_secret(tmp_path / "keys" / "secret", b"another") == kept
    assert stat.S_IMODE((tmp_path / "keys" / "secret").stat().st_mode) == 0o600


def test_an_empty_file_is_no_secret(tmp_path):
    (tmp_path / "secret").touch()
    assert kept_secret(tmp_path / "secret", b"new") == b"new"
    assert (tmp_path / "secret").read_bytes() == b"new"
