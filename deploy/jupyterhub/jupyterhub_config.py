"""JupyterHub for this course on one Linux machine: one instructor, and students who are Unix users of it.

Installed as /etc/jupyterhub/jupyterhub_config.py; README.md beside this file has the steps.
"""

import sys

c = get_config()  # noqa: F821

INSTRUCTOR = "instructor"
STUDENTS = "words-students"  # a Unix group
COURSE = f"/home/{INSTRUCTOR}/words-in-context"  # the repository with its solutions, in a home that only she can enter

# Who may come in: Unix passwords, through PAM.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_users = {INSTRUCTOR}
c.PAMAuthenticator.allowed_groups = {STUDENTS}

# Where: a web server in front of it does TLS. What the hub must remember lies where only root can read.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/jupyterhub/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = "/srv/jupyterhub/proxy.pid"

# A server each, as a unit of systemd, which is what holds the limit: a server that needs more than 2 GB is ended.
# JupyterHub's default spawner ignores every limit. MemoryLow is the guarantee, as far as the kernel gives one.
c.JupyterHub.spawner_class = "systemd"
c.Spawner.mem_guarantee = "750M"  # announced to the server; MemoryLow is what acts
c.Spawner.mem_limit = "2G"
c.SystemdSpawner.unit_extra_properties = {"MemoryLow": "750M", "MemorySwapMax": "0", "TasksMax": "1024"}
c.SystemdSpawner.isolate_tmp = True
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}  # small models are faster so, and the cores are shared
c.Spawner.start_timeout = c.Spawner.http_timeout = (
    300  # a whole class logs in at once; the default gives up after 30 s
)
c.Spawner.default_url = "/lab"
c.Spawner.args = ["--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=False"]


def with_the_autograder(spawner):
    """The instructor's server runs in the environment of the repository, and may grade; the students' has no grader."""
    if spawner.user.name == INSTRUCTOR:
        environment = f"{COURSE}/.venv/bin"
        spawner.cmd = [f"{environment}/jupyterhub-singleuser"]
        spawner.environment["PATH"] = f"{environment}:/usr/local/bin:/usr/bin:/bin"  # nbgrader calls alembic
        spawner.args = []  # with formgrader
        spawner.mem_limit = "6G"  # grading takes 0.8 GB with two workers


c.Spawner.pre_spawn_hook = with_the_autograder

# Servers that nobody used for an hour end. What is saved stays; variables in memory are lost.
c.JupyterHub.services = [
    {"name": "idle-culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
    # Who is at work, and stop or start their servers. Not `access:servers`: students' files stay theirs.
    {
        "name": "instructor",
        "scopes": ["admin-ui", "list:users", "read:users:activity", "servers"],
        "users": [INSTRUCTOR],
    },
]
