"""The console command, and `python -m autograder`."""

import gc
import os
import sys

from autograder.startup import THRESHOLDS


def main() -> None:
    """Run the command. What is imported does not become garbage, so the collector never looks at it."""
    try:
        os.getcwd()
    except FileNotFoundError:
        sys.exit(
            "error The folder in which this command was started has been deleted. Go to the course's folder with `cd` and run the "
            "command again."
        )
    gc.disable()
    from autograder.cli import main as command  # start-up: before the collector is frozen

    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
    command()


if __name__ == "__main__":
    main()
