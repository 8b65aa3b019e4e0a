"""What a submission may use: every limit of the jail in one place."""

import json
from dataclasses import asdict, dataclass

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Generous for an honest notebook, small for the machine that grades a class."""

    cell_seconds: float = 60  # then the cell is interrupted and the notebook goes on
    notebook_seconds: float = 300  # then everything is killed
    memory_bytes: int = 2048 * MEGABYTE  # of all processes together, beyond what they share with the server
    processes: int = 32  # threads count
    cores: float = 1.0  # of the processors, for all processes together, where a control group can be had
    file_bytes: int = 64 * MEGABYTE  # of one file
    scratch_bytes: int = 64 * MEGABYTE  # of /tmp, /dev/shm and the working directory together
    scratch_files: int = 4096
    open_files: int = 128
    stack_bytes: int = 8 * MEGABYTE
    output_bytes: int = 64 * MEGABYTE  # answers and displays of the whole notebook
    stream_bytes: int = 64 << 10  # kept of a cell's stdout, and again of its stderr
    images_per_cell: int = 20

    def __post_init__(self):
        for name, value in asdict(self).items():
            if not value > 0:
                raise ValueError(f"the limit {name} is {value}; it must be above zero")

    def to_json(self) -> str:
        """As a server is given them on its command line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Limits":
        """The inverse of `to_json`. Raises ValueError for a limit that is not above zero."""
        return cls(**json.loads(text))
