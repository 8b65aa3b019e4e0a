"""Run as root, before everything: gather what the jail is to show where an unprivileged user can reach it.

python -I -S stage.py FOLDER JSON-LIST-OF-PATHS COMMAND…: in a mount namespace of its own, bind the n-th path
to FOLDER/n and execute the command. So a checkout or an interpreter under /root serves the jail, and no
folder's mode has to change. A script by itself: it must not need the packages that it is about to show.
"""

import ctypes
import json
import os
import stat
import sys

NEWNS, BIND, RECURSIVE, PRIVATE = 0x20000, 4096, 16384, 1 << 18

libc = ctypes.CDLL(None, use_errno=True)


def main(folder: str, paths: list[str], command: list[str]) -> None:
    """Bind the paths below `folder` and become the command. Ends with a sentence where a system call fails."""
    _check(libc.unshare(NEWNS), "unshare")
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    # Opened before the folder's mount hides them, and after unshare: a bind cannot cross namespaces.
    handles = [os.open(path, os.O_PATH) for path in paths]
    _mount("tmpfs", folder, "tmpfs", 0, "mode=755")
    for number, handle in enumerate(handles):
        place = f"{folder}/{number}"
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_CREAT, 0o600))
        _mount(f"/proc/self/fd/{handle}", place, None, BIND | RECURSIVE)
    os.execvp(command[0], command)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    arguments = [None if text is None else text.encode() for text in (source, target, kind)]
    _check(
        libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None), f"mount {source} on {target}"
    )


def _check(result: int, name: str) -> None:
    if result == -1:
        sys.exit(f"root cannot prepare the jail: {name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
