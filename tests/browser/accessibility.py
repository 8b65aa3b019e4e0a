"""What axe-core finds in a page, as the package axe-playwright-python carries it."""

from collections.abc import Sequence

from axe_playwright_python.sync_playwright import Axe

SERIOUS = ("serious", "critical")
JUPYTERLABS_OWN = (
    ".jp-InputArea-editor",
    ".jp-InputPrompt",
    ".jp-OutputPrompt",
    ".jp-Collapser",
    ".jp-cell-toolbar",
)
"""Parts of a notebook's page that JupyterLab draws as it does for everybody."""


def serious_findings(page, within: str = "html", but: Sequence[str] = ()) -> list[str]:
    """A line for each serious or critical finding of axe-core's in the parts of the page that the selector names.

    `but` names parts that are not ours to change.
    """
    part = {"include": [[within]], "exclude": [[selector] for selector in but]}
    options = {
        "resultTypes": ["violations"],
        "preload": False,
    }  # a page on a disk may not fetch its style sheets again
    found = Axe().run(page, part, options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} ({' '.join(node['failureSummary'].split())[:300]})"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]
