"""Which processes a process has left."""

from pathlib import Path


def processes_below(pid: int) -> list[int]:
    """Every process that descends from `pid`, parents first."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]
