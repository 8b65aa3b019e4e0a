"""Where the links of the website's sources lead, before a notebook has run."""

import pytest

from autograder.source import read_source
from tests.conftest import ASSIGNMENTS, ROOT
from tools.book import links
from tools.book.layout import source_files


@pytest.mark.slow
def test_every_link_of_every_page_leads_somewhere():
    unrun = {name: read_source(assignment.source) for name, assignment in ASSIGNMENTS.items()}
    sources = dict(source_files(ROOT, list(ASSIGNMENTS.values()), unrun))
    assert len(sources) > 100
    assert links.unresolved(sources) == []


@pytest.mark.slow
def test_a_website_of_one_notebook_has_no_link_to_another():
    """Where a notebook has no page, its title stands alone."""
    name = "02_attention"
    sources = dict(source_files(ROOT, [ASSIGNMENTS[name]], {name: read_source(ASSIGNMENTS[name].source)}))
    assert [page for page in sources if page.startswith("notebooks/")] == [f"notebooks/{name}.ipynb"]
    assert links.unresolved(sources) == []


def test_a_link_to_no_page_or_no_heading_is_named():
    sources = {
        "a/one.md": b"# One\n[two](two.md) [there](../b/two.md#the-x-of-y) [far](https://example.org/x) `[no](link)`",
        "b/two.md": b"# Two\n## The `x` of y\n[root](/a/one.md) [own](#two) [lost](#three) [gone](/c.md)\n\n```\n# Three\n```",
    }
    assert links.unresolved(sources) == [
        ("a/one.md", "two.md"),
        ("b/two.md", "#three"),
        ("b/two.md", "/c.md"),
    ]
