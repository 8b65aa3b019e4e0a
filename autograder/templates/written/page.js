"use strict";
// What students wrote is put on the page as text, never as markup.

const SHOWN_ROWS = 3; // of a group that is not open
const POLL = 4000; // milliseconds between two looks at what others did
const byId = (id) => document.getElementById(id);

let who = sessionStorage.getItem("grader") || "";
let start = null; // the assignment and its questions
let view = null; // the question on the desk
let place = 0; // the group in front
let row = -1; // the answer in front, in an open group
let opened = false;
let chosen = new Set(); // answers to split off, by row
let joining = ""; // the group that waits to be joined with another
let draft = null; // {ticks, score, comment}, not given yet
let againNow = null; // the answer of a second reading
let acted = ""; // the question in which points were given last

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function say(text, problem = false) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
  byId("message").classList.toggle("problem", problem);
}

// Jupyter compares the cookie with the header, which no other site can set.
const xsrfToken = () => document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1] ?? "";

async function ask(path, body) {
  const headers = { "X-Grader": encodeURIComponent(who) };
  const options = body
    ? { method: "POST", headers: { ...headers, "X-XSRFToken": xsrfToken(), "Content-Type": "application/json" }, body: JSON.stringify(body) }
    : { headers };
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw Object.assign(new Error("The program that serves this page has stopped. The points given so far are saved."), { gone: true });
  }
  const words = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(words.error), { conflict: reply.status === 409 });
  return words;
}

const question = () => byId("questions").value;
const asked = (more = {}) => new URLSearchParams({ question: question(), ...more });
const group = () => view?.groups[place];
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const pointsOf = (score) => `${score} ${score === 1 ? "point" : "points"}`;
const rowKey = (one) => Object.keys(one.answers)[0];
const size = (some) => some.rows.reduce((sum, one) => sum + Object.keys(one.answers).length, 0);
const waits = (some) => some.rows.some((one) => one.waiting);

// ------------------------------------------------------------------------------------------------- loading

async function load(keep = true) {
  const before = keep && group()?.id;
  const basis = keep && draft && view && JSON.stringify(target().map((one) => one.answers));
  const wanted = question();
  const next = await ask(`/api/view?${asked()}`);
  if (question() !== wanted) return;
  byId("preparing").hidden = !next.preparing;
  if (next.preparing) {
    view = null;
    byId("groups").replaceChildren();
    byId("preparing").textContent = next.problem || "The answers are being grouped. For a class of a thousand this takes a few minutes, but only once.";
    setTimeout(() => question() === wanted && load(false).catch(complain), 1000);
    return;
  }
  view = next;
  const found = view.groups.findIndex((one) => one.id === before);
  if (found >= 0) place = found;
  else if (keep) place = Math.max(0, Math.min(place, view.groups.length - 1));
  else place = Math.max(0, view.groups.findIndex(waits));
  if (!keep) { row = -1; opened = false; chosen.clear(); draft = null; joining = ""; }
  row = group() ? Math.min(row, group().rows.length - 1) : -1;
  if (basis && basis !== JSON.stringify(target().map((one) => one.answers))) {
    draft = null; // nobody overwrites what was not there to be seen
    const by = target().map((one) => one.decision?.by).find((name) => name && name !== who);
    say(by ? `${by} has graded some of these answers in the meantime, so your points were not saved.` : "These answers have changed in the meantime, so your points were not saved.", true);
  }
  render();
}

const titleOf = (name) => start.questions.find((one) => one.name === name).title;
const optionText = (title, waiting) => `${title} (${waiting ? `${waiting.toLocaleString("en")} to read` : "graded"})`;

