"""bertviz's three attention views without a network: in JupyterLab, and in the HTML pages made from notebooks.

    head_view(attention, tokens, layer=2, heads=[4])        # lines from each token to those it attends to
    model_view(attention, tokens)                           # all heads of all layers, small
    neuron_view(attention, queries, keys, tokens, layer=2, head=4)

bertviz (Vig, 2019) writes pages that fetch d3 and jQuery from a server; the copies in `vendor/` replace them. Each view is a separate page in
an <iframe>, so that it cannot affect the notebook, and is compressed to a few dozen kilobytes.
"""

import base64
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import bertviz
import bertviz.neuron_view
from IPython.display import display
from jaxtyping import Float
from torch import Tensor

VENDOR = Path(__file__).parent / "vendor"
LIBRARIES = ("d3-part.min.js", "jquery.slim.min.js")
WEIGHT_DIGITS, VECTOR_DIGITS = 3, 2
"""The number of decimal places of weights and vectors. More would not be visible and would make the page larger."""

# bertviz requests its two libraries from require.js. They are already loaded, so this passes them on.
REQUIRE = """
var require = {config: function () {}};
function requirejs(names, run) { run(window.jQuery, window.d3); }
"""

# bertviz draws with a fixed width in pixels; in a narrow notebook the page is scaled down.
MODEL_WIDTH, NEURON_WIDTH = 990, 1030
FIT = "document.body.style.zoom = Math.min(1, (window.innerWidth - 12) / {width});"

# The page is unpacked by the browser (DecompressionStream: Chrome 80, Firefox 113, Safari 16.4) and replaces this page.
UNPACK = """<!doctype html><meta charset="utf-8"><p id="note">This view needs JavaScript.</p><script>
(async () => {
  const packed = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const page = await new Response(unpacked).text();
  document.open(); document.write(page); document.close();
})().catch((error) => { document.getElementById("note").textContent = "This view cannot be shown: " + error; });
</script>"""


@dataclass(frozen=True)
class View:
    """An interactive page inside a notebook; `text/plain` describes its content."""

    page: str
    height: int
    alt: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        packed = gzip.compress(self.page.encode(), compresslevel=9, mtime=0)
        srcdoc = escape(UNPACK % base64.b64encode(packed).decode(), quote=True)
        frame = (
            f'<iframe title="{escape(self.alt, quote=True)}" sandbox="allow-scripts" srcdoc="{srcdoc}" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )
        return {"text/plain": f"Interactive view: {self.alt}", "text/html": frame}


def head_view(
    attention: Float[Tensor, "L H T T"],
    tokens: Sequence[str],
    layer: int = 0,
    heads: Sequence[int] | None = None,
) -> None:
    """Lines from each token (left) to those it attends to (right), with one colour for each head; the layer can be chosen.

    `heads` lists the heads that are switched on at first; the default is all heads.
    """
    made = bertviz.head_view(
        _for_bertviz(attention, WEIGHT_DIGITS),
        list(tokens),
        layer=layer,
        heads=None if heads is None else list(heads),
        html_action="return",
    )
    alt = f"bertviz head view of {len(tokens)} tokens, {_size(attention)}, beginning with layer {layer}."
    display(View(_page(made.data), 110 + 23 * len(tokens), alt))


def model_view(attention: Float[Tensor, "L H T T"], tokens: Sequence[str]) -> None:
    """All heads (across) of all layers (down) at once; a click on one enlarges it."""
    made = bertviz.model_view(
        _for_bertviz(attention, WEIGHT_DIGITS), list(tokens), display_mode="light", html_action="return"
    )
    L, H, T, _ = attention.shape
    height = 60 + max(round(L * (84 * T / H + 10)) + 40, 18 * T + 70)
    alt = f"bertviz model view of {len(tokens)} tokens, {_size(attention)}."
    display(View(_page(made.data, MODEL_WIDTH), height, alt))


def neuron_view(
    attention: Float[Tensor, "L H T T"],
    queries: Float[Tensor, "L H T d"],
    keys: Float[Tensor, "L H T d"],
    tokens: Sequence[str],
    layer: int = 0,
    head: int = 0,
) -> None:
    """How one head computes its weights: query times key, coordinate by coordinate, then the softmax.

    `tokens` begin with [CLS] and end with [SEP]. Point at a token on the left and press the plus sign.
    """
    replay = _Replay(attention, queries, keys, tuple(tokens))
    made = bertviz.neuron_view.show(
        replay,
        "bert",
        replay,
        " ".join(tokens[1:-1]),
        display_mode="light",
        layer=layer,
        head=head,
        html_action="return",
    )
    alt = (
        f"bertviz neuron view of {len(tokens)} tokens, {_size(attention)}, queries and keys with {queries.shape[-1]} dimensions, "
        f"beginning with layer {layer}, head {head}."
    )
    display(View(_page(made.data, NEURON_WIDTH), 190 + 26 * len(tokens), alt))


@dataclass(frozen=True)
class _Replay:
    """A substitute for the model and the tokeniser that bertviz's neuron view expects; it returns results that were computed before.

    bertviz contains its own models of 2019 for this view; with this class the view shows any model.
    """

    attention: Float[Tensor, "L H T T"]
    queries: Float[Tensor, "L H T d"]
    keys: Float[Tensor, "L H T d"]
    tokens: tuple[str, ...]

    cls_token, sep_token = "[CLS]", "[SEP]"

    def eval(self) -> None:
        pass

    def __call__(self, token_ids: Tensor) -> tuple[list[dict[str, Tensor]]]:
        parts = (
            _for_bertviz(self.attention, WEIGHT_DIGITS),
            _for_bertviz(self.queries, VECTOR_DIGITS),
            _for_bertviz(self.keys, VECTOR_DIGITS),
        )
        return (
            [
                dict(zip(("attn", "queries", "keys"), layer, strict=True))
                for layer in zip(*parts, strict=True)
            ],
        )

    def tokenize(self, text: str) -> list[str]:
        return list(self.tokens[1:-1])

    def convert_tokens_to_ids(self, tokens: Sequence[str]) -> list[int]:
        return list(range(len(tokens)))


def _for_bertviz(values: Float[Tensor, "L H T n"], digits: int) -> list[Float[Tensor, "1 H T n"]]:
    """One tensor for each layer, with a batch of one; rounded, and in double precision, so that few digits are written."""
    return list(values.detach().double().round(decimals=digits)[:, None])


def _page(fragment: str, width: int = 0) -> str:
    """A whole page from what bertviz returns, with the libraries inside instead of an address."""
    fit = FIT.format(width=width) if width else ""
    inside = re.sub(r'<script src="https?://[^"]*"></script>', "", fragment)
    return (
        f'<!doctype html><meta charset="utf-8"><body style="margin:4px;background:white;min-width:{width}px">'
        f"<script>{fit}{_libraries()}{REQUIRE}</script>{inside}"
    )


@cache
def _libraries() -> str:
    return "\n".join((VENDOR / name).read_text(encoding="utf-8") for name in LIBRARIES)


def _size(attention: Float[Tensor, "L H T T"]) -> str:
    return f"{attention.shape[0]} layers of {attention.shape[1]} heads"
