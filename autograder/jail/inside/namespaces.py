"""From the fork to the student's first line: each wall of the jail, in the order in which it can be built."""

import ctypes
import os
import resource
import shutil
import signal
import threading
from pathlib import Path

from . import seccomp
from .kernel import call, libc, prctl
from .limits import Limits

WORK = Path("/job")  # where the only writable file system is mounted
TEMPORARY, SHARED = Path("/tmp"), Path("/dev/shm")

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = NEWUSER | NEWNS | NEWPID | NEWIPC | NEWNET | NEWUTS | NEWCGROUP
OF_A_SERVER = NEWUSER | NEWNS | NEWPID
ADDRESSES = 4 << 30  # bytes that libraries and kernels may reserve and not use: torch for CUDA reserves 3 GB

NOSUID, NODEV, NOEXEC, READ_ONLY, REMOUNT, BIND, RECURSIVE = 2, 4, 8, 1, 32, 4096, 16384
CAPABILITY_VERSION_3 = 0x20080522


def fork(namespaces: int = EVERY_NAMESPACE) -> int:
    """Fork into new namespaces, as process 1 of its own; 0 in the child.

    One raw clone builds the namespaces while it copies the process. fork, unshare, fork would copy it twice.
    Only for a process with a single thread: what else libc's own fork repairs is the state of other threads.
    """
    python = ctypes.pythonapi
    for hook in (python.PyOS_BeforeFork, python.PyOS_AfterFork_Child, python.PyOS_AfterFork_Parent):
        hook.restype = None
    clone = seccomp.CLONE[seccomp.this_machine()]
    arguments = [ctypes.c_long(value) for value in (clone, namespaces | signal.SIGCHLD, 0, 0, 0, 0)]
    number = _number_kept_by_libc()
    python.PyOS_BeforeFork()
    pid = libc.syscall(*arguments)
    if pid == 0:
        python.PyOS_AfterFork_Child()
        if number is not None:
            number.value = threading.get_native_id()
        return 0
    error = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if pid == -1:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return pid


def enter(limits: Limits, uid: int, gid: int) -> None:
    """Build every wall around this process, which `fork` has just made. `uid` and `gid` are its parent's."""
    os.setsid()  # without a session of its own, kill(0, 9) would reach the server
    map_user(uid, gid)
    mount_scratch(limits)
    mount_own_proc()
    forbid_namespaces()
    limit_resources(limits, own_processes=True)
    seal_own_proc()
    drop_capabilities()
    prctl("no_new_privs", 38, 1)
    seccomp.install()


def open_scratch() -> None:
    """Give the server a place to write in while it imports: bubblewrap has made everything read-only."""
    uid, gid = os.getuid(), os.getgid()
    _unshare(NEWUSER | NEWNS)
    map_user(uid, gid)
    _mount("tmpfs", WORK, "tmpfs", NOSUID | NODEV | NOEXEC, "size=64m,mode=700")


def seal_scratch() -> None:
    """From now on the server cannot write anywhere either, and has no capability to change that."""
    for path in WORK.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    _mount("tmpfs", WORK, None, REMOUNT | READ_ONLY | NOSUID | NODEV | NOEXEC)
    drop_capabilities()


def enter_as_server(uid: int, gid: int) -> None:
    """What a fork of the server needs that serves, too: an end that all its submissions share, and no power."""
    os.setsid()
    map_user(uid, gid)
    mount_own_proc()
    drop_capabilities()


