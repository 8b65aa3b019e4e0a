"""Formgrader and feedback in a browser: no script of a student runs, nothing is asked of another host, grading by hand works."""

import base64
import os
import re
import shutil
import subprocess
from functools import partial
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from playwright.sync_api import expect
from tornado.web import RequestHandler, StaticFileHandler

from autograder.course import Assignment
from autograder.source import grade_id
from tests.autograder.road import hand_in, make_course, perfect_notebook
from tests.browser.accessibility import serious_findings
from tests.browser.conftest import RESTORED
from tests.conftest import PREFIX

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME, REFLECTION, ATTACHED = "02_attention", "attention-reflection-b", "attention-reflection-a"
TITLE = "02 · Attention, step by step"
RUN = "top.ran=1"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"><script>{RUN}</script><a href="javascript:{RUN}">s</a></svg>'
PAGE = f"<script>(window.opener || top).ran = 1; {RUN}</script>"
DATA = f"data:text/html;base64,{base64.b64encode(PAGE.encode()).decode()}"
ELSEWHERE = "http://192.0.2.1"
MARKDOWN = (
    f"[link](javascript:{RUN})",
    f"[link][ref]\n\n[ref]: javascript:{RUN}",
    f"<javascript:{RUN}>",
    f"[link](JaVaScRiPt:{RUN})",
    f"[link](java&#x0a;script:{RUN})",
    f"[link](&#106;avascript&colon;{RUN})",
    f"[link](vbscript:{RUN})",
    f"[link]({DATA})",
    f"[link][ref]\n\n[ref]: {DATA}",
    f"[link](<{DATA}> 'title')",
    "[link](evil.html)",
    "[link](files/evil.html)",
    f"[link](files/javascript:{RUN})",
    "[link](/lab/api/settings)",
    "[link](//192.0.2.1/page)",
    f"![picture]({ELSEWHERE}/a.png)",
    f"![picture][ref]\n\n[ref]: {ELSEWHERE}/a.png",
    f"[![picture]({ELSEWHERE}/b.png)](javascript:{RUN})",
    "![picture](//192.0.2.1/c.png)",
    "![picture](attachment:missing.png)",
    f"![picture](data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()})",
    f'![p]({ELSEWHERE}/d.png "x\\" onerror={RUN}")',
    f"<a href='javascript:{RUN}'>link</a>",
    f"<a href=' &#14; javascript:{RUN}'>link</a>",
    f"<a xlink:href='javascript:{RUN}' href='{DATA}'>link</a>",
    f"<a target=_self href='https://example.org/paper' onclick='{RUN}' onmouseover='{RUN}' class='full-credit'>link</a>",
    f"<img src=nowhere onerror='{RUN}'>",
    f"<img src='{ELSEWHERE}/e.png'><img srcset='{ELSEWHERE}/f.png 1x'>",
    f"<script>{RUN}</script><script src='{ELSEWHERE}/g.js'></script>",
    f"<iframe srcdoc='<script>{RUN}</script>'></iframe><iframe src='{ELSEWHERE}'></iframe>",
    f"<object data='{DATA}'></object><embed src='{ELSEWHERE}/h.swf'>",
    f"<style>body {{ display: none }} @import '{ELSEWHERE}/i.css';</style>",
    f"<p style='background:url({ELSEWHERE}/j.png);position:fixed;inset:0'>over all</p>",
    f"<link rel=stylesheet href='{ELSEWHERE}/k.css'><base href='{ELSEWHERE}/'>",
    f"<meta http-equiv=refresh content='0; url={ELSEWHERE}/'>",
    f"<form action='{ELSEWHERE}/'><button>link</button><input autofocus onfocus='{RUN}'></form>",
    f"<details open ontoggle='{RUN}'><summary>link</summary></details>",
    f"<video src='{ELSEWHERE}/l.mp4' onerror='{RUN}'></video><audio src='{ELSEWHERE}/m.mp3'></audio>",
    SVG,
    f"<math><mtext><a href='javascript:{RUN}'>link</a></mtext><maction xlink:href='javascript:{RUN}'>link</maction></math>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={RUN}&gt;'>",
    f"<svg></p><style><a id='</style><img src=1 onerror={RUN}>'>",
    f"<div title='\n\n$x$ ' onmouseover={RUN} x='\n\n'>over</div>",
    rf"$\text{{&lt;img src=x onerror={RUN}&gt;}}$ $\href{{javascript:{RUN}}}{{x}}$",
    f"```html\n</pre><script>{RUN}</script>\n```",
    f"```mermaid\n</pre><img src=x onerror={RUN}>\n```",
    f"    </code></pre><script>{RUN}</script>",
    f"</div></div></body><script>{RUN}</script>",
    f"<!--><script>{RUN}</script>-->",
    f"<a name=statusmessage id=submission_id href='javascript:{RUN}'>link</a>",
    *(
        f"[link]({host}/formgrader/manage_students/{quote(f'<img src=x onerror={RUN}>')})"
        for host in (
            "",
            "http://127.0.0.1:8888",
            "http://localhost:8888",
            "http://[::1]:8888",
            "http://2130706433:8888",
        )
    ),
    "[link](/formgrader?path=submitted/mallory/02_attention)",
    "<a href='http://127.0.0.1:8888/logout'>link</a> <a href='http:\\\\127.0.0.1:8888\\lab'>link</a>",
)
HONEST = "[an honest link](https://example.org/paper)"
ATTACKS = f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
for markup in {MARKDOWN!r}:
    display(HTML(markup), Markdown(markup))
    display({{"application/x-unknown": markup, "text/latex": markup, "image/png": markup}}, raw=True)
    print(markup)