async function loadQuestions() {
  start = await ask("/api/start");
  if (byId("questions").options.length) { // as they are now: others grade, too
    start.questions.forEach((one, at) => { byId("questions").options[at].textContent = optionText(one.title, one.waiting); });
    return;
  }
  Object.assign(byId("title"), { textContent: start.title, title: start.assignment });
  document.title = `${start.title}: written answers`;
  byId("questions").replaceChildren(...start.questions.map((one) =>
    make("option", { value: one.name, title: one.name, textContent: optionText(one.title, one.waiting) })));
  byId("questions").value = start.questions.find((one) => one.waiting)?.name || start.questions[0].name;
}

async function lookAround() {
  if (!who || !view || document.hidden) return;
  try {
    const { serial, others } = await ask(`/api/changes?${asked({ group: group()?.id || "" })}`);
    const names = Object.entries(others).map(([name, at]) => (at && at === group()?.id ? `${name} is looking at this group, too` : `${name} is here`));
    byId("others").textContent = names.join(", ");
    if (serial !== view.serial) inTurn(() => load());
  } catch (error) {
    if (error.gone) say(error.message, true);
  }
}

// -------------------------------------------------------------------------------------------------- showing

function render() {
  const graded = view.count - view.waiting;
  byId("meter").max = Math.max(1, view.count);
  byId("meter").value = graded;
  byId("counted").textContent = `${graded.toLocaleString("en")} of ${plural(view.count, "answer")} graded, ${plural(view.groups.filter(waits).length, "group")} to go`;
  byId("undo").disabled = !view.undo && !acted;
  byId("undo").title = view.undo ? `Undo: ${view.undo}` : acted ? `Undo in ${titleOf(acted)}` : "You have nothing to undo";
  byId("prompt").textContent = view.question.prompt;
  byId("model-answer").textContent = view.question.model_answer;
  byId("of").textContent = `of ${view.question.points}`;
  byId("score").max = view.question.points;
  byId("questions").selectedOptions[0].textContent = optionText(view.question.title, view.waiting);
  const left = [];
  if (view.blank) left.push(`${plural(view.blank, "answer")} left blank: given 0 points automatically.`);
  if (view.unread) left.push(`${plural(view.unread, "answer")} can be shown only in formgrader.`);
  byId("left-out").textContent = left.join(" ");
  byId("groups").replaceChildren(...view.groups.map(card));
  bringToFront();
}

function card(some, index) {
  const current = index === place;
  const item = make("li", { className: "group", tabIndex: -1 });
  item.classList.toggle("current", current);
  item.classList.toggle("graded", !waits(some));
  item.classList.toggle("joining", some.id === joining);
  item.dataset.group = some.id;
  if (current) item.setAttribute("aria-current", "true");
  const texts = some.rows.length;
  const head = make("div", { className: "head" },
    make("span", { textContent: plural(size(some), "answer") }),
    make("span", { textContent: size(some) === 1 ? "" : texts === 1 ? "the same text" : plural(texts, "different text") }),
    badge(some.rows));
  head.addEventListener("click", () => { if (index === place) toggle(); else go(index); });
  item.append(head);
  const comments = [...new Set(some.rows.map((one) => one.decision?.comment).filter(Boolean))];
  const shared = comments.length === 1 && some.rows.every((one) => one.decision?.comment);
  if (shared || !current) item.append(...comments.slice(0, SHOWN_ROWS).map(remark));
  if (!current) {
    const text = make("p", { className: "text", textContent: some.rows[0].text });
    text.addEventListener("click", () => go(index));
    item.append(text);
    return item;
  }
  const shown = opened ? some.rows : some.rows.slice(0, SHOWN_ROWS);
  shown.forEach((one, at) => item.append(answer(one, at, !shared)));
  if (shown.length < texts || (opened && texts > SHOWN_ROWS)) {
    const more = make("button", { type: "button", className: "more", textContent: opened ? "Close (o)" : `${plural(texts - shown.length, "more text")} (o)` });
    more.addEventListener("click", toggle);
    item.append(more);
  }
  return item;
}

const remark = (text) => make("p", { className: "comment", textContent: `Comment: ${text}` });

