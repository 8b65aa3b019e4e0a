"""JupyterHub for this course on one Linux machine: one instructor, and students who are Unix users of the machine.

Installed as /etc/jupyterhub/jupyterhub_config.py; README.md in this folder lists the steps.
"""

import sys

c = get_config()  # noqa: F821

INSTRUCTOR = "instructor"
STUDENTS = "words-students"  # a Unix group
COURSE = f"/home/{INSTRUCTOR}/words-in-context"  # the repository with its solutions, which only the instructor can read

# Who may log in: Unix users with their passwords, through PAM.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_users = {INSTRUCTOR}
c.PAMAuthenticator.allowed_groups = {STUDENTS}

# The hub's address (a web server in front of the hub handles TLS), and its state, which only root can read.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/jupyterhub/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = "/srv/jupyterhub/proxy.pid"

# Each user's server runs as a unit of systemd, which enforces the limit: if a server needs more than 2 GB, Linux kills
# one of its processes. JupyterHub's default spawner ignores every limit. MemoryLow is the closest thing to a guarantee.
c.JupyterHub.spawner_class = "systemd"
c.Spawner.mem_guarantee = "750M"  # only announced to the server; MemoryLow takes effect
c.Spawner.mem_limit = "2G"
c.SystemdSpawner.unit_extra_properties = {"MemoryLow": "750M", "MemorySwapMax": "0", "TasksMax": "1024"}
c.SystemdSpawner.isolate_tmp = True
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}  # faster for small models on shared cores
c.Spawner.start_timeout = c.Spawner.http_timeout = (
    300  # a whole class logs in at once; the default gives up after 30 s
)
c.Spawner.default_url = "/lab"
c.Spawner.args = ["--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=False"]


def with_the_autograder(spawner):
    """Run the instructor's server in the repository's environment, which can grade; the students' environment cannot."""
    if spawner.user.name == INSTRUCTOR:
        environment = f"{COURSE}/.venv/bin"
        spawner.cmd = [f"{environment}/jupyterhub-singleuser"]
        spawner.environment["PATH"] = f"{environment}:/usr/local/bin:/usr/bin:/bin"  # nbgrader calls alembic
        spawner.args = []  # with formgrader
        spawner.mem_limit = "6G"  # grading takes 0.8 GB with two workers


c.Spawner.pre_spawn_hook = with_the_autograder

# Servers that have been idle for an hour are stopped. Saved files are kept; variables in memory are lost.
c.JupyterHub.services = [
    {"name": "idle-culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
    # The instructor sees who is active and can stop or start servers; without `access:servers`, students' files stay private.
    {
        "name": "instructor",
        "scopes": ["admin-ui", "list:users", "read:users:activity", "servers"],
        "users": [INSTRUCTOR],
    },
]
