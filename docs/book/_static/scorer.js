// Search results: who looks for "softmax" wants the notebook or the glossary, and the page of a module last.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    if (docname.startsWith("api/") || docname === "api") return score - 100;
    return /^(notebooks\/|glossary|notation)/.test(docname) ? score + 100 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
