// Links each result of Sphinx's search to the section that contains the words, and shows them in their context.
// search-sections.js contains the sections of every page: [anchor, title, prose, code]; tools/book/sections.py generates this file.
document.addEventListener("DOMContentLoaded", () => {
  const AROUND = 90; // characters before the first word that is found; twice as many are shown after it
  const query = new URLSearchParams(location.search).get("q") || "";
  const stemmer = new Stemmer();
  const forms = splitQuery(query.toLowerCase())
    .filter((word) => !stopwords.has(word))
    .map((word) => [...new Set([word, stemmer.stemWord(word)])].map(_escapeRegExp).join("|"));
  if (!forms.length) return;
  const each = forms.map((form) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${form})`, "iu"));
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms.join("|")})[\\p{L}\\p{N}]*`, "giu");

  const held = (text) => each.filter((one) => one.test(text)).length;
  const worth = ([, title, prose, code]) =>
    100 * held(`${title} ${prose} ${code}`) + 20 * held(title) + 10 * held(prose) + held(code);

  function excerpt(text) {
    const at = text.search(any);
    const begin = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
    let end = Math.min(text.length, at + 2 * AROUND);
    if (end < text.length) end = Math.max(text.lastIndexOf(" ", end), at + 1);
    const cut = text.slice(begin, end);
    const shown = document.createElement("p");
    shown.className = "context";
    if (begin) shown.append("… ");
    let done = 0;
    for (const found of cut.matchAll(any)) {
      const marked = document.createElement("mark");
      marked.textContent = found[0];
      shown.append(cut.slice(done, found.index), marked);
      done = found.index + found[0].length;
    }
    shown.append(cut.slice(done), end < text.length ? " …" : "");
    return shown;
  }

  function lead(item) {
    const link = item.querySelector("a");
    const [page, place] = link.getAttribute("href").split("#");
    let sections = SECTIONS[page.replace(/\.html$/, "")] || [];
    if (place) sections = sections.filter(([there]) => there === place);
    const best = sections.reduce((one, other) => (worth(other) > worth(one) ? other : one), ["", "", "", ""]);
    if (!worth(best)) return;
    const [there, title, prose, code] = best;
    link.href = `${page}#${there}`;
    if (!link.textContent.includes(title)) link.append(` › ${title}`);
    const text = held(prose) ? prose : held(code) ? code : prose;
    if (text) item.append(excerpt(held(text) ? text : text.slice(0, 2 * AROUND)));
  }

  const results = document.getElementById("search-results");
  new MutationObserver((changes) => {
    for (const change of changes) {
      for (const added of change.addedNodes) {
        if (added.nodeName === "LI" && added.parentNode.matches("ul.search")) lead(added);
      }
    }
  }).observe(results, { childList: true, subtree: true });
  results.querySelectorAll("ul.search > li").forEach(lead); // results that were already there
});
