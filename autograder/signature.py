"""Whether files may have changed, without reading them. Imports little: the command does before anything else."""

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b


def signature(roots: Iterable[str | os.PathLike]) -> bytes:
    """Of the files below some folders, or of these files: which there are, of what size and age."""
    digest = blake2b(digest_size=16)
    for root in roots:
        for path, found in sorted(_files(os.fspath(root))):
            digest.update(f"{path} {found.st_ino} {found.st_size} {found.st_mtime_ns}\0".encode())
    return digest.digest()


def _files(root: str) -> Iterator[tuple[str, os.stat_result]]:
    if not os.path.isdir(root):
        if os.path.exists(root):
            yield root, os.stat(root)
        return
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.is_file():
                yield entry.path, entry.stat()
