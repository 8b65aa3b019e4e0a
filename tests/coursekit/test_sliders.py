"""A slider's picture is an output like any other: it is saved, and renewed when the slider moves."""

import pytest

from tests.notebooks.running import kernel, outputs_of

WIDGET = "application/vnd.jupyter.widget-view+json"
BEGIN = """
import ipywidgets
from coursekit.sliders import interact

def draw(n, word="cell"):
    print(f"{word}: {n} < {n + 1}")

slider = ipywidgets.IntSlider(1, max=5)
"""


def updates(client, source: str) -> list[dict]:
    """The outputs that running `source` renews."""
    client.execute(source)
    found = []
    while True:
        message = client.get_iopub_msg(timeout=10)
        if message["header"]["msg_type"] == "update_display_data":
            found.append(message["content"]["data"])
        if message["content"].get("execution_state") == "idle":
            return found


@pytest.mark.slow
def test_what_is_drawn_stands_below_the_slider_and_follows_it():
    with kernel({}) as client:
        controls, shown = [o.data for o in outputs_of(BEGIN + "interact(draw, n=slider)", client)]
        assert WIDGET in controls
        assert shown == {"text/plain": "cell: 1 < 2", "text/html": "<pre>cell: 1 &lt; 2\n</pre>"}
        assert [data["text/plain"] for data in updates(client, "slider.value = 4")] == ["cell: 4 < 5"]


def test_pictures_keep_their_description_and_a_button_waits():
    source = (
        BEGIN
        + """
from IPython.display import HTML, display
made, Button = [], ipywidgets.Button
ipywidgets.Button = lambda **options: made.append(Button(**options)) or made[-1]
interact(lambda n: display(HTML(f"<img alt='bank {n}'>")), by_button=True, n=slider)
ipywidgets.Button = Button
"""
    )
    with kernel({}) as client:
        controls, shown = [o.data for o in outputs_of(source, client)]
        assert shown["text/html"] == "<img alt='bank 1'>"
        assert updates(client, "slider.value = 3") == []
        assert [data["text/html"] for data in updates(client, "made[0].click()")] == ["<img alt='bank 3'>"]
