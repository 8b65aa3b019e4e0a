"""The file beside a notebook with the functions that may be lent: encrypted, and opened with the key of the instructor.

It is encrypted with AES-SIV (RFC 5297), which needs no random number: the same functions and key give the same bytes. Who
has changed a byte of it, or has another key, opens nothing.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

SUFFIX = ".lent"
KEY_BYTES = 32


class WrongKey(ValueError):
    """The key does not open the file."""


@dataclass(frozen=True)
class LentFile:
    """
    notebook   whose functions these are: "02_attention";
    sealed     the source of each exercise's solution cell, encrypted;
    opens      when the instructor publishes the key, an ISO time with its zone, or "";
    key        the key, where everybody may borrow; else "".
    """

    notebook: str
    sealed: str
    opens: str = ""
    key: str = ""

    def to_bytes(self) -> bytes:
        """The content of the file, JSON in UTF-8, which `read` reads."""
        return f"{json.dumps(asdict(self), indent=1)}\n".encode()

    def functions(self, key: str) -> dict[str, str]:
        """The source by the exercise's name. Raises WrongKey."""
        from cryptography.exceptions import InvalidTag  # start-up: the jail imports us, and lends nothing

        try:
            plain = _cipher(key).decrypt(base64.b64decode(self.sealed), [self.notebook.encode()])
        except (InvalidTag, binascii.Error, ValueError):
            raise WrongKey(f"This key does not unlock the functions that {self.notebook} lends.") from None
        return json.loads(plain)


def seal(
    notebook: str, functions: Mapping[str, str], key: bytes, opens: str = "", publish: bool = False
) -> LentFile:
    """A file of these functions. `publish` puts the key into it, for everybody."""
    text = key_text(key)
    plain = json.dumps(dict(functions), sort_keys=True).encode()
    sealed = base64.b64encode(_cipher(text).encrypt(plain, [notebook.encode()])).decode()
    return LentFile(notebook, sealed, opens, text if publish else "")


def read(path: Path) -> LentFile | None:
    """The file, or None where there is none, or one that cannot be read."""
    try:
        return LentFile(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def key_text(key: bytes) -> str:
    """A key as it is published: 43 characters that survive a message and a web page."""
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def _cipher(text: str):
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # start-up: as above

    key = base64.urlsafe_b64decode(f"{text.strip()}{'=' * (-len(text.strip()) % 4)}")
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes, not {len(key)}")
    return AESSIV(key)
