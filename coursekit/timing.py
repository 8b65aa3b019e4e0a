"""How long a computation takes."""

from collections.abc import Callable
from time import perf_counter


def milliseconds(run: Callable[[], object], repeats: int = 5) -> float:
    """The time of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(1000 * (perf_counter() - start))
    return min(times)
