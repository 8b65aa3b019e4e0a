"""The system call filter, decided by a small interpreter of its instructions for both machine types.

What it does inside a real jail is tested in test_walls.py, for the machine at hand.
"""

import errno
import re
from pathlib import Path

import pytest

from autograder.jail.inside import seccomp

MACHINES = ("x86_64", "aarch64")
NEWUSER, NEWNET = 0x10000000, 0x40000000
GENERIC = Path("/usr/include/asm-generic/unistd.h")
X86 = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


@pytest.fixture(params=MACHINES)
def machine(request) -> str:
    return request.param


def numbers(table: dict[str, tuple[int | None, int | None]], machine: str) -> dict[str, int]:
    """The calls of a table that the machine has."""
    column = MACHINES.index(machine)
    return {name: pair[column] for name, pair in table.items() if pair[column] is not None}


def decide(
    machine: str, number: int, argument: int = 0, arch: int | None = None, second: int = 0
) -> int | str:
    """What the kernel would do with a call: "allow", "kill", or the error it returns."""
    words = {0: number, 4: seccomp.AUDIT_ARCH[machine] if arch is None else arch}
    words |= {16: argument & 0xFFFFFFFF, 24: second & 0xFFFFFFFF}
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


def test_denied_calls_are_denied(machine):
    denied = numbers(seccomp.DENIED, machine)
    assert {name: decide(machine, denied[name]) for name in denied} == dict.fromkeys(denied, errno.EPERM)


def test_listed_calls_are_allowed_and_no_others_exist(machine):
    allowed, denied = ({*numbers(table, machine).values()} for table in (seccomp.ALLOWED, seccomp.DENIED))
    special = {
        getattr(seccomp, name)[machine] for name in ("CLONE", "CLONE3", "SOCKET", "SOCKETPAIR", "FCNTL")
    }
    assert not allowed & denied and not (allowed | denied) & special
    assert {decide(machine, number) for number in allowed} == {"allow"}
    others = set(range(1000)) - allowed - denied - special
    assert {decide(machine, number) for number in others} == {errno.ENOSYS}


def test_locks_that_others_would_wait_for_are_denied(machine):
    fcntl = seccomp.FCNTL[machine]
    assert {decide(machine, fcntl, second=command) for command in (0, 1, 2, 3, 4, 6, 1030, 1033)} == {"allow"}
    assert {decide(machine, fcntl, second=command) for command in (1024, 1026)} == {errno.EPERM}


def test_the_kernel_takes_a_program_of_that_length(machine):
    assert len(seccomp.program(machine)) <= 4096


def test_everyday_calls_are_allowed(machine):
    # read, openat, mmap, execve, futex, wait4
    everyday = {"x86_64": (0, 257, 9, 59, 202, 61), "aarch64": (63, 56, 222, 221, 98, 260)}[machine]
    assert {decide(machine, number) for number in everyday} == {"allow"}


def test_processes_and_threads_may_be_made_but_no_namespaces(machine):
    clone = seccomp.CLONE[machine]
    assert decide(machine, clone, argument=17) == "allow"
    assert decide(machine, clone, argument=0x3D0F00) == "allow"  # a thread
    assert decide(machine, clone, argument=17 | NEWUSER) == errno.EPERM
    assert decide(machine, clone, argument=17 | NEWNET) == errno.EPERM
    assert decide(machine, seccomp.CLONE3[machine]) == errno.ENOSYS


@pytest.mark.parametrize("table", ["SOCKET", "SOCKETPAIR"])
def test_only_unix_and_inet_sockets(machine, table):
    number = getattr(seccomp, table)[machine]
    allowed = [family for family in range(46) if decide(machine, number, argument=family) == "allow"]
    assert allowed == [1, 2]
    assert decide(machine, number, argument=10) == errno.EAFNOSUPPORT  # IPv6
    assert (
        decide(machine, number, argument=16) == errno.EOPNOTSUPP
    )  # netlink: ZeroMQ goes on after this error alone


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
    ours = numbers(seccomp.DENIED | seccomp.ALLOWED, machine)
    if machine == "aarch64":  # of an older header's names, two are defined for machines of 32 bits, too
        kernel |= {
            name: int(number)
            for name, number in re.findall(r"#define __NR3264_(\w+) (\d+)", header.read_text())
        }
    ours |= {"fcntl": seccomp.FCNTL[machine]}
    ours |= {"clone": seccomp.CLONE[machine], "clone3": seccomp.CLONE3[machine]}
    ours |= {"socket": seccomp.SOCKET[machine], "socketpair": seccomp.SOCKETPAIR[machine]}
    known = {name: number for name, number in ours.items() if name in kernel}
    assert known == {name: kernel[name] for name in known}
    assert len(known) > 0.9 * len(ours)  # a header may be older than our newest names
