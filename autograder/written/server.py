"""The page for written answers, on this machine alone.

Who knows the address with its token may grade. The address is printed once; then a cookie takes its place, and every change
needs a second token that stands in the page, so that no other site can make a browser grade. The page runs no script but its own,
loads nothing from elsewhere, and shows what students wrote as text.
"""

import hmac
import json
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.gradebook.by_hand import read_marks
from autograder.gradebook.gradebook import open_gradebook
from autograder.written.answers import WrittenAnswers
from autograder.written.desk import LONGEST_NAME, Conflict, Desk, Refused
from autograder.written.questions import read_questions
from autograder.written.text_similarity import Encoder

HOSTS = ("127.0.0.1", "localhost")
MOST_BYTES = 1 << 20  # of a request
PATIENCE = 30  # seconds for a request to arrive
STILL_HERE = 20  # seconds after which a grader who asks for nothing has left

FILES = {"/page.css": "text/css", "/page.js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Room:
    """The desks of an assignment, and who sits at which."""

    def __init__(self, assignment: Assignment, encoder: Encoder | None, share: float):
        self.assignment, self.share = assignment, share
        answers = WrittenAnswers(assignment)
        self.desks = {
            question.name: Desk(assignment, question, answers, encoder)
            for question in read_questions(assignment)
        }
        if not self.desks:
            raise CourseError(f"{assignment.name} has no question that a person grades.")
        self.problem = ""
        self._present: dict[str, tuple[float, str, str]] = {}  # {who: (when, question, group)}

    def prepare(self, done: Callable[[str], None] = lambda question: None) -> None:
        """Group the answers to each question, so that the page need not wait for it."""
        try:
            for question, desk in self.desks.items():
                desk.view("")
                done(question)
        except CourseError as error:
            self.problem = str(error)

    def overview(self) -> list[dict[str, Any]]:
        """The questions, with how many answers wait."""
        rows = []
        with open_gradebook(self.assignment.root) as gradebook:
            for name, desk in self.desks.items():
                marks = read_marks(gradebook, self.assignment.name, name).values()
                written = [mark for mark in marks if not mark.blank]
                rows.append(
                    {
                        "name": name,
                        "points": desk.question.points,
                        "count": len(written),
                        "waiting": sum(mark.waiting for mark in written),
                    }
                )
        return rows

    def others(self, who: str, question: str, group: str) -> dict[str, str]:
        """Who else sits at the question, and at which group."""
        now = time.monotonic()
        self._present[who] = now, question, group
        self._present = {name: seat for name, seat in self._present.items() if now - seat[0] < STILL_HERE}
        return {
            name: at for name, (_, where, at) in self._present.items() if where == question and name != who
        }

    def agreement(self) -> list[dict[str, Any]]:
        """Second readings against first ones, question by question."""
        return [
            {"question": name, "who": who, **asdict(agreed)}
            for name, desk in self.desks.items()
            for who, agreed in desk.agreement().items()
        ]


class DeskServer(ThreadingHTTPServer):
    """`address` is what a person opens."""

    daemon_threads = True

    def __init__(self, room: Room, port: int = 0):
        super().__init__(("127.0.0.1", port), Handler)
        self.room = room
        self.token, self.page_token = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    @property
    def cookie(self) -> str:
        return f"written-{self.server_address[1]}"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/?token={self.token}"

    @contextmanager
    def running(self) -> Iterator["DeskServer"]:
        """Serves in a thread while the block runs."""
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no news; everything else is, in the terminal."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Refusal(Exception):
    """A request that is not answered, with the status and the sentence that it gets instead."""

    def __init__(self, status: HTTPStatus, sentence: str):
        super().__init__(sentence)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    server: DeskServer
    timeout = PATIENCE
    server_version, sys_version = "autograder", ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *arguments: Any) -> None:
        """The token is in the address of the first request: no line of it goes anywhere."""

    # ---------------------------------------------------------------------------------------------- who asks

    def _answer(self, handle: Callable[[], None]) -> None:
        try:
            self._require_here()
            handle()
        except Refusal as refusal:
            self._send_json({"error": str(refusal)}, refusal.status)
        except Conflict as conflict:
            self._send_json({"error": str(conflict)}, HTTPStatus.CONFLICT)
        except Refused as refused:
            self._send_json({"error": str(refused)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        except CourseError as error:
            self._send_json({"error": f"{error} Nothing was written."}, HTTPStatus.SERVICE_UNAVAILABLE)
        except ConnectionError:
            raise
        except Exception:
            self._send_json(
                {
                    "error": "Something went wrong that should not: the terminal of `autograder written` says what."
                },
                HTTPStatus.INTERNAL_SERVER_ERROR,
            )
            raise

    def _require_here(self) -> None:
        """A name that leads here from elsewhere (DNS rebinding) is no name of ours."""
        try:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            host = ""
        if host not in HOSTS:
            raise Refusal(HTTPStatus.FORBIDDEN, "This page is for this machine alone.")

    def _require_known(self) -> None:
        try:
            morsel = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            morsel = None
        if not _same(morsel.value if morsel else "", self.server.token):
            raise Refusal(HTTPStatus.FORBIDDEN, "Open the address that `autograder written` printed.")

    def _require_own_page(self) -> None:
        origin = self.headers.get("Origin")
        if origin and urlsplit(origin).netloc != self.headers.get("Host"):
            raise Refusal(HTTPStatus.FORBIDDEN, "Another site cannot grade.")
        if not _same(self.headers.get("X-Page-Token", ""), self.server.page_token):
            raise Refusal(HTTPStatus.FORBIDDEN, "The page is older than the program: load it again.")

    @property
    def _who(self) -> str:
        name = unquote(self.headers.get("X-Grader", "")).strip()
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"A grader has a name, of at most {LONGEST_NAME} letters.")
        return name

    # ------------------------------------------------------------------------------------------------ what is asked

    def _get(self) -> None:
        address = urlsplit(self.path)
        parameters = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/" and "token" in parameters:
            return self._let_in(parameters["token"])
        self._require_known()
        if address.path == "/":
            page = _file("page.html").replace("PAGE-TOKEN", self.server.page_token)
            return self._send(page.encode(), "text/html")
        if address.path in FILES:
            return self._send(_file(address.path[1:]).encode(), FILES[address.path])
        room = self.server.room
        match address.path:
            case "/api/start":
                room_state = {
                    "assignment": room.assignment.name,
                    "share": room.share,
                    "problem": room.problem,
                }
                self._send_json({**room_state, "questions": room.overview()})
            case "/api/view":
                desk = self._desk(parameters)
                self._send_json(
                    desk.view(self._who) if desk.grouped else {"preparing": True, "problem": room.problem}
                )
            case "/api/changes":
                others = room.others(self._who, parameters.get("question", ""), parameters.get("group", ""))
                self._send_json({"serial": self._desk(parameters).serial, "others": others})
            case "/api/again":
                self._send_json(self._desk(parameters).next_again(self._who, room.share))
            case "/api/agreement":
                self._send_json({"agreement": room.agreement()})
            case _:
                raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _let_in(self, token: str) -> None:
        if not _same(token, self.server.token):
            raise Refusal(HTTPStatus.FORBIDDEN, "Open the address that `autograder written` printed.")
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        self.send_header("Set-Cookie", f"{self.server.cookie}={token}; HttpOnly; SameSite=Strict; Path=/")
        self._end(b"")

    def _post(self) -> None:
        self._require_known()
        self._require_own_page()
        request = self._body()
        desk, who = self._desk(request), self._who
        result: Any = None
        match urlsplit(self.path).path:
            case "/api/give":
                desk.give(
                    who,
                    _aliases(request, "seen"),
                    _number(request),
                    _ticks(request),
                    _text(request, "comment"),
                    request.get("alone") is True,
                )
            case "/api/split":
                aliases = request.get("answers")
                if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
                    raise Refusal(HTTPStatus.BAD_REQUEST, "Answers are a list of names.")
                result = desk.split(who, _text(request, "group"), _text(request, "tag"), aliases)
            case "/api/join":
                result = desk.join(who, _aliases(request, "groups"))
            case "/api/undo":
                result = asdict(desk.undo(who))
            case "/api/again":
                desk.give_again(who, _text(request, "answer"), _number(request), _ticks(request))
            case _:
                raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
        self._send_json({"done": result})

    def _desk(self, request: dict[str, Any]) -> Desk:
        desk = self.server.room.desks.get(str(request.get("question", "")))
        if desk is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "There is no such question.")
        return desk

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
            self.close_connection = True
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too long.")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            raise Refusal(HTTPStatus.BAD_REQUEST, "The request is no JSON object.")
        return request

    # -------------------------------------------------------------------------------------------------- answers

    def _send_json(self, content: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        if status != HTTPStatus.OK:
            self.close_connection = True  # what came with the request may not have been read
        self._send(json.dumps(content).encode(), "application/json", status)

    def _send(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self._end(content)

    def _end(self, content: bytes) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _file(name: str) -> str:
    return (files("autograder") / "templates" / "written" / name).read_text(encoding="utf-8")


def _same(token: str, expected: str) -> bool:
    return hmac.compare_digest(token.encode(), expected.encode())


def _text(request: dict[str, Any], name: str) -> str:
    value = request.get(name, "")
    if not isinstance(value, str):
        raise Refusal(HTTPStatus.BAD_REQUEST, f"{name} is a text.")
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(request: dict[str, Any]) -> float:
    value = request.get("score")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Refusal(HTTPStatus.BAD_REQUEST, "Points are a number.")
    return float(min(max(value, -1), 1e9))  # an integer of any length becomes a number


def _ticks(request: dict[str, Any]) -> list[int]:
    ticks = request.get("ticks", [])
    if not isinstance(ticks, list) or not all(type(tick) is int for tick in ticks):
        raise Refusal(HTTPStatus.BAD_REQUEST, "Ticks are a list of numbers.")
    return ticks


def _aliases(request: dict[str, Any], name: str) -> dict[str, str]:
    entries = request.get(name)
    if not isinstance(entries, dict) or not all(isinstance(tag, str) for tag in entries.values()):
        raise Refusal(HTTPStatus.BAD_REQUEST, f"{name} are names with tags.")
    return entries
