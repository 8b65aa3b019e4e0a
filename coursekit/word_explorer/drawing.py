"""The picture: for each model, the path of a word from layer to layer between its senses, and the words that move it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from jaxtyping import Float
from torch import Tensor

from coursekit.plots import BLUE, GREEN, ORANGE, PINK
from coursekit.word_explorer.plane import Plane, corners
from coursekit.word_explorer.readers import Sentence

SENSE_COLOURS = (BLUE, ORANGE, GREEN, PINK)
PATHS = (
    ("#111111", "", 4, "sentence 1"),
    ("#a3005c", "5 3", 7, "sentence 2"),
    ("#5b3fd6", "2 2", 10, "sentence 3"),
)
"""Colour, dashes, size of the end, and name of each sentence's path. Later ends are rings, which show one that lies below."""
WIDTH, HEIGHT, MARGIN = 230, 230, 26
WIDEST = 2.4
"""Positions further out are drawn at the edge."""

STYLE = """<style>
.word-explorer {container-type: inline-size; color: #111; background: #fff; padding: 8px; font-size: 13px}
.word-explorer > div {display: grid; grid-template-columns: 1fr 1fr; gap: 12px; max-width: 1100px}
@container (min-width: 720px) {.word-explorer > div {grid-template-columns: repeat(4, 1fr)}}
.word-explorer > div.one {grid-template-columns: 1fr}
.word-explorer figure {margin: 0; max-width: 330px}
.word-explorer figcaption {font-weight: 600} .word-explorer p {margin: 3px 0; line-height: 1.7}
.word-explorer small {font-weight: 400; color: #444} .word-explorer figcaption small {display: block} .word-explorer mark {color: #111; padding: 1px 2px; border-radius: 2px}
.word-explorer b {text-decoration: underline}
</style>"""


@dataclass(frozen=True)
class Walk:
    """One sentence as one model reads it: the word's path, and the pull of each word of the sentence (None without attention)."""

    sentence: Sentence
    path: Float[Tensor, "L+1 P"]
    pull: Float[Tensor, "P W"] | None


@dataclass(frozen=True)
class Panel:
    """One model's part of the picture."""

    name: str
    how: str
    plane: Plane
    walks: Sequence[Walk]


@dataclass(frozen=True)
class Picture:
    """All models side by side, as HTML; `text/plain` says the same in words."""

    senses: Sequence[str]
    panels: Sequence[Panel]

    def readings(self, sentence: int) -> dict[str, str]:
        """For each model with layers, the sense whose mean is nearest to the word's last vector in a sentence (counted from 0)."""
        return {
            panel.name: self.senses[panel.plane.nearest(panel.walks[sentence].path[-1])]
            for panel in self.panels
            if len(panel.plane.maps) > 1
        }

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        html = "".join(_figure(panel, self.senses) for panel in self.panels)
        one = ' class="one"' if len(self.panels) == 1 else ""
        return {
            "text/plain": "\n".join(described(panel, self.senses) for panel in self.panels),
            "text/html": f'{STYLE}<div class="word-explorer"><div{one}>{html}</div></div>',
        }


def described(panel: Panel, senses: Sequence[str]) -> str:
    """Where the word ends in each sentence, and which word moves it most, in words."""
    ends = []
    for walk, (*_, name) in zip(panel.walks, PATHS, strict=False):
        place = f"at {float(walk.path[-1, 0]):+.1f}, " if len(senses) == 2 else ""
        end = f"{name}: {place}nearest to {senses[panel.plane.nearest(walk.path[-1])]}"
        others = [i for i in range(len(walk.sentence.words)) if i != walk.sentence.position]
        if walk.pull is not None and others:
            most = max(others, key=lambda i: float(walk.pull[:, i].norm()))
            first, last = walk.sentence.words[most]
            towards = senses[_towards(walk.pull[:, most], len(senses))[0]]
            end += f", moved most by “{walk.sentence.text[first:last]}”, towards {towards}"
        ends.append(end)
    layers = len(panel.plane.maps) - 1
    after = f" after {layers} layers" if layers else ""
    return f"{panel.name} ({panel.how}){after}: {'; '.join(ends)}."


def _figure(panel: Panel, senses: Sequence[str]) -> str:
    draw = _lanes if len(senses) == 2 else _polygon
    label = escape(described(panel, senses), quote=True)
    shapes = draw(panel, senses)
    words = "".join(_shaded(walk, name, senses) for walk, (*_, name) in zip(panel.walks, PATHS, strict=False))
    return (
        f"<figure><figcaption>{escape(panel.name)} <small>{escape(panel.how)}</small></figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" aria-label="{label}">{shapes}</svg>{words}</figure>'
    )


