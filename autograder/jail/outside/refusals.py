"""Why a machine refuses to build the jail, and what lifts that: it depends on what the machine is, and on what it says of itself.

A kernel setting is one for the whole machine, also seen from a container. A container's own walls (a filter of system calls, a
covered /proc, a profile of AppArmor) are looked for one by one, so that nobody takes down more of them than are in the way.
"""

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
ALL_USERS = 65_536  # of a user namespace that is none of a single user

SETTINGS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor forbids user namespaces (Ubuntu's default)", "0"),
    ("kernel/unprivileged_userns_clone", "0", "the kernel forbids user namespaces", "1"),
    ("user/max_user_namespaces", "0", "the kernel allows no user namespace", "15000"),
)  # fmt: skip
"""A kernel setting, the value by which it forbids a user to make namespaces, what that means, and the value that lifts it."""

OF_DOCKER = {
    "seccomp": "--security-opt seccomp=unconfined",
    "apparmor": "--security-opt apparmor=unconfined",
    "selinux": "--security-opt label=disable",
    "proc": "--security-opt systempaths=unconfined",
    "mounts": "--cap-add SYS_ADMIN",
}
WALLS = {
    "docker": OF_DOCKER,
    "podman": OF_DOCKER | {"proc": "--security-opt unmask=ALL"},
    "kubernetes": {
        "seccomp": "seccompProfile: {type: Unconfined}",
        "apparmor": "appArmorProfile: {type: Unconfined}",
        "selinux": "seLinuxOptions: {type: spc_t}",
        "proc": "procMount: Unmasked",
        "mounts": "capabilities: {add: [SYS_ADMIN]}",
    },
}
"""What takes down each wall of a container, by what runs it."""
AS_A_USER = {"docker": "--user 1000", "podman": "--user 1000", "kubernetes": "runAsUser: 1000"}
"""What stands in the place of the capability to mount: an ordinary user needs none."""
WHERE = {
    "docker": "start it with `docker run {}`",
    "podman": "start it with `podman run {}`",
    "kubernetes": "give it `securityContext: {{{}}}`",
}
NESTING = (
    "allow it to run nested containers, by one of these commands on the host, and restart it: `lxc config set NAME security.nesting true` "
    "for LXD, `incus config set NAME security.nesting true` for Incus, `pct set NUMBER --features nesting=1` for Proxmox"
)
WRITABLE = "start it with `SYSTEMD_NSPAWN_API_VFS_WRITABLE=1 systemd-nspawn`, followed by your options: its /proc is covered"
SYS_ADMIN = 21  # the number of a capability


def explain(stderr: str, root: Path = ROOT, user: int | None = None) -> str:
    """Why no jail can be built and what lifts it, in one sentence, from what bubblewrap wrote to stderr.

    `root` is the file system of the machine that said so, and `user` the number of the user who asked.
    """
    last = (stderr.strip().splitlines() or ["bubblewrap gave no reason"])[-1]
    user = os.getuid() if user is None else user
    if cause := _cause(root, user):
        return f"No jail can be built, because {cause} ({last})."
    return f"No jail can be built on this machine: {last}."


