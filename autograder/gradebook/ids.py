"""Ids as a spreadsheet has changed them: what it has put around them is taken off, what it has lost is said."""

import re
from collections.abc import Sequence

NUMBER = re.compile(r"\d+(?:[.,]0{1,2})?")  # 12345.0; three zeros after a point may be thousands
DECIMAL = re.compile(r"(\d+)[.,]0{1,2}")
ROUNDED = re.compile(r"[+-]?\d+(?:[.,]\d*)?[eE]\+\d+")  # 1.23457E+07


def plain_ids(column: Sequence[str]) -> list[str]:
    """The ids of a column without the apostrophe before a number and, where all are numbers, without a .0 after it."""
    cells = [re.sub(r"^['’‘](?=\d+$)", "", cell) for cell in column]
    if all(NUMBER.fullmatch(cell) for cell in cells if cell):
        return [DECIMAL.sub(r"\1", cell) for cell in cells]
    return cells


def what_is_wrong(student: str) -> str:
    """What a spreadsheet has done to an id that makes it another one, and what to do; or ""."""
    if ROUNDED.fullmatch(student):
        return (
            "is a number that a spreadsheet has rounded, so that digits are lost: open the original table, format this column "
            "as text there, check that the ids are complete, and save it as CSV again."
        )
    if DECIMAL.fullmatch(student):
        return (
            "looks like a number to which a spreadsheet has added decimals, but not all ids are numbers: format this column as "
            "text there and save it as CSV again."
        )
    if student.startswith("#"):
        return "is not an id but a spreadsheet's error value: correct the cell in the spreadsheet and save the table as CSV again."
    return ""
