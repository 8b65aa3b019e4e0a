"""The system call filter, decided by a small interpreter of its instructions for both machine types.

What it does inside a real jail is tested in test_walls.py, for the machine at hand.
"""

import errno
import re
from pathlib import Path

import pytest

from autograder.jail import seccomp

MACHINES = ("x86_64", "aarch64")
NEWUSER, NEWNET = 0x10000000, 0x40000000
GENERIC = Path("/usr/include/asm-generic/unistd.h")
X86 = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def decide(machine: str, number: int, argument: int = 0, arch: int | None = None) -> int | str:
    """What the kernel would do with a call: "allow", "kill", or the error it returns."""
    words = {0: number, 4: seccomp.AUDIT_ARCH[machine] if arch is None else arch, 16: argument & 0xFFFFFFFF}
    lines, line, value = seccomp.program(machine), 0, 0
    while True:
        operation, if_true, if_false, operand = lines[line]
        line += 1
        if operation == 0x20:
            value = words[operand]
        elif operation == 0x06:
            break
        else:
            true = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[operation]
            line += if_true if true else if_false
    return {0x7FFF0000: "allow", 0x80000000: "kill"}.get(operand, operand & 0xFFFF)


@pytest.mark.parametrize("machine", MACHINES)
def test_denied_calls_are_denied(machine):
    column = MACHINES.index(machine)
    numbers = {name: pair[column] for name, pair in seccomp.DENIED.items() if pair[column] is not None}
    assert {name: decide(machine, number) for name, number in numbers.items()} == dict.fromkeys(
        numbers, errno.EPERM
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_everyday_calls_are_allowed(machine):
    # read, openat, mmap, execve, futex, wait4
    everyday = {"x86_64": (0, 257, 9, 59, 202, 61), "aarch64": (63, 56, 222, 221, 98, 260)}[machine]
    assert {decide(machine, number) for number in everyday} == {"allow"}


@pytest.mark.parametrize("machine", MACHINES)
def test_processes_and_threads_may_be_made_but_no_namespaces(machine):
    clone = seccomp.CLONE[machine]
    assert decide(machine, clone, argument=17) == "allow"
    assert decide(machine, clone, argument=0x3D0F00) == "allow"  # a thread
    assert decide(machine, clone, argument=17 | NEWUSER) == errno.EPERM
    assert decide(machine, clone, argument=17 | NEWNET) == errno.EPERM
    assert decide(machine, seccomp.CLONE3[machine]) == errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("table", ["SOCKET", "SOCKETPAIR"])
def test_only_unix_and_inet_sockets(machine, table):
    number = getattr(seccomp, table)[machine]
    allowed = [family for family in range(46) if decide(machine, number, argument=family) == "allow"]
    assert allowed == [1, 2]
    assert decide(machine, number, argument=16) == errno.EAFNOSUPPORT  # netlink


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_kill(machine):
    i386, arm = 0x40000003, 0x40000028
    assert {decide(machine, 0, arch=arch) for arch in (i386, arm)} == {"kill"}


def test_the_second_numbering_of_x86_64_is_refused():
    assert decide("x86_64", 0x40000000 | 0) == errno.EPERM


@pytest.mark.parametrize(
    "machine, header, pattern",
    [
        ("x86_64", X86, r"#define __NR_(\w+) (\d+)"),
        ("aarch64", GENERIC, r"#define __NR(?:3264)?_(\w+) (\d+)"),
    ],
)
def test_numbers_are_the_kernels(machine, header, pattern):
    if not header.exists():
        pytest.skip(f"the kernel's headers are not installed: {header}")
    kernel = {name: int(number) for name, number in re.findall(pattern, header.read_text())}
    column = MACHINES.index(machine)
    ours = {name: pair[column] for name, pair in seccomp.DENIED.items() if pair[column] is not None}
    ours |= {"clone": seccomp.CLONE[machine], "clone3": seccomp.CLONE3[machine]}
    ours |= {"socket": seccomp.SOCKET[machine], "socketpair": seccomp.SOCKETPAIR[machine]}
    known = {name: number for name, number in ours.items() if name in kernel}
    assert known == {name: kernel[name] for name in known}
    assert len(known) > 0.9 * len(ours)  # a header may be older than our newest names
