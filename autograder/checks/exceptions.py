"""The exceptions that stop a cell: a check did not pass, or was called wrongly. They are shown without a traceback."""


class CheckFailed(AssertionError):
    """A check that did not pass. `brief` is the line that is left to say where its card stands above it."""

    def __init__(self, text: str, brief: str = ""):
        super().__init__(text)
        self.brief = brief

    def _render_traceback_(self) -> list[str]:
        return [self.brief or str(self)]


class Unanswered(CheckFailed):
    """A check of a function that is still the stub, or that waits for one: `needs` is its name."""

    def __init__(self, text: str, needs: str, brief: str = ""):
        super().__init__(text, brief)
        self.needs = needs


class WrongCall(TypeError):
    """`check`, `hint`, `predict`, `reveal` or `case` was called with something else than it takes."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