def _lanes(panel: Panel, senses: Sequence[str]) -> str:
    """Two senses: across, the position between their means; upwards, the layers."""
    layers = len(panel.plane.maps) - 1

    def x(place: float) -> float:
        return WIDTH / 2 + max(-WIDEST, min(WIDEST, place)) / WIDEST * (WIDTH / 2 - 8)

    def y(layer: int) -> float:
        bottom, top = HEIGHT - MARGIN - 10, 14
        return (bottom + top) / 2 if not layers else bottom - (bottom - top) * layer / layers

    parts = []
    for sense, places in enumerate(panel.plane.held_out):
        middle, spread = places[..., 0].mean(dim=0), places[..., 0].std(dim=0)
        edge = [(x(float(middle[i] - spread[i])), y(i)) for i in range(layers + 1)]
        edge += [(x(float(middle[i] + spread[i])), y(i)) for i in reversed(range(layers + 1))]
        parts.append(f'<polygon points="{_points(edge)}" fill="{_colour(sense)}" opacity=".18"/>')
    for sense, corner in enumerate((-1.0, 1.0)):
        parts.append(
            f'<line x1="{x(corner):.1f}" x2="{x(corner):.1f}" y1="6" y2="{HEIGHT - MARGIN}" stroke="{_colour(sense)}" stroke-width="2"/>'
            f'<text x="{x(corner):.1f}" y="{HEIGHT - 8}" text-anchor="middle" font-size="13" fill="#111">{escape(senses[sense])}</text>'
        )
    if layers:
        parts.append(_note(4, y(layers) + 4, f"layer {layers}") + _note(4, y(0) + 4, "layer 0"))
    for walk, style in zip(panel.walks, PATHS, strict=False):
        parts.append(_path([(x(float(place[0])), y(i)) for i, place in enumerate(walk.path)], *style))
    return "".join(parts)


def _polygon(panel: Panel, senses: Sequence[str]) -> str:
    """Three or more senses: each mean is a corner; the path starts in the middle and ends at the larger dot."""
    scale = 66

    def at(place: Tensor) -> tuple[float, float]:
        x, y = (max(-1.5, min(1.5, float(value))) for value in place)
        return WIDTH / 2 + scale * x, HEIGHT / 2 + 14 - scale * y

    ends = [at(corner) for corner in panel.plane.corners]
    parts = [f'<polygon points="{_points(ends)}" fill="none" stroke="#bbb"/>']
    for sense, places in enumerate(panel.plane.held_out):
        parts += [_dot(*at(place), _colour(sense), 3, ' opacity=".45"') for place in places[:, -1]]
    for sense, (x, y) in enumerate(ends):
        above = y < HEIGHT / 2
        parts.append(
            _dot(x, y, _colour(sense), 6)
            + f'<text x="{x:.1f}" y="{y - 11 if above else y + 21:.1f}" text-anchor="middle" font-size="13" fill="#111">{escape(senses[sense])}</text>'
        )
    for walk, style in zip(panel.walks, PATHS, strict=False):
        parts.append(_path([at(place) for place in walk.path], *style))
    return "".join(parts)


def _path(places: list[tuple[float, float]], colour: str, dashes: str, size: int, name: str) -> str:
    small = "" if len(places) > 12 else "".join(_dot(x, y, colour, 2) for x, y in places[:-1])
    line = f'<polyline points="{_points(places)}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    end = _dot(*places[-1], "none" if dashes else colour, size, f' stroke="{colour}" stroke-width="2.5"')
    return f"<g><title>{name}</title>{line}{small}{end}</g>"


def _shaded(walk: Walk, name: str, senses: Sequence[str]) -> str:
    """The sentence with each word shaded in the colour of the sense towards which it pulls; the title says how far."""
    parts = []
    words = walk.sentence.words
    strongest = 0.0 if walk.pull is None else float(walk.pull.norm(dim=0).max())
    for i, (start, end) in enumerate(words):
        text = escape(walk.sentence.text[start:end])
        if i == walk.sentence.position:
            parts.append(f"<b>{text}</b>")
        elif walk.pull is None or not strongest:
            parts.append(text)
        else:
            sense, size = _towards(walk.pull[:, i], len(senses))
            strength = round(255 * 0.7 * size / strongest)
            colour = f"{_colour(sense)}{strength:02x}"
            title = f"{size:.2f} towards {senses[sense]}"
            parts.append(
                f'<mark style="background: {colour}" title="{escape(title, quote=True)}">{text}</mark>'
            )
    return f"<p><small>{name}:</small> {' '.join(parts)}</p>"


def _towards(pull: Float[Tensor, " P"], senses: int) -> tuple[int, float]:
    """The sense towards which a pull points most, and the size of the pull in this direction."""
    along = corners(senses) @ pull
    return int(along.argmax()), float(along.max())


def _colour(sense: int) -> str:
    return SENSE_COLOURS[sense % len(SENSE_COLOURS)]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _dot(x: float, y: float, colour: str, radius: int, more: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"{more}/>'


def _note(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" fill="#555">{text}</text>'
