"""Each wall of the jail, seen from a notebook inside: leave out a step and one of these tests fails."""

import errno
import os
import resource
import sys
from pathlib import Path

import pytest

from autograder.jail.outside import bubblewrap
from tests.autograder.jail.conftest import processes
from tests.conftest import COURSE_VIEW

pytestmark = pytest.mark.slow

COURSE = Path(__file__).resolve().parents[3]
MACHINE = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
CALL = """
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    return ctypes.get_errno() if result == -1 else 0
"""


# Namespaces


@pytest.mark.parametrize("kind", ["user", "mnt", "pid", "ipc", "net", "uts", "cgroup"])
def test_every_namespace_is_the_submissions_own(run, server_pid, kind):
    inside = run(f"import json, os; print(json.dumps(os.readlink('/proc/self/ns/{kind}')))").value()
    assert inside.startswith(kind)
    assert inside != os.readlink(f"/proc/{server_pid}/ns/{kind}")
    assert inside != os.readlink(f"/proc/self/ns/{kind}")


@pytest.mark.parametrize("kind", ["user", "mnt", "pid", "ipc", "net", "uts"])
def test_the_server_shares_no_namespace_with_the_engine(server_pid, kind):
    assert os.readlink(f"/proc/{server_pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")


def test_the_session_is_its_own(run):
    assert run("import os; print([os.getpid(), os.getsid(0), os.getpgid(0)])").value() == [1, 1, 1]


@pytest.mark.parametrize("target", ["0", "-1", "os.getppid()", "1"])
def test_signals_stay_inside(run, server_pid, server, target):
    ran = run(f"import os\nfor number in (15, 19, 9):\n    os.kill({target}, number)", "print(7)")
    assert ran.value() == 7
    assert processes(server)[-1] == server_pid


def test_the_user_is_mapped_to_itself_alone(run):
    uid = bubblewrap.NOBODY if os.getuid() == 0 else os.getuid()
    ran = run("""
        import json, os
        maps = [open(f'/proc/self/{kind}_map').read().split() for kind in ('uid', 'gid')]
        print(json.dumps([os.getuid(), *maps, open('/proc/self/setgroups').read().strip()]))
    """)
    seen, users, groups, setgroups = ran.value()
    assert seen == uid != 0
    assert users == [str(uid), str(uid), "1"]
    assert groups[2] == "1" and groups[0] != "0"
    assert setgroups == "deny"


# Files


def test_scratch_is_sized(run, limits):
    size = run("""
        import json, os
        space = os.statvfs('/job')
        print(json.dumps([space.f_blocks * space.f_frsize, space.f_files]))
    """)
    assert size.value() == [limits.scratch_bytes, limits.scratch_files]


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/job/home"])
def test_every_place_to_write_draws_on_the_sized_scratch(run, limits, folder):
    ran = run(f"""
        import json
        written, error = 0, 0
        try:
            for number in range(40):
                written += open(f'{folder}/part{{number}}', 'wb', 0).write(bytes(1 << 20))
        except OSError as full:
            error = full.errno
        print(json.dumps([written, error]))
    """)
    written, error = ran.value()
    assert written <= limits.scratch_bytes and error == errno.ENOSPC


def test_nothing_but_scratch_can_be_written(run):
    ran = run(
        """
        import json
        mounts = []
        for line in open('/proc/self/mountinfo'):
            left, right = line.split(' - ')
            place, options, kind = left.split()[4], left.split()[5], right.split()[0]
            mounts.append([place, kind, 'rw' in options.split(',')])
        print(json.dumps(mounts))
        """,
        """
        import os
        def can_write(folder):
            try:
                open(os.path.join(folder, 'trace'), 'w').close()
            except OSError:
                return False
            return True
        places = {place for place, _, _ in mounts if os.path.isdir(place)}
        places |= {os.path.dirname(place) for place, _, _ in mounts} | {'/etc', '/opt', os.getcwd()}
        print(json.dumps([place for place in places if can_write(place)]))
        """,
    )
    mounts, can_be_written = ran.value(0), ran.value(1)
    scratch = ["/dev/shm", "/job", "/tmp"]
    assert sorted(place for place, kind, writable in mounts if kind == "tmpfs" and writable) == scratch
    assert {place for place, _, _ in mounts if place in can_be_written} == {*scratch}
    assert [place for place in can_be_written if not place.startswith(tuple(scratch))] == []


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/job/home"])
def test_files_of_one_submission_are_gone_in_the_next(run, folder):
    first = run(
        f"open('{folder}/note', 'w').close(); import os; print(int('note' in os.listdir('{folder}')))"
    )
    second = run(f"import os; print(int('note' in os.listdir('{folder}')))")
    assert (first.value(), second.value()) == (1, 0)


