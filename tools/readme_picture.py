"""Draw the README's picture: execute notebook 01 and keep its figure of "cell" between its three senses.

    python tools/readme_picture.py

It also prints the figure's description, which stands in the README as its alt text.
"""

import base64
import re
from html import unescape
from pathlib import Path

from nbclient import NotebookClient

from autograder.course import course_root, find_assignment
from autograder.source import read_source

ROOT = course_root(Path(__file__).parent)
PICTURE = ROOT / "docs" / "images" / "cell.png"
FIGURE = re.compile(r'alt="(?P<alt>[^"]*)" src="data:image/png;base64,(?P<data>[^"]+)"')


def main() -> None:
    notebook = read_source(find_assignment(ROOT, "01_static_embeddings").source)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    pages = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output and "pictures.stranded" in cell.source
    ]
    figure = next(found for page in pages if (found := FIGURE.search(page)))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_bytes(base64.b64decode(figure["data"]))
    print(f"wrote {PICTURE}\n{unescape(figure['alt'])}")


if __name__ == "__main__":
    main()
