"""The page for written answers: handlers in a jupyter_server that listens on this machine alone.

Jupyter decides who may ask: it checks the token, the login cookie, the XSRF cookie, and the host and origin of each request. A token
logs one browser in, once. None of Jupyter's own services is offered, and nothing that a user has configured for it applies. The page
runs no script but its own, loads nothing from elsewhere, and shows what students wrote as text.
"""

import asyncio
import logging
import secrets
import signal
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import unquote

import msgspec
from jupyter_server.auth import User
from jupyter_server.auth.identity import PasswordIdentityProvider
from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from tornado import web
from traitlets.config import Config

from autograder.errors import CourseError
from autograder.untrusted.titles import titles
from autograder.written.desk import LONGEST_NAME, Conflict, Desk, Refused
from autograder.written.room import Room

MOST_BYTES = 1 << 20  # of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
SENTENCES = {
    HTTPStatus.FORBIDDEN: "Load the page again. If that does not help, open the last address that the terminal shows: each opens the page "
    "in one browser, once.",
    HTTPStatus.NOT_FOUND: "There is no such page.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "There is an error in autograder itself; the terminal in which `autograder written` runs shows it.",
}


class _Action(msgspec.Struct, kw_only=True):
    question: str


class _Give(_Action):
    seen: dict[str, str]
    score: float
    ticks: list[int] = []
    comment: str = ""
    alone: bool = False


class _Split(_Action):
    group: str
    tag: str
    aliases: list[str] = msgspec.field(name="answers")


class _Join(_Action):
    tags: dict[str, str] = msgspec.field(name="groups")


class _GiveAgain(_Action):
    alias: str = msgspec.field(name="answer")
    score: float
    ticks: list[int] = []


ACTIONS: dict[str, tuple[type[_Action], Callable[..., Any]]] = {
    "give": (_Give, Desk.give),
    "split": (_Split, Desk.split),
    "join": (_Join, Desk.join),
    "undo": (_Action, Desk.undo),
    "again": (_GiveAgain, Desk.give_again),
}
"""What the page sends, and the method that gets it as arguments."""


class Refusal(web.HTTPError):
    """A request that is refused, with the sentence that the page shows."""

    def __init__(self, status: HTTPStatus, sentence: str):
        super().__init__(status)
        self.sentence = sentence


