"""The pages for an instructor: HTML that needs no network and runs nothing of a student's."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from autograder.files import write_product


def write_page(root: Path, output: Path, template: str, contents: Mapping[str, object]) -> None:
    """Fill in a template. Raises CourseError where `output` is a file of somebody else."""
    environment = Environment(
        loader=PackageLoader("autograder"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["plain"] = _plain
    write_product(root, output, environment.get_template(template).render(contents))


def _plain(text: str) -> str:
    """Without signs that a browser does not show or that turn the direction of writing."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
