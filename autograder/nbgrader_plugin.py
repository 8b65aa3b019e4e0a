"""What nbgrader_config.py calls. It imports nothing large: our own commands read that file, too."""

from traitlets.config import Config

from autograder.settings import reading_our_own_settings


def configure(c: Config) -> None:
    """Put our steps in the place of nbgrader's (`autograder.nbgrader_steps`), in nbgrader's own programs."""
    if reading_our_own_settings.get():
        return
    from autograder import nbgrader_steps  # start-up: nbgrader takes a second

    nbgrader_steps.configure(c)
