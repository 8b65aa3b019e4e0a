"""The pages a newcomer reads lead somewhere, and the map of the start page agrees with itself."""

import csv
import re
from pathlib import Path

import pytest
import typer

from autograder.cli import app

ROOT = Path(__file__).resolve().parents[1]
START = ROOT / "solutions" / "start.py"
PAGES = {
    "README.md": ROOT,
    "CONTRIBUTING.md": ROOT,
    "docs/first-hour.md": ROOT / "docs",
    "solutions/start.py": ROOT / "notebooks",
}
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
ROW = re.compile(
    r"^# \| (?P<number>\d\d|P) \| (?P<title>.*?) \| .*?\| (?P<needs>[^|]*)\| (?P<unlocks>[^|]*)\|$", re.M
)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page):
    links = LINK.findall((ROOT / page).read_text())
    assert links or page == "CONTRIBUTING.md"
    assert [link for link in links if not (PAGES[page] / link).is_file()] == []


def test_the_first_hour_names_commands_and_options_that_there_are():
    rows = re.findall(r"`\.venv/bin/autograder ([^`]+)`", (ROOT / "docs" / "first-hour.md").read_text())
    assert len(rows) >= 7
    commands = typer.main.get_command(app).commands
    for row in rows:
        command, *rest = row.split()
        options = {name for parameter in commands[command].params for name in parameter.opts}
        assert {option for option in rest if option.startswith("--")} <= options, row


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 450
    assert text.count("![") == 2 and text.count("```") == 2, "two pictures, and one block with two commands"


def test_readme_and_start_page_link_the_same_notebooks():
    def notebooks(page: Path) -> set[str]:
        links = LINK.findall(page.read_text())
        return {Path(link).name for link in links if link.endswith(".ipynb")}

    existing = {path.name for path in (ROOT / "notebooks").glob("*/*.ipynb")}
    assert notebooks(ROOT / "README.md") == notebooks(START) == existing


def test_the_term_s_calendar_names_the_notebooks_of_the_map():
    with (ROOT / "docs" / "term.csv").open(newline="", encoding="utf-8") as calendar:
        weeks = [
            (row["Subject"], row["Description"].split()[2].rstrip(";")) for row in csv.DictReader(calendar)
        ]
    start = (ROOT / "solutions" / "start.py").read_text(encoding="utf-8")
    on_the_map = re.findall(r"^# \| (\d\d|P) \| \[([^]]+)\]\((\w+)/", start, re.MULTILINE)
    assert weeks and weeks == [(f"{number} · {title}", name) for number, title, name in on_the_map]


def test_the_map_names_what_unlocks_what_from_both_sides():
    rows = list(ROW.finditer(START.read_text()))
    assert [row["number"] for row in rows] == [*(f"{number:02}" for number in range(1, len(rows))), "P"]
    needs = {(need, row["number"]) for row in rows for need in re.findall(r"\d\d|P", row["needs"])}
    unlocks = {(row["number"], other) for row in rows for other in re.findall(r"\d\d|P", row["unlocks"])}
    last = {pair for pair in unlocks if pair[1] == "12"}  # 12 needs all
    assert needs == unlocks - last
