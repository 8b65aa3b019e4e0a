// Marks the cells of nbgrader's notebooks, so that page.css can give them an edge. JupyterLab and Notebook 7 load this file
// as it stands: it is what a bundler would make of an extension (a container of webpack's module federation), written by hand.
(() => {
  const NAME = "exercise-page";
  const here = document.currentScript.src;
  let shared;

  /** A module of JupyterLab itself. */
  async function fromJupyterLab(name) {
    const versions = Object.values(shared[name]);
    return (await versions[0].get())();
  }

  /** What nbgrader says of a cell, as a class; "" for one that is neither answered nor checked. */
  function kindOf(cell) {
    const nbgrader = cell.model.getMetadata("nbgrader") ?? {};
    if (nbgrader.solution || nbgrader.task) return "exercise-page-exercise";
    return nbgrader.grade ? "exercise-page-check" : "";
  }

  function mark(notebook) {
    for (const cell of notebook.widgets) {
      const kind = kindOf(cell);
      if (kind) cell.addClass(kind);
    }
  }

  function watch(tracker, panel) {
    panel.context.ready.then(() => {
      mark(panel.content);
      panel.content.model?.cells.changed.connect(() => mark(panel.content));
    });
  }

  function activate(app, tracker) {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = new URL("page.css", here).href;
    document.head.append(style);
    tracker.forEach((panel) => watch(tracker, panel));
    tracker.widgetAdded.connect(watch);
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB[NAME] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const { INotebookTracker } = await fromJupyterLab("@jupyterlab/notebook");
      const plugin = { id: `${NAME}:marks`, autoStart: true, requires: [INotebookTracker], activate };
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
