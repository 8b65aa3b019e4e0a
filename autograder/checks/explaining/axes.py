"""Axes of an answer in words, counted from the end: inputs may have one batch axis more or less."""

from collections.abc import Sequence


def axis_name(axis: int, ndim: int, names: str = "") -> str:
    """Axis −1, −2, … of an array of `ndim` axes: its name in `names`, or its place."""
    axes = names.split()
    if len(axes) >= -axis and axes.count(axes[axis]) == 1:
        return f"the axis {axes[axis]}"
    if ndim == 1:
        return "the vector"
    return "the last axis" if axis == -1 else f"axis {axis}".replace("-", "−")


def swap_name(left: int, right: int, ndim: int, names: str = "") -> str:
    """Two axes: "the axes query and key"."""
    axes = names.split()
    if len(axes) >= -min(left, right) and axes[left] != axes[right]:
        return f"the axes {axes[left]} and {axes[right]}"
    if (left, right) == (-2, -1):
        return "rows and columns" if ndim == 2 else "the last two axes"
    return f"the axes {left} and {right}".replace("-", "−")


def common_axes(shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """The axes −n … −1 that arrays of these shapes all have."""
    return list(range(-min(map(len, shapes)), 0)) if shapes else []