function answer(one, at, withComment) {
  const count = Object.keys(one.answers).length;
  const line = make("div", { className: "answer", tabIndex: -1 });
  line.classList.toggle("here", opened && at === row);
  line.classList.toggle("chosen", chosen.has(rowKey(one)));
  const side = make("div", { className: "side" });
  if (count > 1) side.append(make("span", { textContent: `× ${count}`, title: `${count} students wrote this text` }));
  if (one.decision || !one.waiting) side.append(badge([one]));
  if (one.decision?.alone) side.append(make("span", { textContent: "graded individually" }));
  const words = make("div", { className: "words" }, make("p", { className: "text", textContent: one.cut ? `${one.text}… (${one.cut} more characters: see formgrader)` : one.text }));
  if (withComment && one.decision?.comment) words.append(remark(one.decision.comment));
  line.append(words);
  if (side.hasChildNodes()) line.append(side);
  line.addEventListener("click", () => {
    opened = true;
    row = at;
    draft = null;
    redraw();
  });
  return line;
}

function badge(rows) {
  const waiting = rows.filter((one) => one.waiting);
  const scores = [...new Set(rows.filter((one) => !one.waiting).map((one) => one.decision?.score))];
  if (waiting.length === rows.length) {
    const again = rows.some((one) => one.decision);
    return make("span", { className: "badge waits", textContent: again ? "changed since it was graded: look again" : "to be graded" });
  }
  const givers = [...new Set(rows.map((one) => one.decision?.by).filter(Boolean))];
  const text = scores.length === 1 ? pointsOf(scores[0]) : `${Math.min(...scores)} to ${Math.max(...scores)} points`;
  const part = waiting.length ? `${text}, some still to be graded` : text;
  return make("span", { className: waiting.length ? "badge waits" : "badge", textContent: part, title: givers.length ? `given by ${givers.join(", ")}` : "" });
}

function redraw(places = [place]) {
  for (const index of places) byId("groups").children[index]?.replaceWith(card(view.groups[index], index));
  bringToFront();
}

function bringToFront() {
  const item = byId("groups").children[place];
  const front = opened && row >= 0 ? item?.querySelectorAll(".answer")[row] : item;
  const tall = front && front.offsetHeight > byId("answers").clientHeight;
  front?.scrollIntoView({ block: tall ? "start" : "nearest" });
  showMarking();
}

// The rows that points would go to now: of a group those that were not given points on their own.
function target() {
  const some = group();
  if (!some) return [];
  if (opened && row >= 0) return [some.rows[row]];
  return some.rows.filter((one) => one.waiting || !one.decision?.alone);
}

function currentDraft() {
  if (draft) return draft;
  const rows = target();
  const first = rows[0]?.decision;
  const same = first && rows.every((one) => JSON.stringify([one.decision?.score, one.decision?.ticks, one.decision?.comment]) === JSON.stringify([first.score, first.ticks, first.comment]));
  draft = same ? { ticks: new Set(first.ticks), score: String(first.score), comment: first.comment } : { ticks: new Set(), score: "", comment: "" };
  return draft;
}

function guideBoxes(ticks, changed) {
  return view.question.guide.map((point, at) => {
    const box = make("input", { type: "checkbox", checked: ticks.has(at) });
    box.addEventListener("change", () => changed(at));
    return make("label", { className: "tick" }, box, make("kbd", { textContent: at + 1 }), make("span", { textContent: point.text }), make("span", { className: "worth", textContent: `${point.worth} pt` }));
  });
}

