"""The Hugging Face hub's layout, served from a folder on this machine: what is fetched from the hub can be tested without a network."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from coursekit.models import hub

SHA = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Answers as the hub does for one model, whose files lie in `folder`. With `broken`, it refuses to give its files."""

    def __init__(self, folder: Path, repository: str):
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.repository, self.broken, self.asked = folder, repository, False, []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        server, (path, *_) = self.server, self.path.split("?")
        server.asked.append(path)
        name = path.rpartition("/")[2]
        if path.startswith(f"/api/models/{server.repository}/tree/"):
            self._send(json.dumps([self._entry(file) for file in server.folder.iterdir()]).encode())
        elif path.startswith(f"/api/models/{server.repository}"):
            self._send(json.dumps({"id": server.repository, "sha": SHA, "siblings": []}).encode())
        elif path.startswith(f"/{server.repository}/resolve/") and (server.folder / name).is_file():
            if server.broken and name != "config.json":
                self.send_error(403)
            else:
                self._send((server.folder / name).read_bytes())
        elif path == hub.PROBE:
            self._send(b"{}")
        else:
            self.send_error(404)

    do_HEAD = do_GET

    def _entry(self, file: Path) -> dict:
        content = file.read_bytes()
        large = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 1}
        return {"type": "file", "path": file.name, "oid": SHA, "size": len(content), "lfs": large}

    def _send(self, content: bytes):
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", SHA)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def near_hub(folder: Path, repository: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that can be reached and has one model."""
    with Hub(folder, repository) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        files = server.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        hub._answers.cache_clear()
        yield server
        server.shutdown()
    hub._answers.cache_clear()
