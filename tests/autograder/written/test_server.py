"""Who may ask the page for what: this machine, with the token, from the page itself."""

import http.client
import json
import shutil
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest

from autograder.course import Assignment
from autograder.written.server import MOST_BYTES
from tests.autograder.written.class_of import NAME, QUESTION, group_of, marks, seen
from tests.autograder.written.conftest import MIXTURE
from tests.autograder.written.serving import next_address, serving


class Browser:
    """A browser that has opened the address, and can be told to lie."""

    def __init__(self, address, running):
        self.running = running
        self.port, self.token = urlsplit(address).port, address.partition("token=")[2]
        self.headers = {"X-Grader": "ann"}
        cookies = SimpleCookie()
        for path in (f"/?token={self.token}", "/"):
            reply, _ = self.ask(path)
            for line in reply.headers.get_all("Set-Cookie", ()):
                cookies.load(line)
            self.headers["Cookie"] = "; ".join(f"{name}={one.coded_value}" for name, one in cookies.items())
        self.headers["X-XSRFToken"] = cookies["_xsrf"].value
        self.login = next(name for name in cookies if name != "_xsrf")

    def ask(self, path, body=None, method=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        blob = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, blob, sent)
        reply = connection.getresponse()
        return reply, reply.read()

    def view(self):
        return json.loads(self.ask(f"/api/view?question={QUESTION}")[1])

    def give(self, score=1, **headers):
        given = {"question": QUESTION, "seen": seen(group_of(self.view(), MIXTURE)), "score": score}
        return self.ask("/api/give", given, **headers)


@pytest.fixture(scope="module")
def nine(class_of_nine, tmp_path_factory):
    """One copy for all tests here: what is refused changes nothing."""
    folder = tmp_path_factory.mktemp("served") / "course"
    shutil.copytree(class_of_nine.root, folder)
    return Assignment(folder, NAME)


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    return tmp_path_factory.mktemp("terminal") / "errors"


@pytest.fixture(scope="module")
def browser(nine, errors):
    with serving(nine, "--no-browser", errors=errors) as (running, address):
        yield Browser(address, running)


def points(assignment):
    return {mark.score for mark in marks(assignment).values()}


@pytest.mark.slow
def test_a_grade_goes_from_the_page_to_the_gradebook(nine, browser):
    reply, words = browser.give()
    assert reply.status == 200, words
    assert points(nine) == {None, 1}
    start = json.loads(browser.ask("/api/start")[1])
    assert {row["name"]: row["waiting"] for row in start["questions"]}[QUESTION] == 4
    assert browser.ask("/api/undo", {"question": QUESTION})[0].status == 200
    assert points(nine) == {None}


@pytest.mark.slow
def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_gets(browser):
    token = next_address(browser.running).partition("token=")[2]
    reply, _ = browser.ask(f"/?token={token}", Cookie="")
    cookie = reply.getheader("Set-Cookie")
    assert reply.status == 302 and reply.getheader("Location") == "/"
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and token not in cookie
    assert browser.ask("/?token=guess", Cookie="")[0].status == 403


@pytest.mark.slow
@pytest.mark.parametrize("first", ["/", "/page.js", "/api/start", "/nowhere"])
def test_a_token_that_was_used_opens_nothing_for_whoever_reads_it_afterwards(browser, first):
    token = next_address(browser.running).partition("token=")[2]
    assert browser.ask(f"{first}?token={token}", Cookie="")[0].status != 403
    for path in ("/", "/page.js", "/api/start"):
        reply, words = browser.ask(f"{path}?token={token}", Cookie="")
        assert reply.status == 403 and "terminal shows" in json.loads(words)["error"]
        assert browser.ask(path, Cookie="", Authorization=f"token {token}")[0].status == 403
    assert browser.ask("/api/start")[0].status == 200  # with a cookie


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/api/start", f"/api/view?question={QUESTION}", "/api/agreement"]
)
def test_without_the_token_nothing_is_shown(browser, path):
    for cookie in ("", f"{browser.login}=guess", "\x7f;=;", f"{browser.login}=é"):
        assert browser.ask(path, Cookie=cookie)[0].status in (400, 403)


