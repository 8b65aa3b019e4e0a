"""What stands in the jail in place of a function or class that an exercise of the notebook asks for."""

from typing import Any, NoReturn


class Withheld:
    """Raises ImportError, with a sentence for the student, as soon as it is used. Importing it harms nothing else."""

    def __init__(self, name: str):
        self.__name__ = name

    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        package, _, own = self.__name__.rpartition(".")
        raise ImportError(
            f"`{own}` of {package} is hidden while this notebook is graded, because an exercise asks you to write it. "
            f"Define `{own}` in the cell of that exercise instead of importing it."
        )

    __call__ = __mro_entries__ = _refuse

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # Python and IPython look whether there is such a method
            raise AttributeError(attribute)
        self._refuse()

    def __or__(self, other: Any) -> "Withheld":
        """In the annotation `Block | None` of another function."""
        return self

    __ror__ = __or__

    def __instancecheck__(self, instance: Any) -> bool:
        """Nothing can be one."""
        return False
