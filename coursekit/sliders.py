"""`interact(draw, …)`: sliders above a picture that remains in a saved notebook.

ipywidgets' own `interact` draws inside a widget, which disappears with its kernel, so that a notebook opened later shows an error.
Here the controls are a widget, whereas the result of `draw` is an ordinary output, which is updated when a control changes. Drawing
takes place between cells, in the kernel's main thread: the course's JupyterLab settings switch `commsOverSubshells` off,
because pyplot and `capture_output` are not safe in two threads at once (jupyterlab/jupyterlab#19719).
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from IPython.display import display
from IPython.utils.capture import RichOutput, capture_output


@dataclass(frozen=True)
class Shown:
    """Everything that `draw` printed and displayed, as one output."""

    printed: str
    outputs: tuple[RichOutput, ...]

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        plain = [output.data.get("text/plain", "") for output in self.outputs]
        html = [
            output.data.get("text/html") or _preformatted(text)
            for output, text in zip(self.outputs, plain, strict=True)
        ]
        if self.printed:
            plain.insert(0, self.printed.rstrip())
            html.insert(0, _preformatted(self.printed))
        return {"text/plain": "\n".join(plain), "text/html": "".join(html)}


def interact(draw: Callable[..., None], by_button: bool = False, **controls: Any) -> None:
    """Call `draw` with the values of the controls, and again whenever one of them changes (or its button is pressed).

    A control is a widget, or a value from which ipywidgets makes one: (0, 5) gives a slider, a list or dict a menu.
    """
    import ipywidgets  # start-up: grading does not need it

    panel = ipywidgets.interactive(lambda **values: None, **controls)
    widgets = dict(zip(controls, panel.kwargs_widgets, strict=True))
    visible = [widget for widget in widgets.values() if isinstance(widget, ipywidgets.DOMWidget)]
    button = ipywidgets.Button(description="Run")

    def drawn() -> Shown:
        with capture_output(stderr=False) as captured:
            draw(**{name: widget.value for name, widget in widgets.items()})
        return Shown(captured.stdout, tuple(captured.outputs))

    display(ipywidgets.VBox([*visible, button] if by_button else visible))
    handle = display(drawn(), display_id=True)

    def renew(change: Any) -> None:
        handle.update(drawn())

    if by_button:
        button.on_click(renew)
        return
    for widget in visible:
        widget.observe(renew, names="value")


def text_box(value: str, description: str) -> Any:
    """A control for `interact`: a box for a text, which counts once it is finished with Enter."""
    import ipywidgets  # start-up: grading does not need it

    return ipywidgets.Text(value=value, description=description, continuous_update=False)


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
