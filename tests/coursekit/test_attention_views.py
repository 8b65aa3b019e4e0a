"""bertviz's views are whole pages: what they need lies inside them."""

import base64
import gzip
import html
import re

import pytest
import torch

from coursekit import attention_views

TOKENS = ["[CLS]", "a", "dark", "cell", "[SEP]"]


def made_up_views(monkeypatch, heads=None) -> list[str]:
    """What a notebook holds of the three views of a made-up attention; the first view shows these heads, or all."""
    shown = []
    monkeypatch.setattr(attention_views, "display", shown.append)
    queries, keys = torch.randn(2, 2, 3, 5, 4, generator=torch.Generator().manual_seed(0))
    attention = (queries @ keys.mT / 2).softmax(dim=-1)
    attention_views.head_view(attention, TOKENS, layer=1, heads=heads)
    attention_views.model_view(attention, TOKENS)
    attention_views.neuron_view(attention, queries, keys, TOKENS, layer=1, head=2)
    return [view._repr_mimebundle_()["text/html"] for view in shown]


@pytest.fixture
def views(monkeypatch):
    """The three views, as (what the notebook holds, the page inside it)."""
    return [unpacked(view) for view in made_up_views(monkeypatch, heads=[2])]


def unpacked(outside: str) -> tuple[str, str]:
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', outside)[1])
    return outside, gzip.decompress(base64.b64decode(re.search(r'atob\("([^"]*)"\)', page)[1])).decode()


def test_a_view_loads_nothing_from_anywhere(views):
    for outside, page in views:
        assert not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=", page)
        assert not re.search(r"\ssrc=", outside)
        assert 'sandbox="allow-scripts"' in outside


def test_a_view_holds_its_libraries_its_tokens_and_rounded_numbers(views):
    for outside, page in views:
        assert "jQuery v3.7.1" in page and "Parts of d3 5.16.0" in page
        assert all(f'"{token}"' in page for token in TOKENS)
        assert not re.search(r"0\.\d{4,}, 0\.\d{4,}", page)
        assert len(outside) < 100_000
    assert '"queries"' in views[2][1] and '"keys"' in views[2][1]


def test_the_same_view_is_the_same_text_twice():
    view = attention_views.View("<p>page</p>", 100, "a page")
    assert view._repr_mimebundle_() == view._repr_mimebundle_()
    assert view._repr_mimebundle_()["text/plain"] == "Interactive view: a page"
