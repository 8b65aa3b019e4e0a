"""Buttons that open the repository on a machine of somebody else's: Codespaces, Binder."""

import re
from html import escape
from urllib.parse import quote

GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)/?")
HEADING = "## Where you can work\n"
START = quote("lab/tree/notebooks/start.ipynb", safe="")


def hosts(repository: str) -> dict[str, str]:
    """{words: address} of the hosts that open a repository with this address; none where it is not known."""
    if not repository:
        return {}
    if github := GITHUB.fullmatch(repository):
        return {
            "Open in Codespaces": f"https://codespaces.new/{github[1]}",
            "Open on Binder": f"https://mybinder.org/v2/gh/{github[1]}/HEAD?urlpath={START}",
        }
    return {
        "Open on Binder": f"https://mybinder.org/v2/git/{quote(repository, safe='')}/HEAD?urlpath={START}"
    }


def offer_hosts(page: str, repository: str) -> str:
    """The Markdown of a page, with a button for each host below its heading on where to work.

    They are words, not the pictures that the hosts hand out: a page of the website loads nothing from elsewhere.
    """
    buttons = "\n".join(
        f'<a class="btn btn-outline-primary" href="{escape(address)}">{words}</a>'
        for words, address in hosts(repository).items()
    )
    return page.replace(HEADING, f"{HEADING}\n{buttons}\n", 1) if buttons else page
