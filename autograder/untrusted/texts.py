"""Bytes as text, however an editor or a spreadsheet has saved them."""

import codecs
import re

MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


GUESSED = "cp1252"
"""What is no Unicode is taken for: the code page that Windows has in western Europe and America."""


def decoded(blob: bytes) -> tuple[str, str]:
    """The text, and its encoding: UTF-8 or UTF-16, with or without a byte order mark; GUESSED if it is no Unicode."""
    encodings = [encoding for mark, encoding in MARKS if blob.startswith(mark)]
    if not encodings and 0 in blob[:64]:  # UTF-16 without a mark: every second byte of ASCII text is 0
        encodings.append("utf-16-le" if blob[1:2] == b"\0" else "utf-16-be")
    for encoding in (*encodings, "utf-8", GUESSED):
        try:
            return blob.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return blob.decode("latin-1"), GUESSED


ALIEN = re.compile(r"[ƒ‚„†‡ˆ‰‹›•˜™¤¦¨¬¯±²³¶¸¹¼½¾×÷]|\w[“”‘…€§©®°¡¿¢¥«»]\w")
"""Signs of GUESSED that no word of a western language holds, and that may be half a letter of another script."""


def is_of_another_script(blob: bytes, encoding: str) -> bool:
    """Whether text that `decoded` takes for western, or for ASCII, is most likely Japanese, Chinese, Cyrillic or so.

    In a western language most letters of a word are ASCII.
    """
    if encoding != GUESSED:
        return b"\x1b$" in blob or b"\x1b(" in blob  # ISO 2022
    try:
        text = blob.decode(GUESSED)
    except UnicodeDecodeError:
        return True
    words = [
        word.strip("„“”‚‘’»«›‹•–—…") for word in re.split(r"[\s!-/:-@\[-`{-~]+", text) if not word.isascii()
    ]
    strange = [word for word in words if ALIEN.search(word) or (len(word) > 1 and min(word) > "\x7f")]
    return 3 * len(strange) > len(words)
