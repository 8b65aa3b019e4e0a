"""Leave hidden tests out of feedback: their regions, and lines of them quoted in errors, warnings and printed output.

The name, the verdict and the test's own message stay. Student code runs in the same process and can read them; if it prints a test
in disguise, this is not recognised (docs/grading.md).
"""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests

from autograder.source import is_locked, is_task

IN_PLACE = {"code": "# There are hidden tests here; they are not shown.", "markdown": "*Hidden text.*"}
"""What a reader sees in place of a region, by the type of its cell."""
LINE = "(a line of a hidden test)"
PROMPT = re.compile(r"^(?:>>>|\.\.\.|-*>?\s*\d+)\s")  # of doctest, and of IPython's own tracebacks
CARETS = re.compile(r"\s*[\^~]+\s*")
TELLS_NOTHING = re.compile(r"[\w.+-]*:?|\W*")  # "pass", "else:", "2.5", ")": found in any output
WAITING = re.compile(r"(waiting in line \d+), (.*?)(?=</|$)", re.MULTILINE)  # as `alarm` has it
LONG = 80  # characters; a longer line may be cut off where it is quoted


@dataclass(frozen=True)
class HiddenTests:
    """The hidden regions of a graded notebook, between these delimiters of nbgrader."""

    notebook: NotebookNode
    begin: str = ClearHiddenTests.begin_test_delimeter.default_value
    end: str = ClearHiddenTests.end_test_delimeter.default_value

    def left_out(self) -> NotebookNode:
        """A copy of the notebook without them."""
        cells = [NotebookNode(cell, source=self._visible(cell)) for cell in self.notebook.cells]
        if self._secret:
            for cell in cells:
                if "outputs" in cell:
                    cell.outputs = [self._output(output) for output in cell.outputs]
        return NotebookNode(self.notebook, cells=cells)

    def conceal(self, text: str, kept: Collection[str] = ()) -> str:
        """A text in which a line that quotes a hidden one says so instead; lines in `kept` stay."""
        if not self._secret:
            return text
        shown: list[str] = []
        concealed = False
        for line in self._without_waiting(text).split("\n"):
            if concealed and CARETS.fullmatch(line):
                continue
            concealed = line not in kept and any(map(self._is_secret, line.split("\\n")))
            shown.append(line[: len(line) - len(line.lstrip())] + LINE if concealed else line)
        return "\n".join(shown)

    @cached_property
    def _secret(self) -> frozenset[str]:
        """The lines of all regions, but for those that the reader sees elsewhere in the notebook."""
        seen = {line.strip() for cell in self.notebook.cells for line in self._visible(cell).splitlines()}
        lines = {line for cell in self.notebook.cells for line in self._hidden_lines(cell)}
        return frozenset(line for line in lines - seen if not TELLS_NOTHING.fullmatch(line))

    def _visible(self, cell: NotebookNode) -> str:
        regions = self._regions(cell)
        first = {region.start for region in regions}
        within = {number for region in regions for number in region}
        in_place = IN_PLACE.get(cell.cell_type, "")
        lines = enumerate(cell.source.split("\n"))
        return "\n".join(
            in_place if number in first else line
            for number, line in lines
            if number in first or number not in within
        )

    def _hidden_lines(self, cell: NotebookNode) -> Iterator[str]:
        """Stripped. A line within a longer text is what the test says, and no code."""
        lines, texts = cell.source.split("\n"), _inside_texts(cell.source)
        for region in self._regions(cell):
            yield from (lines[number].strip() for number in region if number not in texts)

    def _regions(self, cell: NotebookNode) -> list[range]:
        """The numbers of the lines of each region with its delimiters. Students write in no locked cell."""
        regions: list[range] = []
        if not (is_locked(cell) or is_task(cell)):
            return regions
        lines = cell.source.split("\n")
        start = None
        for number, line in enumerate(lines):
            if start is None and self.begin in line:
                start = number
            elif start is not None and self.end in line:
                regions.append(range(start, number + 1))
                start = None
        return regions if start is None else [*regions, range(start, len(lines))]

    def _is_secret(self, line: str) -> bool:
        line = PROMPT.sub("", line.strip()).strip()
        if line in self._secret or self.begin in line or self.end in line:
            return True
        return len(line) > LONG and any(secret.startswith(line) for secret in self._secret)

    def _without_waiting(self, text: str) -> str:
        """Where a cell ran out of time the line is quoted after its number."""

        def number(match: re.Match[str]) -> str:
            quoted = (secret[:LONG] for secret in self._secret)
            secret = any(line in match[2] or escape(line) in match[2] for line in quoted)
            return match[1] if secret else match[0]

        return WAITING.sub(number, text)

    def _output(self, output: NotebookNode) -> NotebookNode:
        """An output without lines of hidden tests. The message of an error stays."""
        if output.output_type == "stream":
            return NotebookNode(output, text=self.conceal(output.text))
        if output.output_type == "error":
            message = self._without_waiting(output.evalue)
            kept = f"{output.ename}: {message}".split("\n")
            trace = self.conceal("\n".join(output.traceback), kept).split("\n")
            return NotebookNode(output, evalue=message, traceback=trace)
        data = {
            kind: self.conceal(value) if isinstance(value, str) and kind.startswith("text/") else value
            for kind, value in output.data.items()
        }
        return NotebookNode(output, data=NotebookNode(data))


def _inside_texts(source: str) -> set[int]:
    """The numbers of the lines, from 0, that begin within a string."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # magics, say
        return set()
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    return {number for text in texts for number in range(text.lineno, (text.end_lineno or text.lineno) - 1)}