function showMarking() {
  const now = currentDraft();
  byId("guide").replaceChildren(...guideBoxes(now.ticks, tick));
  byId("score").value = now.score;
  byId("comment").value = now.comment;
  const rows = target();
  const count = rows.reduce((sum, one) => sum + Object.keys(one.answers).length, 0);
  const alone = opened && row >= 0;
  const kept = group() ? size(group()) - count : 0;
  byId("give").textContent = alone ? (count > 1 ? `Give points to these ${count} copies` : "Give points to this answer") : `Give points to ${count > 1 ? `all ${count}` : "this answer"}`;
  byId("give").disabled = !rows.length;
  byId("target").textContent = alone ? "The points go to this answer only; the rest of its group keeps its points." : kept ? `Points given to individual answers are kept (${plural(kept, "answer")}).` : "";
}

function scoreOf(ticks) {
  const sum = [...ticks].reduce((total, at) => total + view.question.guide[at].worth, 0);
  return Math.min(view.question.points, sum);
}

function toggleTick(ticks, at) {
  if (ticks.has(at)) ticks.delete(at);
  else {
    if (view.question.alternatives) ticks.clear();
    ticks.add(at);
  }
}

function tick(at) {
  if (at >= view.question.guide.length) return;
  const now = currentDraft();
  toggleTick(now.ticks, at);
  now.changed = true;
  now.score = String(scoreOf(now.ticks));
  showMarking();
}

function tickAll(all) {
  const now = currentDraft();
  now.ticks = new Set(all && !view.question.alternatives ? view.question.guide.keys() : []);
  now.score = String(all ? view.question.points : 0);
  now.changed = true;
  showMarking();
}

// --------------------------------------------------------------------------------------------------- moving

function go(index, at = -1) {
  const before = place;
  place = Math.max(0, Math.min(index, view.groups.length - 1));
  row = at;
  if (before !== place) { opened = false; chosen.clear(); }
  draft = null;
  redraw([before, place]);
}

function toggle() {
  opened = !opened;
  row = opened ? 0 : -1;
  draft = null;
  redraw();
}

function step(by) {
  if (!opened) return go(place + by);
  const next = row + by;
  if (next < 0 || next >= group().rows.length) return go(place + by);
  row = next;
  draft = null;
  redraw();
}

// In this question, else in the next question with answers that wait.
async function nextWaiting() {
  const order = [...view.groups.keys()];
  const found = [...order.slice(place + 1), ...order.slice(0, place + 1)].find((index) => waits(view.groups[index]));
  if (found !== undefined) return go(found);
  const done = view.question.title;
  await loadQuestions();
  const at = byId("questions").selectedIndex;
  const next = [...start.questions.slice(at + 1), ...start.questions.slice(0, at)].find((one) => one.waiting);
  if (!next) return say("All answers to all questions are graded.");
  byId("questions").value = next.name;
  await load(false);
  say(`All answers to “${done}” are graded. This is “${next.title}”.`);
}

async function goToQuestion(by) {
  const next = byId("questions").selectedIndex + by;
  if (next < 0 || next >= start.questions.length) return;
  byId("questions").selectedIndex = next;
  await load(false);
}

// --------------------------------------------------------------------------------------------------- acting

function complain(error) {
  say(error.message, true);
}

async function act(path, body, said) {
  try {
    const { done } = await ask(path, { question: question(), ...body });
    draft = null;
    say(said(done));
    return done ?? true;
  } catch (error) {
    complain(error);
    if (error.conflict) draft = null; // what it was based on is gone
    return null;
  } finally {
    if (view) await load().catch(complain);
  }
}

async function give() {
  const rows = target();
  const now = currentDraft();
  const score = Number(now.score);
  if (now.score === "" || Number.isNaN(score)) return say("Tick items of the marking guide (keys 1 to 9; 0 for none) or type the points (p).", true);
  const alone = opened && row >= 0;
  const seen = Object.assign({}, ...rows.map((one) => one.answers));
  const body = { seen, score, ticks: [...now.ticks], comment: now.comment, alone };
  const given = (one) => !one.waiting && one.decision?.score === score && one.decision.comment === now.comment.trim() && one.decision.alone === alone;
  if (!now.changed && rows.every(given)) return alone ? step(1) : nextWaiting(); // nothing new
  const done = await act("/api/give", body, () => `${pointsOf(score)} to ${plural(Object.keys(seen).length, "answer")}.`);
  if (!done) return;
  acted = question();
  if (!alone || !view.waiting) return nextWaiting();
  if (row + 1 < group().rows.length) step(1);
  else redraw();
}