def _cause(root: Path, user: int) -> str:
    """The first of the known causes that applies; an empty text when none does."""
    if user == 0 and _users(root) < ALL_USERS:
        return (
            "root is the only user in this user namespace, and the jail needs another one: leave `unshare -r` and grade as your "
            "ordinary user outside it; a container without root's rights needs a range of users for its owner in "
            "/etc/subuid and /etc/subgid"
        )
    setting = _setting(root)
    if engine := _engine(root):
        taken_down = _taken_down(engine, [*_walls(root, user)])
        if setting:
            meaning, remedy = setting
            rest = f"; the container also has restrictions of its own: {taken_down}" if taken_down else ""
            return f"{meaning}, in containers as well: `{remedy}` on the host lifts it{rest}"
        return f"this container forbids it: {taken_down}" if taken_down else ""
    if (version := _wsl(root)) == 1:
        return (
            "version 1 of the Windows Subsystem for Linux has no namespaces: `wsl --set-version DISTRIBUTION 2`, in PowerShell, "
            "converts it to version 2"
        )
    if not setting:
        return (
            "the kernel of WSL is probably too old: `wsl --update`, in PowerShell, installs a newer one"
            if version
            else ""
        )
    meaning, remedy = setting
    if _users(root) < ALL_USERS:
        return (
            f"{meaning} in this sandbox (`unshare -U`, flatpak, or another jail): grade outside this sandbox"
        )
    lasting = "; this setting is lost when WSL is shut down, unless it is also made in /etc/sysctl.d or by `[boot] command=` in /etc/wsl.conf"
    return f"{meaning}: `{remedy}` lifts it{lasting if version else ''}"


def _taken_down(engine: str, walls: list[str]) -> str:
    """What takes down the walls of a container: between backquotes stands what can be pasted, and nothing else."""
    if engine == "lxc":
        return NESTING
    if engine == "systemd-nspawn":
        return WRITABLE if "proc" in walls else ""
    if not walls:
        return ""
    between = ", " if engine == "kubernetes" else " "
    options = [WALLS[engine][wall] for wall in walls]
    said = WHERE[engine].format(between.join(options))
    if "mounts" not in walls:
        return said
    options[walls.index("mounts")] = AS_A_USER[engine]
    return f"{said}; or, as an ordinary user, who needs no capability, {WHERE[engine].format(between.join(options))}"


def _setting(root: Path) -> tuple[str, str] | None:
    """What the first kernel setting that forbids namespaces means, and the command that lifts it."""
    for name, forbidding, meaning, value in SETTINGS:
        if _read(root / "proc/sys" / name).strip() == forbidding:
            return meaning, f"sudo sysctl {name.replace('/', '.')}={value}"
    return None


def _engine(root: Path) -> str:
    """What runs the container; an empty text on a machine of its own."""
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return "kubernetes"
    if (root / "run/.containerenv").exists():
        return "podman"
    if (root / ".dockerenv").exists():
        return "docker"
    said = [_read(root / "run/systemd/container"), _read(root / "run/host/container-manager")]
    said += [
        setting.removeprefix("container=")  # which root alone can read
        for setting in _read(root / "proc/1/environ").split("\0")
        if setting.startswith("container=")
    ]
    return next((name.strip() for name in said if name.strip() in ("lxc", "systemd-nspawn")), "")


def _walls(root: Path, user: int) -> Iterator[str]:
    """Which walls of its own the container has."""
    status = dict(line.split(":", 1) for line in _read(root / "proc/self/status").splitlines() if ":" in line)
    if status.get("Seccomp", "0").strip() == "2":
        yield "seccomp"
    profile = _read(root / "proc/self/attr/current").strip("\0\n ")
    if profile not in ("", "unconfined"):
        yield "selinux" if profile.count(":") >= 3 else "apparmor"
    places = [line.split()[4] for line in _read(root / "proc/self/mountinfo").splitlines()]
    if any(place.startswith("/proc/") and not place.endswith("/binfmt_misc") for place in places):
        yield "proc"
    if user == 0 and not int(status.get("CapEff", "0").strip(), 16) >> SYS_ADMIN & 1:
        yield "mounts"


def _wsl(root: Path) -> int:
    """The version of the Windows Subsystem for Linux; 0 elsewhere."""
    release = _read(root / "proc/sys/kernel/osrelease").lower()
    if "microsoft" not in release:
        return 0
    return 2 if "wsl2" in release or "microsoft-standard" in release else 1


def _users(root: Path) -> int:
    """How many users this user namespace knows."""
    lines = [line.split() for line in _read(root / "proc/self/uid_map").splitlines()]
    return sum(int(line[2]) for line in lines)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, ValueError):
        return ""