@pytest.mark.parametrize(
    "lie",
    [
        {"Host": "evil.example"},
        {"Host": "[::1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"X_XSRFToken": ""},
        {"X_XSRFToken": "guess"},
        {"Cookie": ""},
    ],
)
def test_another_site_cannot_grade(nine, browser, lie):
    assert browser.ask("/api/undo", {"question": QUESTION}, **lie)[0].status in (403, 404)
    if "Host" in lie or "Origin" in lie:
        assert browser.ask("/api/start", **lie)[0].status in (403, 404)
    else:
        assert browser.give(**lie)[0].status == 403
    assert points(nine) == {None}


def test_the_page_runs_its_own_script_alone_and_names_nobody(browser):
    page, words = browser.ask("/")
    for reply, _ in ((page, words), browser.ask("/api/start"), browser.ask("/", Cookie="")):
        policy = reply.getheader("Content-Security-Policy")
        assert (
            "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert reply.getheader("X-Content-Type-Options") == "nosniff"
        assert reply.getheader("Referrer-Policy") == "no-referrer"
        assert reply.getheader("Cache-Control") == "no-store"
    assert b"<script src=" in words and b"onclick" not in words and browser.token.encode() not in words


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/contents",
        "/api/kernels",
        "/api/sessions",
        "/api/terminals",
        "/api/me",
        "/files/jpserver.json",
    ]
    + [
        "/terminals/1",
        "/login",
        "/logout",
        "/metrics",
        "/static/favicon.ico",
        "/robots.txt",
        "/lab",
        "/formgrader",
    ],
)
def test_jupyter_offers_nothing_of_its_own(browser, path):
    assert browser.ask(path)[0].status == 404
    assert browser.ask(path, Cookie="")[0].status == 403
    assert browser.ask(path, {}, method="PUT")[0].status in (404, 405)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"question": 7}', b'{"question": "../secret"}']
    + [
        json.dumps({"question": QUESTION, **more}).encode()
        for more in (
            {},
            {"score": "1", "seen": {}},
            {"score": 1, "seen": ["a"]},
            {"score": 10**400, "seen": {"a": "b"}},
            {"score": True, "seen": {}},
            {"score": 1, "seen": {"a": "b"}, "ticks": [1e999]},
            {"score": 1, "seen": {"a": "b"}, "comment": {}},
            {"score": 1, "seen": {"a": "b"}, "comment": "\ud800"},
        )
    ],
)
def test_what_is_no_request_of_ours_is_refused_in_a_sentence(nine, browser, body):
    reply, words = browser.ask("/api/give", body)
    assert 400 <= reply.status < 500 and json.loads(words)["error"].endswith(".")
    assert points(nine) == {None}


def test_there_are_only_the_questions_and_actions_of_the_assignment(browser):
    assert browser.ask("/api/view?question=another")[0].status == 404
    assert browser.ask("/api/delete", {"question": QUESTION})[0].status == 404
    assert browser.ask("/", {})[0].status == 404


@pytest.mark.slow
def test_a_request_has_a_size_and_a_grader_a_name(browser):
    reply, words = browser.ask("/api/give", b" " * (MOST_BYTES + 1))
    assert reply.status == 413 and "too long" in json.loads(words)["error"]
    for name in ("", "x" * 100, "a%0Ab"):
        assert browser.ask(f"/api/view?question={QUESTION}", X_Grader=name)[0].status == 400


@pytest.mark.slow
def test_graders_see_one_another(browser):
    path = f"/api/changes?question={QUESTION}&group=g1"
    assert json.loads(browser.ask(path)[1])["others"] == {}
    assert json.loads(browser.ask(path, X_Grader="bob")[1])["others"] == {"ann": "g1"}


@pytest.mark.slow
def test_a_conflict_is_told_apart_from_an_error(browser):
    rows = browser.view()["groups"][0]["rows"]
    stale = dict.fromkeys(rows[0]["answers"], "old")
    reply, words = browser.ask("/api/give", {"question": QUESTION, "seen": stale, "score": 1})
    assert reply.status == 409 and "so nothing was saved" in json.loads(words)["error"]


@pytest.mark.slow
def test_our_own_error_is_told_and_shown_in_the_terminal_alone(nine, browser, errors):
    state = nine.root / ".autograder" / "written" / NAME / f"{QUESTION}.json"
    state.rename(state.with_suffix(".away"))
    state.mkdir()
    reply, words = browser.ask(f"/api/view?question={QUESTION}")
    state.rmdir()
    state.with_suffix(".away").rename(state)
    assert reply.status == 500 and "terminal" in json.loads(words)["error"]
    assert browser.view()["count"] == 8
    assert "IsADirectoryError" in errors.read_text() and browser.token not in errors.read_text()