def map_user(uid: int, gid: int) -> None:
    """Be the same user inside the namespace as outside: never root, not even of the namespace."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def mount_scratch(limits: Limits) -> None:
    """One sized tmpfs behind the working directory, /tmp and /dev/shm: all that a submission can write to."""
    options = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=700"
    _mount("tmpfs", WORK, "tmpfs", NOSUID | NODEV | NOEXEC, options)
    for name in ("home", "tmp", "shm"):
        (WORK / name).mkdir()
    _mount(WORK / "shm", SHARED, None, BIND)
    handles = [(path, os.open(path, os.O_PATH)) for path in mounts_below(TEMPORARY)]
    _mount(WORK / "tmp", TEMPORARY, None, BIND)
    for path, handle in handles:  # a course that lies in /tmp is shown there again
        path.mkdir(parents=True, exist_ok=True) if os.path.isdir(f"/proc/self/fd/{handle}") else _touch(path)
        _mount(f"/proc/self/fd/{handle}", path, None, BIND | RECURSIVE)
        os.close(handle)
    os.chdir(WORK / "home")


def mounts_below(folder: Path) -> list[Path]:
    """Where something is mounted in `folder`; of mounts within each other only the outermost."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    places = [line.split()[4].replace("\\040", " ") for line in lines]
    inner = sorted({Path(place) for place in places if place.startswith(f"{folder}/")})
    return [path for path in inner if not any(parent in inner for parent in path.parents)]


def mount_own_proc() -> None:
    """A /proc that shows this namespace's processes only."""
    _mount("proc", Path("/proc"), "proc", NOSUID | NODEV | NOEXEC)


def seal_own_proc() -> None:
    """Nothing can be written there any more: else a submission would take back that the kernel ends it first."""
    _mount("proc", Path("/proc"), None, BIND | REMOUNT | READ_ONLY | NOSUID | NODEV | NOEXEC)


def forbid_namespaces() -> None:
    """No further user namespace, in which a process would have all capabilities again."""
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def limit_resources(limits: Limits, own_processes: bool) -> None:
    """Limits of a process. `own_processes`: the user's others do not count, so their number can be bounded."""
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_STACK: limits.stack_bytes,
        resource.RLIMIT_MEMLOCK: 0,
        # A backstop, as is the address space below: the watchdog bounds the whole tree of processes.
        resource.RLIMIT_CPU: int((os.cpu_count() or 1) * limits.notebook_seconds) + 1,
    }
    if own_processes:
        bounds[resource.RLIMIT_NPROC] = limits.processes
        bounds[resource.RLIMIT_MSGQUEUE] = 0
    if Path("/proc/self/statm").exists():
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        bounds[resource.RLIMIT_AS] = pages * resource.getpagesize() + ADDRESSES + limits.memory_bytes
        # Should the machine run out of memory, this is what the kernel ends first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    for kind, bound in bounds.items():
        _lower(kind, bound)


def drop_capabilities() -> None:
    """Give up every capability, and every way by which one could come back."""
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # bounding set; fails for numbers this kernel does not have
    prctl("ambient set", 47, 4)
    prctl("securebits", 28, 0xEF)  # root is nobody special, locked; no ambient capability, locked
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    call(libc.capset, "capset", header, (ctypes.c_uint32 * 6)())


def _mount(source: Path | str | None, target: Path, kind: str | None, flags: int, options: str = "") -> None:
    encoded = [None if text is None else str(text).encode() for text in (source, target, kind)]
    call(libc.mount, f"mount {target}", *encoded, ctypes.c_ulong(flags), options.encode() or None)


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def _unshare(flags: int) -> None:
    call(libc.unshare, "unshare", ctypes.c_int(flags))


def _number_kept_by_libc() -> ctypes.c_int | None:
    """Where libc keeps the main thread's number, which its own fork would correct in the child."""
    address = ctypes.c_void_p()
    if libc.prctl(40, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None  # a kernel built without PR_GET_TID_ADDRESS
    number = ctypes.c_int.from_address(address.value)
    return number if number.value == threading.get_native_id() else None


def _lower(kind: int, bound: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    resource.setrlimit(kind, (bound, bound))


def probe() -> None:
    """Build the whole jail once around nothing, to see whether this machine allows it."""
    open_scratch()
    seal_scratch()
    uid, gid = os.getuid(), os.getgid()
    pid = fork()
    if pid == 0:
        try:
            enter(Limits(), uid, gid)
            os._exit(0)
        except OSError as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(1)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