def test_proc_shows_no_other_process(run):
    assert run("import os; print([int(name) for name in os.listdir('/proc') if name.isdigit()])").value() == [
        1
    ]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/etc/shadow",
            "/etc/passwd",
            "/home",
            "/sys",
            "/var",
            "/run",
            "/boot",
            "/opt/inside/inside/client.py",
        ),
        *(str(COURSE / name) for name in ("solutions", "autograder", "pyproject.toml", "tests", ".git")),
        *(str(Path.home() / name) for name in (".ssh", ".cache", ".bashrc", ".profile")),
    ],
)
def test_not_shown(run, path):
    assert run(f"import os; print(int(os.path.lexists({path!r})))").value() == 0


def test_of_the_autograder_only_what_notebooks_import_can_be_imported(run):
    ran = run(
        "import autograder.course", "import inside.client", "import autograder.checks.answers\nprint(1)"
    )
    assert "No module named 'autograder.course'" in ran.frames[0].error_text
    assert "No module named 'inside.client'" in ran.frames[1].error_text
    assert ran.value() == 1


def test_extra_paths_are_shown_read_only_even_below_a_closed_folder(run_in_new_server, tmp_path):
    """And root must have become somebody else: `--uid` alone would let it read a file for root alone."""
    data = tmp_path / "closed" / "data"
    data.mkdir(parents=True)
    data.parent.chmod(0o700)
    for name, mode in (("table", 0o666), ("secret", 0o600)):
        (data / name).write_text(name)
        (data / name).chmod(mode)
    ran = run_in_new_server(
        [data],
        f"print(open('{data}/table').read())",
        f"open('{data}/table', 'a')",
        f"open('{data}/secret')",
        f"open('{data.parent}/trace', 'w')\nprint(1)",
    )
    assert ran.stream(0) == "table\n"
    assert "Read-only file system" in ran.frames[1].error_text
    assert ("PermissionError" in ran.frames[2].error_text) == (os.getuid() == 0)
    assert (
        ran.value() == 1 and not (data.parent / "trace").exists()
    )  # beside it is scratch, not the real folder


# Network


def test_no_network(run):
    ran = run("""
        import json, socket
        errors = []
        for address in ('127.0.0.1', '192.0.2.1', '8.8.8.8'):
            with socket.socket() as one:
                one.settimeout(1)
                errors.append(one.connect_ex((address, 80)))
        print(json.dumps([errors, [line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line]]))
    """)
    errors, interfaces = ran.value()
    assert set(errors) == {errno.ENETUNREACH}
    assert interfaces == ["lo"]


@pytest.mark.parametrize("family", ["AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG"])
def test_other_socket_families_do_not_exist(run, family):
    ran = run(f"import socket\nsocket.socket(socket.{family}, socket.SOCK_DGRAM)")
    refused = errno.EOPNOTSUPP if family == "AF_NETLINK" else errno.EAFNOSUPPORT
    assert f"[Errno {refused}]" in ran.frames[0].error_text


# Privileges


def test_no_privileges(run):
    ran = run(
        """
        import json
        lines = (line.split(':') for line in open('/proc/self/status'))
        print(json.dumps({name: value.strip() for name, value in lines}))
        """,
        CALL + "print(json.dumps([libc.prctl(27, 0, 0, 0, 0), libc.prctl(47, 1, 21, 0, 0)]))",
    )
    status = ran.value(0)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0, name
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert ran.value(1) == [0xEF, 0]  # securebits locked; no ambient capability


def test_the_server_has_no_privileges_either(server_pid):
    lines = (line.split(":") for line in Path(f"/proc/{server_pid}/status").read_text().splitlines())
    status = {name: value.strip() for name, value in lines}
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")} == {0}
    uid = str(bubblewrap.NOBODY if os.getuid() == 0 else os.getuid())
    assert status["Uid"].split() == [uid] * 4
    assert status["Threads"] == "1"


def test_no_further_user_namespace(run):
    assert run("print(open('/proc/sys/user/max_user_namespaces').read())").value() == 0


DENIED_EXAMPLES = {
    "ptrace": (101, 117),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_setup": (206, 0),
    "flock": (73, 32),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "process_vm_readv": (310, 270),
}


@pytest.mark.parametrize("name", DENIED_EXAMPLES)
def test_system_calls_are_denied(run, name):
    assert run(CALL + f"print(call({DENIED_EXAMPLES[name][MACHINE]}, 0, 0, 0, 0, 0))").value() == errno.EPERM


@pytest.mark.parametrize("number", [777, 999])
def test_system_calls_that_nobody_has_listed_do_not_exist(run, number):
    assert run(CALL + f"print(call({number}, 0))").value() == errno.ENOSYS