display(SVG({SVG!r}), Javascript({RUN!r}))
print("\\x1b]8;;javascript:{RUN}\\x1b\\\\link\\x1b]8;;\\x1b\\\\")
"""


def hostile(notebook):
    """A submission with scripts wherever a browser might look: each in a cell of its own, written and raw, and in outputs."""
    for cell in notebook.cells:
        if grade_id(cell) == REFLECTION:
            cell.source = f"Because $\\frac{{1}}{{2}}$ {HONEST} {MARKDOWN[0]}"
        elif grade_id(cell) == ATTACHED:
            cell.source = f"![a](attachment:a.svg) ![b](attachment:b.png) {MARKDOWN[-1]}"
            kinds = {"image/svg+xml": base64.b64encode(SVG.encode()).decode()}
            cell.attachments = {"a.svg": kinds, "b.png": kinds | {"image/png": f'" onerror="{RUN}'}}
        elif grade_id(cell) == "attention-similarities":
            cell.source += f"\n{ATTACKS}"
    for markup in MARKDOWN:
        notebook.cells += [new_markdown_cell(markup), new_raw_cell(markup), new_code_cell(f"# {markup}")]
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Two submissions, graded, with feedback and a report."""
    course = make_course(tmp_path_factory.mktemp("course"))
    assignment = Assignment(course, NAME)
    hand_in(course, "ada", assignment, perfect_notebook(assignment))
    hand_in(course, "mallory", assignment, hostile(perfect_notebook(assignment)))
    for command in (
        ["autograder", "grade", NAME],
        ["nbgrader", "generate_feedback", NAME],
        ["autograder", "report", NAME],
    ):
        program = PREFIX / "bin" / command[0]
        done = subprocess.run(
            [program, *command[1:]], cwd=course, capture_output=True, text=True, env=os.environ
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return course


@pytest.fixture
def watched(page):
    """The page, with what it and those that it opens asked of other hosts and what they tried to say."""
    page.asked, page.said, page.opened = [], [], []
    page.set_default_timeout(120_000)  # of a busy machine

    def elsewhere(route):  # not asked for what a policy stops
        page.asked.append(route.request.url)
        route.abort()

    page.context.route(re.compile(r"^(?!https?://127\.0\.0\.1[:/])(https?|wss?|ftp):"), elsewhere)
    page.context.route("https://example.org/**", lambda route: route.fulfill(body="A paper."))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.context.on("page", lambda opened: page.opened.append(opened))
    yield page
    assert page.evaluate("top.ran") is None
    assert page.said == []
    assert page.asked == []


POINT_AT = """all => all.forEach(
    one => one.dispatchEvent(new MouseEvent("mouseover", {bubbles: true, cancelable: true, composed: true}))
)"""


def click_everything(page):
    """What a person might do by accident: point at everything that a student wrote, and click each link in it."""
    where = page.url
    written = page.locator(".rendered_html, .output_area, .input_area")
    touched = written.locator("a, button, summary, div, p, img, svg, maction, input, [onmouseover]")
    touched.evaluate_all(POINT_AT)
    links = written.locator("a").element_handles()
    assert len(links) > len(MARKDOWN) / 4
    for link in links:
        link.evaluate("one => one.click()")
        assert page.url == where, link.evaluate("one => one.outerHTML")
        assert page.evaluate("window.ran") is None, link.evaluate("one => one.outerHTML")
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None


def links_lead_where_they_may(page):
    """The honest one opens a page that knows nothing of this one; no other leads anywhere but there and to other hosts."""
    written = page.locator(".rendered_html, .output_area, .input_area")
    addresses = set(
        written.locator("a[href]").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    )
    assert "https://example.org/paper" in addresses
    assert {urlsplit(address)[:2] for address in addresses} == {("https", "example.org")}
    assert {urlsplit(one.url).hostname for one in page.opened} <= {"example.org", None}
    (paper, *_) = [one for one in page.opened if one.url == "https://example.org/paper"]
    paper.wait_for_load_state()
    assert paper.evaluate("[window.opener, document.referrer]") == [None, ""]


def formulas_are_drawn(page):
    sizes = page.locator("math").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert sizes and min(sizes) > 5


def feedback(course, student):
    return (course / "feedback" / student / NAME / f"{NAME}.html").as_uri()


@pytest.mark.parametrize("student", ["ada", "mallory"])
def test_feedback_is_drawn_and_runs_no_script(course, watched, student, picture):
    watched.goto(feedback(course, student))
    expect(watched.locator("body")).to_contain_text("attention-similarities: passed")
    formulas_are_drawn(watched)
    picture(watched, f"instructor_feedback_{student}")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_in_feedback_and_report(course, watched, colours):
    watched.emulate_media(color_scheme=colours)
    for page in (feedback(course, "ada"), (course / "report.html").as_uri()):
        watched.goto(page)
        assert serious_findings(watched) == [], page


def test_feedback_begins_with_what_to_do_and_leads_there(course, watched, picture):
    """What waits for a person is named on top, and a click shows the cell."""
    watched.goto(feedback(course, "ada"))
    summary = watched.locator(".autograder-summary")
    expect(summary).to_contain_text("points are still to be graded by hand")
    assert "Test cell" not in summary.inner_text()
    for width in (900, 1280):
        watched.set_viewport_size({"width": width, "height": 900})
        assert summary.evaluate("one => one.scrollWidth <= one.clientWidth")
        picture(watched, f"instructor_feedback_top_{width}")
    summary.get_by_role("link", name="Question 2 · How attention contextualises").click()
    place = watched.locator("a[name=attention-reflection-b]").bounding_box()["y"]
    assert -5 <= place < 900


def test_no_link_of_feedback_runs_a_script(course, watched):
    watched.goto(feedback(course, "mallory"))
    click_everything(watched)
    links_lead_where_they_may(watched)


def test_feedback_s_policy_stops_what_the_cleaner_might_miss(course, watched, tmp_path):
    """The second wall alone: every markup as HTML in the page."""
    markups = [one for one in MARKDOWN if "refresh" not in one]  # which no policy stops
    page = (course / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    (tmp_path / "page.html").write_text(page.replace("</body>", "".join(markups) + "</body>"))
    watched.goto((tmp_path / "page.html").as_uri())
    for link in watched.locator("a[href^=javascript], a[href^=data]").all():
        link.dispatch_event("click")
    watched.wait_for_timeout(500)
    assert watched.evaluate("window.ran") is None


@pytest.fixture
def formgrader(address, watched):
    """The address of formgrader's pages, with the token as a cookie."""
    host, _, _ = address.partition("/lab")
    watched.goto(f"{host}/formgrader/manage_students?token=course")
    watched.goto("about:blank")
    return f"{host}/formgrader"


def submission_of(course, student):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return gradebook.find_submission_notebook(NAME, NAME, student).id


def test_no_link_of_formgrader_runs_a_script(course, watched, formgrader):
    watched.goto(f"{formgrader}/submissions/{submission_of(course, 'mallory')}/")
    watched.locator("input.score").first.wait_for(timeout=120_000)
    click_everything(watched)
    links_lead_where_they_may(watched)
    expect(watched.locator("body")).to_contain_text("Because")
    watched.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<b id=x onclick=\"top.ran=1\">x</b>'); x.click()"
    )
    assert watched.evaluate("window.ran") is None, "the policy lets an attribute's script run"


def test_a_file_beside_the_notebook_runs_nothing(course, watched, formgrader):
    (course / "autograded" / "mallory" / NAME / "evil.html").write_text(f"<p>Read me.</p>{PAGE}")
    for page in "evil.html", "manage_students":
        front = (
            f"{formgrader}/submissions/{submission_of(course, 'mallory')}/"
            if page == "evil.html"
            else f"{formgrader}/"
        )
        answer = watched.goto(front + page)
        assert answer.status == 200
        assert "base-uri 'none'" in answer.headers["content-security-policy"]
        assert watched.evaluate("window.ran") is None


@pytest.fixture
def complaints(watched):
    """What went wrong in the page: errors of scripts, and what a policy has stopped."""
    said = []
    watched.on("pageerror", lambda error: said.append(str(error)))
    watched.on(
        "console", lambda message: said.append(message.text) if "Content Security" in message.text else None
    )
    return said


LISTS = {
    "manage_assignments": TITLE,
    f"manage_submissions/{NAME}": "mallory",
    "manage_students": "mallory",
    "manage_students/mallory": TITLE,
    f"manage_students/mallory/{NAME}": TITLE,
    "gradebook": TITLE,
    f"gradebook/{NAME}": TITLE,
    f"gradebook/{NAME}/{NAME}": "Submission #1",
}
"""Formgrader's pages with a list, and words of one of its rows."""


@pytest.mark.parametrize("width", [900, 1280])
def test_formgrader_s_lists_name_what_students_see_and_begin_on_the_first_screen(
    course, watched, formgrader, complaints, picture, width
):
    watched.set_viewport_size({"width": width, "height": 720})
    for page, row in LISTS.items():
        watched.goto(f"{formgrader}/{page}")
        found = watched.locator("tbody tr", has_text=row).first
        found.wait_for(timeout=120_000)
        if row == TITLE:
            expect(found.locator("td.name")).to_have_attribute("title", NAME)
        assert found.bounding_box()["y"] < 480, "the list is on the first screen"
        assert watched.evaluate("document.documentElement.scrollWidth") <= width
        cut_off = watched.locator("th").evaluate_all(
            "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
        )
        assert cut_off == 0, page
        assert NAME not in " ".join(watched.locator(".breadcrumb, thead, tbody").all_inner_texts())
        picture(watched, f"instructor_{page.replace('/', '_')}_{width}")
    assert complaints == []
    watched.goto(f"{formgrader}/manage_assignments")
    watched.get_by_label("Search:").fill("step by step")
    expect(watched.locator("tbody tr")).to_have_count(1)
    watched.goto(f"{formgrader}/submissions/{submission_of(course, 'ada')}/")
    bar = watched.locator(".navbar-fixed-top")
    expect(bar.locator(f"[title='{NAME}']").first).to_have_text(TITLE)
    assert bar.bounding_box()["height"] <= 70, "the page begins below a bar of 70 pixels"


def test_formgrader_s_own_pages_still_work(course, watched, formgrader, complaints):
    watched.goto(f"{formgrader}/gradebook/{NAME}/{NAME}")
    watched.locator("tbody tr", has_text="Submission #1").first.wait_for(timeout=120_000)
    watched.get_by_role("button", name="Show All Names").click()
    expect(watched.locator("a.name-shown", has_text="mallory")).to_be_visible()
    watched.get_by_role("button", name="Hide All Names").click()
    watched.goto(f"{formgrader}/manage_assignments")
    watched.get_by_role("link", name="Add new assignment...").click()
    expect(watched.get_by_role("dialog")).to_contain_text("Add New Assignment")
    assert complaints == []


def test_formgrader_takes_a_student_with_an_apostrophe(course, watched, formgrader, complaints):
    watched.goto(f"{formgrader}/manage_students")
    watched.locator("tbody tr", has_text="mallory").first.wait_for(timeout=120_000)
    watched.get_by_role("link", name="Add new student...").click()
    watched.locator(".modal input.id").fill("o'neil & co")
    watched.locator(".modal input.last-name").fill("O'Neil")
    with watched.expect_response(lambda answer: answer.request.method == "PUT") as saved:
        watched.locator(".modal button.save").click()
    assert saved.value.ok
    watched.goto(f"{formgrader}/manage_students")
    watched.get_by_role("link", name="O'Neil, None").click()
    expect(watched.locator("tbody tr", has_text=f"{TITLE} (no submission)")).to_be_visible()
    expect(watched.locator(".breadcrumb .active")).to_have_text("o'neil & co")
    assert complaints == []
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.remove_student("o'neil & co")


def test_formgrader_shows_a_hostile_submission_and_takes_a_grade(
    course, watched, formgrader, complaints, picture
):
    watched.goto(f"{formgrader}/submissions/{submission_of(course, 'mallory')}/")
    watched.locator("input.score").first.wait_for(timeout=120_000)
    formulas_are_drawn(watched)
    picture(watched, "instructor_formgrader")
    watched.locator(".glyphicon-eye-open.name-hidden").click()
    expect(watched.locator(".name-shown").first).to_be_visible()

    def saved(kind):
        return watched.expect_response(
            lambda answer: f"/api/{kind}/" in answer.url and answer.request.method == "PUT"
        )

    score = watched.locator(f"input.score#{REFLECTION}")
    watched.locator("input.extra-credit[placeholder]").first.wait_for(state="attached")  # saving is set up
    score.fill("1.5")
    with saved("grade") as grade:
        score.press("Tab")
    assert grade.value.ok
    expect(score).to_have_value("1.5")
    extra = watched.locator(f"input.extra-credit[id={REFLECTION}_extra_credit]")
    expect(extra).to_be_focused()  # nbgrader's script hears the keyboard, also where no MathJax is loaded
    comment = watched.locator(f"textarea[id={REFLECTION}-comment]")
    comment.fill("Why <b>half</b>? $x$")
    with saved("comment") as said:
        comment.press("Escape")
    assert said.value.ok
    watched.keyboard.press("Control+Shift+F")
    expect(watched.locator("#statusmessage")).to_have_text("Submission flagged")
    assert complaints == []
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        grade = gradebook.find_grade(REFLECTION, NAME, NAME, "mallory")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.5, False)
        assert gradebook.find_comment(REFLECTION, NAME, NAME, "mallory").comment == "Why <b>half</b>? $x$"
        assert gradebook.find_submission_notebook(NAME, NAME, "mallory").flagged


