"""A machine on which no jail can be built says what lifts that there, and asks for no more than that."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.jail.outside.refusals import explain

WHOLE = "         0          0 4294967295\n"
CAPABLE, DOCKERS = "000001ffffffffff", "00000000a80425fb"
NO_NAMESPACE = "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces."
COVERED = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
UNPREPARED = "root cannot prepare the jail: unshare: Operation not permitted"
OF_DOCKER = "22 1 0:21 / /proc rw - proc proc rw\n23 22 0:21 /bus /proc/bus ro - proc proc rw\n"


def machine(
    root: Path,
    *empty: str,
    seccomp: int = 0,
    capabilities: str = CAPABLE,
    uid_map: str = WHOLE,
    mounts: str = "",
    **files: str,
) -> Path:
    """A file system with what a machine says of itself, and empty files; the names of `files` have "__" for "/"."""
    content = {
        "proc/self/status": f"Name:\tpython\nCapEff:\t{capabilities}\nSeccomp:\t{seccomp}\n",
        "proc/self/uid_map": uid_map,
        "proc/self/mountinfo": mounts or OF_DOCKER.splitlines()[0],
        **{name.replace("__", "/"): text for name, text in files.items()},
        **dict.fromkeys(empty, ""),
    }
    for name, text in content.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


DOCKER = {"seccomp": 2, "mounts": OF_DOCKER, "proc__self__attr__current": "docker-default (enforce)\n"}


def test_docker_as_it_is_installed(tmp_path):
    said = explain(NO_NAMESPACE, machine(tmp_path, ".dockerenv", **DOCKER), user=1000)
    assert "`docker run" in said and NO_NAMESPACE in said
    for wall in ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"):
        assert f"--security-opt {wall}" in said
    assert "SYS_ADMIN" not in said, "an ordinary user needs no capability"
    root = machine(tmp_path, **DOCKER, capabilities=DOCKERS)
    assert "--cap-add SYS_ADMIN" in explain(UNPREPARED, root, user=0)


@pytest.mark.parametrize("engine", ["docker", "podman", "kubernetes"])
def test_what_stands_between_backquotes_can_be_pasted(tmp_path, monkeypatch, engine):
    mark = {"docker": ".dockerenv", "podman": "run/.containerenv"}.get(engine, "x")
    root = machine(tmp_path, mark, **DOCKER, capabilities=DOCKERS)
    if engine == "kubernetes":
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    capable, ordinary = re.findall("`([^`]*)`", explain(UNPREPARED, root, user=0))
    for said, own in ((capable, "SYS_ADMIN"), (ordinary, "1000")):
        if engine == "kubernetes":
            context = yaml.safe_load(said)["securityContext"]
            assert context["procMount"] == "Unmasked" and own in str(context)
        else:
            assert own in said and all(re.fullmatch(r"[\w=:.-]+", word) for word in said.split())
    assert "1000" not in capable and "SYS_ADMIN" not in ordinary


@pytest.mark.parametrize(
    "place", ["run__systemd__container", "run__host__container-manager", "proc__1__environ"]
)
def test_other_containers_are_told_by_what_systemd_knows_of_them(tmp_path, place):
    def container(name: str, **more) -> Path:
        text = f"PATH=/bin\0container={name}\0" if "environ" in place else f"{name}\n"
        return machine(tmp_path / name, mounts=OF_DOCKER, **{place: text}, **more)

    lxc, forbidden = container("lxc"), {"proc__sys__user__max_user_namespaces": "0\n"}
    assert "`lxc config set NAME security.nesting true`" in explain(COVERED, lxc, user=1000)
    said = explain(COVERED, container("lxc", **forbidden), user=1000)
    assert "sudo sysctl user.max_user_namespaces=15000` on the host" in said and "nesting" in said
    said = explain(COVERED, container("systemd-nspawn"), user=1000)
    assert "`SYSTEMD_NSPAWN_API_VFS_WRITABLE=1 systemd-nspawn`" in said and "docker" not in said
    said = explain(COVERED, container("wsl"), user=1000)
    assert said == f"No jail can be built on this machine: {COVERED}."


def test_a_container_that_lacks_user_namespaces_alone_takes_down_nothing_else(tmp_path):
    root = machine(tmp_path, ".dockerenv", seccomp=2, proc__self__attr__current="unconfined\n")
    said = explain(NO_NAMESPACE, root, user=1000)
    assert "seccomp=unconfined" in said and "apparmor" not in said and "systempaths" not in said


def test_a_setting_of_the_host_is_not_to_be_changed_in_the_container(tmp_path):
    root = machine(tmp_path, ".dockerenv", proc__sys__user__max_user_namespaces="0\n")
    said = explain("bwrap: Creating new namespace failed: No space left on device", root, user=1000)
    assert "user.max_user_namespaces=15000` on the host" in said and "docker run" not in said


def test_podman_calls_a_covered_proc_by_another_name(tmp_path):
    label = "system_u:system_r:container_t:s0:c1,c2\0"
    root = machine(tmp_path, "run/.containerenv", mounts=OF_DOCKER, proc__self__attr__current=label)
    said = explain(COVERED, root, user=1000)
    assert "`podman run" in said and "unmask=ALL" in said and "label=disable" in said
    assert "systempaths" not in said and "seccomp" not in said and "apparmor" not in said


def test_a_cluster_is_told_what_to_write_into_its_security_context(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    said = explain(COVERED, machine(tmp_path, **DOCKER), user=1000)
    assert "securityContext" in said and "procMount: Unmasked" in said and "docker" not in said


@pytest.mark.parametrize("uid_map", ["0 1000 1\n", "0 0 1\n"])
def test_root_of_a_user_namespace_is_sent_out_of_it(tmp_path, uid_map):
    said = explain("setpriv: setresuid failed: Invalid argument", machine(tmp_path, uid_map=uid_map), user=0)
    assert "`unshare -r`" in said and "/etc/subuid" in said and "sysctl" not in said


def test_rootless_podman_with_a_range_of_users_is_not_mistaken_for_that(tmp_path):
    users = "0 1000 1\n1 100000 65536\n"
    root = machine(tmp_path, "run/.containerenv", mounts=OF_DOCKER, uid_map=users)
    assert "unmask=ALL" in explain(COVERED, root, user=0)


@pytest.mark.parametrize(
    ("setting", "forbidding", "remedy"),
    [
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ],
)
def test_a_kernel_setting_that_forbids_namespaces_is_named(tmp_path, setting, forbidding, remedy):
    root = machine(tmp_path, **{f"proc/sys/{setting}": f"{forbidding}\n"})
    said = explain("bwrap: setting up uid map: Permission denied", root, user=1000)
    assert f"`sudo sysctl {remedy}` lifts it" in said and "Permission denied" in said and "WSL" not in said


def test_windows_subsystem_for_linux(tmp_path):
    old = machine(tmp_path / "1", proc__sys__kernel__osrelease="4.4.0-19041-Microsoft\n")
    assert "--set-version" in explain("bwrap: Creating new namespace failed", old, user=1000)
    release = {"proc__sys__kernel__osrelease": "5.15.153.1-microsoft-standard-WSL2\n"}
    new = machine(tmp_path / "2", **release)
    assert "`wsl --update`" in explain("bwrap: Creating new namespace failed", new, user=1000)
    forbidden = machine(tmp_path / "3", **release, proc__sys__user__max_user_namespaces="0\n")
    said = explain("bwrap: Creating new namespace failed", forbidden, user=1000)
    assert "sudo sysctl" in said and "/etc/wsl.conf" in said
    machine(new, ".dockerenv", **release, **DOCKER)
    assert "docker run" in explain(NO_NAMESPACE, new, user=1000), "a container of Docker Desktop"


def test_what_nobody_has_thought_of_is_quoted(tmp_path):
    said = explain("one\nbwrap: something new\n", machine(tmp_path), user=1000)
    assert said == "No jail can be built on this machine: bwrap: something new."


# On this machine, where root can build walls of that kind.

PROBE = "from autograder.jail.outside.bubblewrap import find_problem; print(find_problem())"
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can build these walls")


def problem(*walls: str) -> str:
    done = subprocess.run([*walls, sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@pytest.mark.slow
@as_root
def test_in_unshare(jail_possible):
    assert "leave `unshare -r`" in problem("unshare", "-Ur")


@pytest.mark.slow
@as_root
def test_with_a_covered_proc(jail_possible):
    said = problem("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/irq; exec "$@"', "sh")
    assert "Can't mount proc" in said
    assert not os.path.exists("/.dockerenv") or "systempaths=unconfined" in said


@pytest.mark.slow
@as_root
def test_as_root_without_the_capability_to_mount(jail_possible):
    said = problem("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
    assert "unshare: Operation not permitted" in said
    assert not os.path.exists("/.dockerenv") or "SYS_ADMIN" in said and "seccomp" not in said


@pytest.mark.slow
@as_root
def test_where_no_user_namespace_is_left(jail_possible):
    """In a namespace with as many users as a machine has, so that its setting is nobody else's."""
    ready, mapped = os.pipe(), os.pipe()
    script = f"""
import ctypes, os
assert ctypes.CDLL(None).unshare(0x10000000) == 0
os.write({ready[1]}, b"x"); os.read({mapped[0]}, 1)
open("/proc/sys/user/max_user_namespaces", "w").write("0")
{PROBE}
"""
    program = [sys.executable, "-c", script]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, text=True, pass_fds=(ready[1], mapped[0])
    ) as running:
        os.read(ready[0], 1)
        for kind in ("uid_map", "gid_map"):
            Path(f"/proc/{running.pid}/{kind}").write_text("0 0 4294967295")
        os.write(mapped[1], b"x")
        said = running.stdout.read()
    for descriptor in (*ready, *mapped):
        os.close(descriptor)
    assert "sudo sysctl user.max_user_namespaces=15000" in said
