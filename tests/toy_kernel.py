"""A Jupyter kernel for a language of a dozen words, with which other languages than Python are tried without installing one.

`install` makes a specification that names this file; Jupyter finds it when JUPYTER_PATH holds the folder.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

QUIET = os.environ.get("TOY_QUIET", "")  # "prints" or "silent": how it reports errors


class Mismatch(Exception):
    pass


class ToyKernel(Kernel):
    """One command a line: a word, and what it is about."""

    implementation, implementation_version, banner = "toy", "1", "toy"
    language_info = {"name": "toy", "mimetype": "text/plain", "file_extension": ".toy"}
    values: dict[str, str] = {}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **how):
        try:
            for line in filter(None, map(str.strip, code.splitlines())):
                word, _, rest = line.partition(" ")
                if not word.startswith("#"):
                    getattr(self, f"do_{word}_line")(rest)
        except BaseException as error:
            if QUIET:  # as Octave's kernel does, or worse
                self.do_say_line(f"error: {error}") if QUIET == "prints" else None
                return {"status": "ok", "execution_count": self.execution_count, "payload": []}
            told = {"ename": type(error).__name__, "evalue": str(error), "traceback": [f"toy: {error}"]}
            self.send_response(self.iopub_socket, "error", told)
            return {"status": "error", "execution_count": self.execution_count, **told}
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }

    def do_set_line(self, rest):
        name, _, value = rest.partition(" ")
        self.values[name] = value

    def do_show_line(self, name):
        self._show("execute_result", {"text/plain": self.values[name]}, execution_count=self.execution_count)

    def do_draw_line(self, text):
        self._show("display_data", {"image/svg+xml": f"<svg>{text}</svg>", "application/x-toy": text})

    def do_say_line(self, text):
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": f"{text}\n"})

    def do_warn_line(self, text):
        self.send_response(self.iopub_socket, "stream", {"name": "stderr", "text": f"{text}\n"})

    def do_expect_line(self, rest):
        name, _, value = rest.partition(" ")
        if self.values.get(name) != value:
            raise Mismatch(f"{name} is {self.values.get(name)}, not {value}")

    def do_stop_line(self, text):
        raise RuntimeError(text)

    def do_loop_line(self, rest):
        while True:
            time.sleep(0.01)

    def do_flood_line(self, rest):
        while True:
            self.do_say_line("x" * 10_000)

    def do_eat_line(self, rest):
        kept = []
        while True:
            try:
                kept.append(b"x" * (8 << 20))
            except MemoryError:  # it holds what it has
                time.sleep(0.01)

    def do_ask_line(self, prompt):
        self._allow_stdin = True  # as kernels do that do not look at what they are told
        self.raw_input(prompt)

    def do_end_line(self, rest):
        os._exit(3)

    def do_kill_line(self, rest):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_mumble_line(self, rest):
        """What no kernel should send."""
        for content in ({}, {"name": "stdout"}, {"name": 1, "text": [2]}, {"data": 3}):
            for kind in ("stream", "display_data", "error", "update_display_data", "nonsense"):
                self.send_response(self.iopub_socket, kind, content)
        self.iopub_socket.send_multipart([b"no", b"message"])

    def do_read_line(self, path):
        """The file's first bytes, or why it cannot be read."""
        try:
            with open(path, "rb") as file:
                self.do_say_line(file.read(20).decode(errors="replace"))
        except OSError as error:
            self.do_say_line(type(error).__name__)

    def do_list_line(self, folder):
        self.do_say_line(" ".join(sorted(os.listdir(folder))))

    def do_env_line(self, name):
        self.do_say_line(os.environ.get(name, ""))

    def _show(self, kind, data, **more):
        self.send_response(self.iopub_socket, kind, {"data": data, "metadata": {"a": 1}, **more})


def install(
    folder: Path, name: str = "toy", program: str = sys.executable, language: str = "toy", **env: str
) -> Path:
    """A specification in a folder for JUPYTER_PATH, with a copy of this file. Returns that folder."""
    place = folder / "kernels" / name
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(__file__, place / "toy_kernel.py")
    argv = [program, "{resource_dir}/toy_kernel.py", "-f", "{connection_file}"]
    specification = {"argv": argv, "display_name": name, "language": language, "env": env}
    (place / "kernel.json").write_text(json.dumps(specification))
    return folder


class WithColons(IPKernelApp):
    """Composes the addresses of its sockets as those of a network, which IJulia does."""

    def _try_bind_socket(self, s, port):
        s.bind(f"{self.transport}://{self.ip}:{port}")
        return port


if __name__ == "__main__":
    application = WithColons if "TOY_COLONS" in os.environ else IPKernelApp
    application.launch_instance(kernel_class=ToyKernel)