// In an open group, too: what was ticked goes to all of it.
function giveToGroup() {
  const kept = currentDraft();
  opened = false;
  row = -1;
  draft = kept;
  redraw();
  return give();
}

async function split() {
  const some = group();
  const rows = some.rows.filter((one, at) => (chosen.size ? chosen.has(rowKey(one)) : opened && at === row));
  const answers = rows.flatMap((one) => Object.keys(one.answers));
  if (!answers.length) return say("Open the group (o), then choose answers (x).", true);
  const made = await act("/api/split", { group: some.id, tag: some.tag, answers }, () => `${plural(answers.length, "answer")} split off.`);
  if (!made) return;
  chosen.clear();
  const index = view.groups.findIndex((one) => one.id === made);
  if (index >= 0) go(index);
}

async function join() {
  const some = group();
  if (!joining) {
    joining = some.id;
    redraw();
    return say("Go to another group and press m again to join the two, or press Esc to cancel.");
  }
  const other = view.groups.find((one) => one.id === joining);
  joining = "";
  if (!other || other === some) { redraw(); return say(""); }
  const into = await act("/api/join", { groups: { [some.id]: some.tag, [other.id]: other.tag } }, () => "Joined.");
  const index = view.groups.findIndex((one) => one.id === into);
  if (into && index >= 0) go(index);
}

async function undo() {
  draft = null;
  if (!view.undo && acted && acted !== question()) { // the last answer of the question before
    byId("questions").value = acted;
    await load(false);
  }
  const undone = await act("/api/undo", {}, ({ what }) => `Undone: ${what}.`);
  acted = "";
  const index = undone ? view.groups.findIndex((one) => one.id === undone.group) : -1;
  if (index < 0) return render();
  go(index);
  row = undone.answer ? view.groups[index].rows.findIndex((one) => undone.answer in one.answers) : -1;
  opened = row >= 0;
  const { decision } = undone;
  if (decision) draft = { ticks: new Set(decision.ticks), score: String(decision.score), comment: decision.comment };
  redraw();
}

async function showAgreement() {
  const { agreement } = await ask("/api/agreement");
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...["question", "readings by", "answers", "equal points", "at most ½ apart", "weighted kappa"].map((name) => make("th", { textContent: name, scope: "col" })))));
  const body = make("tbody");
  for (const one of agreement) {
    const cells = [one.count, `${Math.round(100 * one.equal)} %`, `${Math.round(100 * one.within_half)} %`, one.kappa === null ? "–" : one.kappa.toFixed(2)];
    body.append(make("tr", {}, make("td", { textContent: one.title, title: one.question }), make("td", { textContent: one.who }), ...cells.map((text) => make("td", { className: "number", textContent: text }))));
  }
  table.append(body);
  byId("agreement-table").replaceChildren(agreement.length ? table : make("p", { textContent: `No answer has been read twice yet. “Read again” shows ${Math.round(100 * start.share)} % of the graded answers once more, without their points, preferably to a different grader.` }));
  byId("agreement").showModal();
}

async function readAgain() {
  const next = await ask(`/api/again?${asked()}`);
  if (!next.answer) {
    byId("again").close();
    return say("No answers in the sample are left to read again: grade more first.");
  }
  againNow = { answer: next.answer, ticks: new Set() };
  byId("again-text").textContent = next.text;
  byId("again-left").textContent = `${plural(next.left, "answer")} left`;
  byId("again-score").value = "";
  byId("again-score").max = view.question.points;
  showAgainGuide();
  if (!byId("again").open) byId("again").showModal();
  byId("again-guide").querySelector("input")?.focus();
}