# Every address, with ids that are scripts.

UNKNOWN = f"</script><script>{RUN}</script>{{{{x}}}}<svg/onload={RUN}>"
KNOWN = (f'"><img src=x onerror={RUN}>', f"';{RUN};'\\")
LEADS = """() => [...document.querySelectorAll("a[href]")].map((one) => one.href)"""
CLICK = """() => {
  document.addEventListener("click", (event) => event.target.closest("a:not([href='#'])") && event.preventDefault(), true);
  for (const one of document.querySelectorAll("a, button, [onclick], .glyphicon")) {
    if (!one.isConnected) continue;  // a click before it has drawn the row anew
    one.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
    one.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
  }
}"""


def addresses(ids, submission):
    """Each address of formgrader that a link can open, with these ids in it."""
    one_part = re.compile(r"\((?:\?P<\w+>)?\[\^/\]\+\)")
    for pattern, handler, *_ in (*handlers.default_handlers, *apihandlers.default_handlers):
        files = handler is handlers.SubmissionFilesHandler
        if (issubclass(handler, StaticFileHandler) and not files) or handler.get is RequestHandler.get:
            continue  # nbgrader's own files, and what is only posted to
        form = re.sub(r"\(\?P<action>[^)]*\)", "next", pattern).removeprefix("/formgrader").removesuffix("/?")
        for one in map(partial(quote, safe=""), (*ids, submission)):
            address = form.replace("(.*)", f"{submission}/{one}") if files else one_part.sub(one, form)
            yield f"{address}?submission_id={one}" if form in ("/api/grades", "/api/comments") else address


