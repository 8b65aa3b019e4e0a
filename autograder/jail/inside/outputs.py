"""What a cell shows, as notebook outputs (nbformat 4), kept within bounds."""

import base64
import io
import json
from typing import Any

from .limits import Limits

SHOWN_TYPES = (
    "text/plain",
    "text/html",
    "text/markdown",
    "text/latex",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
)
PICTURE_TYPES = ("image/svg+xml", "image/png", "image/jpeg")

MOST_OUTPUTS = 500  # of one cell

Output = dict[str, Any]


class Outputs:
    """Collects the outputs of one cell after another, in the order in which they appear.

    Nothing in here raises for being too much: the rest is dropped, and a sentence says so.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.room = limits.output_bytes // 4  # for the displays of the whole notebook; answers have the rest
        self._begin()

    def take(self) -> list[Output]:
        """The outputs of the cell that ended; the next cell begins with none."""
        taken = self._outputs
        self._begin()
        return taken

    def write(self, name: str, text: str) -> None:
        """Append to the stream "stdout" or "stderr"."""
        room = min(self.limits.stream_bytes - self._written[name], self.room)
        shortened = encodable(text[: max(room, 0)])
        self._written[name] += len(shortened)
        self.room -= len(shortened)
        if len(text) > room and name not in self._cut:
            self._cut.add(name)
            shortened += f"\n… the rest of {name} was not kept\n"
        if shortened:
            self._append_to_stream(name, shortened)

    def show(
        self, kind: str, data: dict[str, Any], shown_as: str | None = None, update: bool = False
    ) -> None:
        """Append a "display_data" or "execute_result". `shown_as` is the id by which it may be updated."""
        output: Output = {"output_type": kind, "data": self._fitting(data), "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = None
        place = self._displays.get(shown_as) if update and shown_as is not None else None
        if place is not None:
            place["data"] = output["data"]
            return
        self._add(output)
        if shown_as is not None:
            self._displays[shown_as] = output

    def fail(self, ename: str, evalue: str, traceback: list[str]) -> None:
        """Append an error."""
        texts = {"ename": ename[:200], "evalue": evalue[:2000]}
        output: Output = {"output_type": "error", **{name: encodable(text) for name, text in texts.items()}}
        output["traceback"] = [encodable(line[:2000]) for line in traceback[-40:]]
        del self._outputs[MOST_OUTPUTS - 1 :]  # an error is shown whatever else there was
        self._outputs.append(output)

    def clear(self) -> None:
        """Forget what the cell has shown so far."""
        self._outputs: list[Output] = []
        self._displays: dict[str, Output] = {}  # those that may be updated, by their ids

    def _begin(self) -> None:
        self.clear()
        self._written = {"stdout": 0, "stderr": 0}
        self._cut: set[str] = set()
        self._pictures = 0

    def _append_to_stream(self, name: str, text: str) -> None:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def _add(self, output: Output) -> None:
        if len(self._outputs) < MOST_OUTPUTS:
            self._outputs.append(output)

    def _fitting(self, data: dict[str, Any]) -> dict[str, str]:
        """The representations that are shown and for which there is room."""
        representations = {kind: _text(data[kind]) for kind in SHOWN_TYPES if kind in data}
        if any(kind in representations for kind in PICTURE_TYPES):
            self._pictures += 1
            if self._pictures > self.limits.images_per_cell:
                return {
                    "text/plain": f"(at most {self.limits.images_per_cell} pictures of a cell are shown; this one was not kept)"
                }
        size = sum(len(text) for text in representations.values())
        if size > self.room:
            return {"text/plain": f"(an output of {size} characters, for which there was no room)"}
        self.room -= size
        return representations or {"text/plain": "(an output of a kind that is not shown)"}


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of a cell."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: str, outputs: Outputs):
        super().__init__()
        self._name, self._outputs = name, outputs

    @property
    def name(self) -> str:
        """ "<stdout>" or "<stderr>", as Python calls its own streams."""
        return f"<{self._name}>"

    def write(self, text: str) -> int:
        """Add text to what the cell shows. Returns its length, whether or not all of it was kept."""
        if not isinstance(text, str):
            raise TypeError(f"write() takes a str, not {type(text).__name__}")
        self._outputs.write(self._name, text)
        return len(text)

    def fileno(self) -> int:
        """The process's own, as in a kernel: what other programs write to it is lost."""
        return 1 if self._name == "stdout" else 2

    def writable(self) -> bool:
        """Always true: `close` does nothing."""
        return True

    def close(self) -> None:
        """A notebook's streams stay open."""


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return encodable(value if isinstance(value, str) else json.dumps(value, default=repr))


def encodable(text: str) -> str:
    """Lone halves of characters, which no file can hold, become question marks."""
    return text.encode("utf-8", "replace").decode()
