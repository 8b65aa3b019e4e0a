"""The shipped hub, started in a world, and people who visit it as their browsers do."""

import secrets
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import nbformat
import requests

from tests.deploy.world import World

NAME, COURSE_ID = "02_attention", "words-in-context"
COURSE = Path("/home/instructor/words-in-context")


class Hub:
    """The shipped configuration, on free ports, without systemd, and with a token of the culler that we know."""

    def __init__(self, world: World, passwords: dict[str, str]):
        public, internal, proxy = free_ports(3)
        self.world, self.passwords, self.internal = world, passwords, internal
        self.address, self.token = f"http://127.0.0.1:{public}", secrets.token_hex(16)
        settings = f"""
load_subconfig("/etc/jupyterhub/jupyterhub_config.py")
c.JupyterHub.bind_url = "{self.address}"
c.JupyterHub.hub_port = {internal}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.JupyterHub.services[0]["api_token"] = "{self.token}"
# The instructor's environment is this one, with her own autograder and coursekit before all others.
c.Spawner.environment["PYTHONPATH"] = lambda spawner: "{COURSE}" if spawner.user.name == "instructor" else ""
"""
        world.run("sh", "-c", "cat > /srv/jupyterhub/test_config.py <<'END'\n" + settings + "END")
        self.log = Path(tempfile.mkstemp(prefix="words-hub-", suffix=".log")[1])
        with self.log.open("w") as log:
            self.process = world.start(
                "jupyterhub", "-f", "/srv/jupyterhub/test_config.py", stdout=log, stderr=subprocess.STDOUT
            )
        wait(self.answers, 320, self.log)

    def answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return requests.get(f"{self.address}/hub/api", timeout=5).ok
        except requests.ConnectionError:
            return False

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.unlink()


def wait(condition, seconds: float, log: Path) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, log.read_text()[-6000:]
        time.sleep(0.2)


class Visitor:
    """One person's browser: cookies, and the headers that JupyterLab sends with them."""

    def __init__(self, hub: Hub, name: str):
        self.hub, self.name, self.session = hub, name, requests.Session()
        page = self.session.get(f"{hub.address}/hub/login")
        form = {"username": name, "password": hub.passwords[name], "_xsrf": self._xsrf("/hub/")}
        page = self.session.post(f"{hub.address}/hub/login", data=form)
        assert page.ok and "/hub/login" not in page.url, (name, page.url, page.status_code)

    def _xsrf(self, path: str) -> str:
        return next(
            (
                cookie.value
                for cookie in self.session.cookies
                if (cookie.name, cookie.path) == ("_xsrf", path)
            ),
            "",
        )

    def start_server(self) -> "Visitor":
        self.session.get(f"{self.hub.address}/hub/spawn/{self.name}")
        wait(
            lambda: self._lab().url.startswith(f"{self.hub.address}/user/{self.name}/lab"), 320, self.hub.log
        )
        return self

    def _lab(self) -> requests.Response:
        return self.session.get(f"{self.hub.address}/user/{self.name}/lab")

    def ask(self, method: str, path: str, server: str | None = None, **options) -> requests.Response:
        """A call to an API of a server (one's own unless told) or, with a path that begins with /hub/, of the hub."""
        base = "/hub/" if path.startswith("/hub/") else f"/user/{server or self.name}/"
        url = self.hub.address + (path if base == "/hub/" else base + path)
        headers = {"X-XSRFToken": self._xsrf(base), "Referer": self.hub.address + base + "lab"}
        return self.session.request(
            method, url, headers=headers, timeout=120, allow_redirects=False, **options
        )

    def assignment(self, action: str) -> list[dict]:
        """What the buttons of nbgrader's Assignment List call."""
        answer = self.ask(
            "POST", f"assignments/{action}", data={"course_id": COURSE_ID, "assignment_id": NAME}
        )
        assert answer.ok and answer.json()["success"], (self.name, action, answer.text)
        return answer.json()["value"]

    def formgrader(self, action: str) -> None:
        """What the buttons of formgrader call."""
        answer = self.ask("POST", f"formgrader/api/assignment/{NAME}/{action}")
        assert answer.ok and answer.json()["success"], (action, answer.text)

    def save(self, path: str, notebook: nbformat.NotebookNode) -> None:
        answer = self.ask("PUT", f"api/contents/{path}", json={"type": "notebook", "content": notebook})
        assert answer.ok, answer.text


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