function showAgainGuide() {
  byId("again-guide").replaceChildren(...guideBoxes(againNow.ticks, tickAgain));
}

function tickAgain(at) {
  if (at >= view.question.guide.length) return;
  toggleTick(againNow.ticks, at);
  byId("again-score").value = scoreOf(againNow.ticks);
  showAgainGuide();
}

async function giveAgain() {
  const body = { question: question(), answer: againNow.answer, score: Number(byId("again-score").value), ticks: [...againNow.ticks] };
  try {
    await ask("/api/again", body);
    await readAgain();
  } catch (error) {
    byId("again").close();
    complain(error);
  }
}

// ----------------------------------------------------------------------------------------------------- keys

const DOES = {
  undo,
  again: () => view && readAgain().catch(complain),
  agreement: () => showAgreement().catch(complain),
  help: () => byId("help").showModal(),
  "close-again": () => byId("again").close(),
};

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  n: nextWaiting, o: toggle, 0: () => tickAll(false), a: () => tickAll(true),
  p: () => byId("score").select(), c: () => byId("comment").focus(), Enter: give,
  x: () => {
    if (!opened || row < 0) return say("Open the group first (o).", true);
    const key = rowKey(group().rows[row]);
    if (!chosen.delete(key)) chosen.add(key);
    redraw();
  },
  s: split, m: join, u: undo, "[": () => goToQuestion(-1).catch(complain), "]": () => goToQuestion(1).catch(complain),
  b: DOES.again, "?": DOES.help,
  Escape: () => { joining = ""; chosen.clear(); if (opened) toggle(); else redraw(); say(""); },
};

function onKey(event) {
  if (document.querySelector("dialog[open]")) {
    if (byId("again").open && /^[1-9]$/.test(event.key) && event.target.id !== "again-score") {
      event.preventDefault();
      tickAgain(Number(event.key) - 1);
    }
    return;
  }
  const typing = event.target.matches("textarea, input:not([type=checkbox]), select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "Enter" && event.target.id === "comment" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.target.blur();
      inTurn(give);
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !view) return;
  if (event.target.closest("button, summary") && (event.key === "Enter" || event.key === " ")) return;
  const does = (event.key === "Enter" && event.shiftKey && giveToGroup) || KEYS[event.key] || (/^[1-9]$/.test(event.key) && (() => tick(Number(event.key) - 1)));
  if (!does) return;
  event.preventDefault();
  inTurn(() => (group() || "[]u?".includes(event.key) ? does() : null));
}

// Whoever types faster than the gradebook writes loses no key: each waits for the one before.
let turn = Promise.resolve();
function inTurn(does) {
  turn = turn.then(does).catch(complain);
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", (event) => {
  const does = DOES[event.target.closest("[data-does]")?.dataset.does];
  if (does) inTurn(does);
});
byId("questions").addEventListener("change", (event) => { event.target.blur(); inTurn(() => load(false)); });
byId("score").addEventListener("input", (event) => { currentDraft().score = event.target.value; });
byId("comment").addEventListener("input", (event) => { currentDraft().comment = event.target.value; });
byId("marking").addEventListener("submit", (event) => { event.preventDefault(); document.activeElement.blur(); inTurn(give); });
byId("again-form").addEventListener("submit", (event) => { event.preventDefault(); inTurn(giveAgain); });
byId("who").addEventListener("cancel", (event) => event.preventDefault());
byId("who").addEventListener("close", () => {
  who = byId("name").value.trim();
  sessionStorage.setItem("grader", who);
  begin().catch(complain);
});

async function begin() {
  if (!who) return byId("who").showModal();
  await loadQuestions();
  if (start.problem) say(start.problem, true);
  await load(false);
}

setInterval(lookAround, POLL);
begin().catch(complain);