class Handler(APIHandler):
    """What the other two have in common. On its own, it refuses every other path."""

    @property
    def content_security_policy(self) -> str:
        """The header of that name, in place of Jupyter's."""
        return POLICY

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with {"error": sentence}: the one of a Refusal, or a general one for the status."""
        _, error, _ = kwargs.get("exc_info", (None, None, None))
        sentence = SENTENCES.get(HTTPStatus(status_code), f"{HTTPStatus(status_code).phrase}.")
        self.finish({"error": error.sentence if isinstance(error, Refusal) else sentence})

    @web.authenticated
    def get(self, *path: str) -> None:
        """Answer that there is no such page."""
        raise web.HTTPError(HTTPStatus.NOT_FOUND)

    post = get


class PageHandler(Handler):
    """The page, its style sheet and its script."""

    @web.authenticated
    def get(self, name: str) -> None:
        """Send one of FILES, or the page for ""; a request with a token gets a cookie and is redirected to "/"."""
        if self.token_authenticated:  # from now on the cookie takes the place of the token
            self.settings["serverapp"].remove_browser_open_file()
            self.redirect("/")
            return
        _ = self.xsrf_token  # reading it sets the cookie that page.js sends back
        page = files("autograder") / "templates" / "written" / (name or "page.html")
        self.finish(page.read_bytes(), set_content_type=f"{FILES[page.name]}; charset=utf-8")


class DeskHandler(Handler):
    """What the page asks for and what graders do, in JSON. Both wait for the gradebook, so they run in threads."""

    @web.authenticated
    async def get(self, what: str) -> None:
        """Send what the page shows: "start", "agreement", "view", "changes" or "again"."""
        await self._reply(self._read, what)

    @web.authenticated
    async def post(self, what: str) -> None:
        """Do one of ACTIONS, and send what its method returns as {"done": …}."""
        await self._reply(self._act, what)

    async def _reply(self, ask: Callable[[str], dict[str, Any]], what: str) -> None:
        try:
            self.finish(msgspec.json.encode(await asyncio.to_thread(ask, what)))
        except Conflict as conflict:
            raise Refusal(HTTPStatus.CONFLICT, str(conflict)) from conflict
        except Refused as refused:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
        except CourseError as error:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{error} Nothing was written.") from error

    def _read(self, what: str) -> dict[str, Any]:
        room: Room = self.settings["room"]
        if what == "start":
            name = room.assignment.name
            title = titles(room.assignment.root).get(name, name)
            start = {"assignment": name, "title": title, "share": room.share, "problem": room.problem}
            return {**start, "questions": room.overview()}
        if what == "agreement":
            return {"agreement": room.agreement()}
        question = self.get_query_argument("question", "")
        desk = self._desk(question)
        match what:
            case "view":
                return desk.view(self._who) if desk.grouped else {"preparing": True, "problem": room.problem}
            case "changes":
                group = self.get_query_argument("group", "")
                return {"serial": desk.serial, "others": room.others(self._who, question, group)}
            case "again":
                return desk.next_again(self._who, room.share)
        raise web.HTTPError(HTTPStatus.NOT_FOUND)

    def _act(self, what: str) -> dict[str, Any]:
        if what not in ACTIONS:
            raise web.HTTPError(HTTPStatus.NOT_FOUND)
        kind, act = ACTIONS[what]
        if len(self.request.body) > MOST_BYTES:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too long.")
        try:
            action = msgspec.json.decode(self.request.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"The request cannot be read: {error}.") from error
        arguments = msgspec.structs.asdict(action)
        return {"done": act(self._desk(arguments.pop("question")), self._who, **arguments)}

    def _desk(self, question: str) -> Desk:
        desk = self.settings["room"].desks.get(question)
        if desk is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "There is no such question.")
        return desk

    @property
    def _who(self) -> str:
        name = unquote(self.request.headers.get("X-Grader", "")).strip()
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"Enter your name, with at most {LONGEST_NAME} characters.")
        return name


default_handlers = [
    (r"/(|page\.css|page\.js)", PageHandler),
    (r"/api/(\w+)", DeskHandler),
    (r"/.*", Handler),  # in front of every handler of Jupyter's own
]
"""Under this name jupyter_server looks for the handlers of a service."""


class OneTimeToken(PasswordIdentityProvider):
    """A token is replaced as soon as a browser has logged in with it.

    It stands in an address, which may be read in a browser's history or in the command line of a program that opens it.
    """

    used: Callable[[], None]
    """Called after each login. The browser that has logged in goes on with its cookie."""

    async def get_user_token(self, handler: web.RequestHandler) -> User | None:
        """Whoever sends the token, once."""
        user = await super().get_user_token(handler)
        if user is not None:
            self.token = _new_token()
            self.used()
        return user


def _new_token() -> str:
    return secrets.token_urlsafe(24)


class WrittenServer(ServerApp):
    """A server without Jupyter's services that reads no configuration file."""

    config_file_paths: list[str] = []
    default_services = ()  # type: ignore[assignment]  # jupyter_server declares a tuple of exactly its own services

    def init_signal(self) -> None:
        """End at once on Ctrl+C, where Jupyter would ask first."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.stop(from_signal=True))

    def write_browser_open_file(self) -> None:
        """Write the file that holds the token so that nobody else can read it."""
        Path(self.browser_open_file).touch(mode=0o600, exist_ok=False)
        super().write_browser_open_file()


def serve_page(
    room: Room,
    ready: Callable[[str], None],
    invite: Callable[[str], None],
    port: int = 0,
    browser: bool = False,
    certfile: str = "",
    keyfile: str = "",
) -> None:
    """Serve the page until the program is told to end.

    Once it listens, `ready` is called with the address to open; whenever an address was used, `invite` is called with the next one.
    """
    with TemporaryDirectory(prefix="autograder-written-") as folder:
        (nothing := Path(folder) / "empty").mkdir()
        identity = {"token": _new_token(), "cookie_options": {"samesite": "Lax", "expires_days": None}}
        server = WrittenServer(
            config=Config({"IdentityProvider": identity}),
            identity_provider_class=OneTimeToken,
            extra_services=[__name__],
            tornado_settings={
                "room": room,
                "static_path": None,  # no files of Jupyter's either
                "headers": {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"},
            },
            ip="127.0.0.1",
            port=port,
            port_retries=0,
            certfile=certfile,
            keyfile=keyfile,
            allow_remote_access=False,
            allow_unauthenticated_access=False,
            allow_root=True,
            root_dir=str(nothing),
            runtime_dir=folder,
            open_browser=browser,
            no_browser_open_file=not browser,
            max_body_size=2 * MOST_BYTES,  # what is a little too long still gets a sentence
            log_level=logging.ERROR,
        )
        server.initialize(argv=[], find_extensions=False)

        identity_provider = cast(OneTimeToken, server.identity_provider)

        def tell(listener: Callable[[str], None]) -> None:
            listener(f"{server.connection_url}?token={identity_provider.token}")

        identity_provider.used = partial(tell, invite)
        server.io_loop.add_callback(tell, ready)
        server.start()