@pytest.fixture
def hostile_course(course, tmp_path):
    """The course, whose gradebook also holds students, assignments and notebooks whose names are scripts."""
    copy = tmp_path / "hostile"
    shutil.copytree(course, copy)
    with Gradebook(f"sqlite:///{copy}/gradebook.db") as gradebook:
        for one in KNOWN:
            gradebook.add_student(one, first_name=one, last_name=one, email=one)
            gradebook.add_assignment(one)
            gradebook.add_notebook(one, one)
            gradebook.add_submission(one, one)
            gradebook.add_submission(NAME, one)
            for step in ("submitted", "autograded"):
                shutil.copytree(copy / step / "mallory", copy / step / one)
    return copy


@pytest.mark.filterwarnings("ignore:Object of type:sqlalchemy.exc.SAWarning")
def test_no_id_runs_a_script_at_any_address_of_formgrader(hostile_course, watched, start_lab):
    host, _, _ = start_lab(hostile_course).partition("/lab")
    watched.goto(f"{host}/formgrader/manage_students?token=course")
    watched.route(
        "**/api/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    visited, found = set(), 0
    for address in dict.fromkeys(addresses((*KNOWN, UNKNOWN), submission_of(hostile_course, KNOWN[0]))):
        answer = watched.goto(f"{host}/formgrader{address}")
        policy = answer.headers["content-security-policy"]
        if "/api/" in address and answer.ok:
            assert "html" not in answer.headers["content-type"]
        watched.wait_for_function("() => !window.jQuery?.active")
        assert watched.evaluate("window.ran") is None, address
        for place in watched.evaluate(LEADS):
            assert urlsplit(place).scheme in ("http", "https"), (address, place)
        if "sandbox" in policy:  # a page in which nothing hears a click
            continue
        assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
        watched.evaluate(CLICK)
        watched.wait_for_timeout(50)  # a request that fails opens a dialog
        assert watched.evaluate("window.ran") is None, address
        visited.add(answer.status)
        found += any(one in watched.locator("body").inner_text() for one in KNOWN)
    assert visited == {200, 404} and found > 10


JUPYTERLABS = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"}


def test_a_link_does_not_run_a_student_s_program_and_jupyterlab_still_opens_courses(course, watched, address):
    host, _, _ = address.partition("/lab")
    program = course / "submitted" / "mallory" / NAME / "nbgrader_config.py"
    program.write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()")
    watched.goto(address)
    watched.wait_for_function(RESTORED)
    for path in (program.parent, program.parent.relative_to(course), "."):
        assert (
            watched.evaluate(
                "path => fetch(path).then((answer) => answer.status)", f"/formgrader?path={path}"
            )
            == 400
        )
        assert watched.goto(f"{host}/formgrader?path={path}").status == 400
    watched.goto(
        f"{host}/lab?reset"
    )  # without the start page, which would come to the front when it is ready
    watched.wait_for_function(RESTORED)
    watched.evaluate(
        "url => window.jupyterapp.commands.execute('nbgrader:open-formgrader-local', {url})",
        f"{host}/formgrader?path=.",
    )
    stranger = Request(f"{host}/formgrader?path=.", headers=JUPYTERLABS)
    with urlopen(stranger, timeout=60) as answer:
        assert "/login" in answer.url, "who has not logged in opens nothing"
    frame = watched.frame_locator("iframe[src*=formgrader], iframe").first
    expect(frame.locator("tbody tr", has_text=TITLE).first).to_be_visible(timeout=120_000)
    assert not program.with_name("ran").exists()
