"""bertviz's views draw in a browser that has no network, and answer to a click."""

import pytest
from playwright.sync_api import expect

from tests.coursekit.test_attention_views import made_up_views

pytestmark = pytest.mark.browser


@pytest.fixture
def frames(page, tmp_path, monkeypatch):
    """The three views in one page, opened offline; after the test nothing has failed and nothing was asked for."""
    errors, asked = [], []
    file = tmp_path / "views.html"
    file.write_text(f"<!doctype html>{''.join(made_up_views(monkeypatch))}", encoding="utf-8")
    page.context.set_offline(True)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.locator("iframe").nth(2).wait_for()
    yield [page.frame_locator("iframe").nth(number) for number in range(3)]
    assert errors == []
    assert [url for url in asked if url.startswith("http")] == []


def test_head_view_draws_its_lines_and_changes_its_layer(frames):
    head = frames[0]
    head.locator("svg text", has_text="dark").first.wait_for(timeout=20_000)
    assert head.locator("svg line").count() >= 3 * 25
    before = head.locator("svg line").first.get_attribute("style"), head.locator("svg").inner_html()
    head.locator("#layer").select_option("0")
    expect(head.locator("svg")).not_to_have_js_property("innerHTML", before[1])


def test_model_view_enlarges_the_head_that_is_clicked(frames):
    model = frames[1]
    model.locator("svg text", has_text="Heads").wait_for(timeout=20_000)
    assert model.locator("svg text", has_text="dark").count() == 0
    model.locator("svg rect").nth(1).click(force=True)
    model.locator("svg text", has_text="dark").first.wait_for(timeout=20_000)


def test_a_wide_view_fits_a_narrow_notebook(page, frames):
    page.set_viewport_size({"width": 800, "height": 900})
    page.reload()
    neuron = page.frame_locator("iframe").nth(2)
    neuron.locator("#collapsed text", has_text="dark").first.wait_for(timeout=20_000)
    widths = neuron.locator("body").evaluate(
        "body => [body.getBoundingClientRect().right, window.innerWidth]"
    )
    assert widths[0] <= widths[1]


def test_neuron_view_shows_queries_and_keys(frames):
    neuron = frames[2]
    neuron.locator("#collapsed text", has_text="dark").first.wait_for(timeout=20_000)
    expect(neuron.locator("#att_head")).to_have_value("2")
    assert (
        neuron.locator("#expanded rect").count() >= 5 * 4 * 3
    )  # a query, a key and a product for each token
