"""Draw docs/images/cell.png for the README: execute notebook 01 and save its figure of "cell" between its three senses.

    python docs/images/cell.py

It also prints the description of the figure, which is its alt text in the README.
"""

import base64
import re
from html import unescape
from pathlib import Path

from nbclient import NotebookClient

from autograder.course import course_root, find_assignment
from autograder.source import read_source

PICTURE = Path(__file__).with_name("cell.png")
FIGURE = re.compile(r'alt="(?P<alt>[^"]*)" src="data:image/png;base64,(?P<data>[^"]+)"')


def main() -> None:
    """Execute the notebook and write the picture."""
    notebook = read_source(find_assignment(course_root(PICTURE.parent), "01_static_embeddings").source)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    pages = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output and "pictures.stranded" in cell.source
    ]
    figure = next(found for page in pages if (found := FIGURE.search(page)))
    PICTURE.write_bytes(base64.b64decode(figure["data"]))
    print(f"wrote {PICTURE}\n{unescape(figure['alt'])}")


if __name__ == "__main__":
    main()