def test_clone_makes_no_namespace_and_clone3_is_unknown(run):
    source = f"print(json.dumps([call({(56, 220)[MACHINE]}, 0x10000000 | 17, 0, 0, 0, 0), call(435, 0, 0)]))"
    assert run(CALL + source).value() == [errno.EPERM, errno.ENOSYS]


# Resources


def test_limits_of_a_process(run, limits):
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_STACK": limits.stack_bytes,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }
    ran = run(f"""
        import json, resource
        print(json.dumps([resource.getrlimit(getattr(resource, name)) for name in {[*wanted]}]))
    """)
    assert ran.value() == [[bound, bound] for bound in wanted.values()]


@pytest.mark.parametrize("name", ["RLIMIT_AS", "RLIMIT_CPU"])
def test_a_backstop_is_set(run, name):
    bound = run(f"import resource; print(resource.getrlimit(resource.{name})[1])").value()
    assert bound != resource.RLIM_INFINITY


@pytest.mark.parametrize("process", ["self", "1", "{os.getpid()}", "self/task/{os.getpid()}"])
def test_the_kernel_ends_a_submission_first_when_memory_runs_out_and_that_cannot_be_taken_back(run, process):
    write = f'import os\nopen(f"/proc/{process}/oom_score_adj", "w").write'
    ran = run(f"{write}('-1000')", f"{write}('0')", "print(open('/proc/self/oom_score_adj').read())")
    for frame in ran.frames[:2]:
        assert "Read-only file system" in frame.error_text
    assert ran.value() == 1000


def test_a_file_has_a_greatest_size(run):
    assert "File too large" in run("open('/tmp/big', 'wb', 0).truncate(13 << 20)").frames[0].error_text


# What is handed over


def test_only_the_answer_pipe_is_open(run):
    ran = run("""
        import json, os
        where = {}
        for name in os.listdir('/proc/self/fd'):
            try:
                where[name] = os.readlink(f'/proc/self/fd/{name}').split(':')[0]
            except OSError:
                pass  # the listing's own
        print(json.dumps(where))
    """)
    assert ran.value() == {"0": "/dev/null", "1": "/dev/null", "2": "/dev/null", "3": "pipe"}


def test_commands_do_not_get_the_answer_pipe(run):
    assert "pipe" not in run("!ls -l /proc/self/fd | grep -v '[12] ->'").stream()


def test_the_environment_holds_what_we_put_there(run):
    known = {*bubblewrap.variables(COURSE_VIEW), *bubblewrap.places(""), "PWD", "NBGRADER_EXECUTION"}
    known |= {"TORCHINDUCTOR_CACHE_DIR", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK"}  # set by torch itself
    found = run("import json, os; print(json.dumps(list(os.environ)))").value()
    assert set(found) <= known


def test_no_process_of_the_jail_knows_the_engines_environment(server):
    known = {*bubblewrap.variables(COURSE_VIEW), *bubblewrap.places(""), "PWD", "PATH", "LC_CTYPE"}
    for pid in processes(server):
        environment = Path(f"/proc/{pid}/environ").read_text().split("\0")
        assert {variable.split("=")[0] for variable in environment if variable} <= known


def test_python_is_the_courses_own(run):
    ran = run("import json, sys; print(json.dumps([sys.prefix, sys.executable]))")
    assert ran.value() == [sys.prefix, sys.executable]


# Nothing of one student reaches the next

SEARCH = """
def occurrences(head, tail, piece=1 << 22):
    # Of head followed by tail, anywhere in this process; itself it holds them only apart.
    found = 0
    with open('/proc/self/mem', 'rb', 0) as memory:
        for line in open('/proc/self/maps'):
            span, access = line.split()[:2]
            file = '/' in line and 'w' not in access  # a library as it lies on the disk: nobody can write there
            if not access.startswith('r') or '[v' in line or file:
                continue
            start, end = (int(part, 16) for part in span.split('-'))
            for begin in range(start, end, piece):
                memory.seek(begin)
                data = memory.read(min(piece + 64, end - begin))
                place = data.find(head)
                while place >= 0:
                    found += data[place + len(head) : place + len(head) + len(tail)] == tail
                    place = data.find(head, place + 1)
    return found
print(occurrences(b'violethippo', b'potamusorange'))
"""


def test_an_earlier_submission_is_in_no_later_memory(run):
    secret = "mine = ['violethippo' + 'potamusorange' + str(number) for number in range(50)]"
    assert run(secret, SEARCH).value() > 0, "the search finds nothing even where there is something"
    assert run(SEARCH).value() == 0
