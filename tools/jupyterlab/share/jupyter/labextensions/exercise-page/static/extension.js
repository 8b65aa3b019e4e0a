// Marks the cells of nbgrader's notebooks, so that page.css can draw a line next to them, and links without a target: a notebook
// that was fetched from an exchange has no start page and no neighbours. Shows what Validate found as a list below a count, and
// gives sliders names. JupyterLab and Notebook 7 load this file as it is: it has the form that a bundler produces (a container of
// webpack's module federation), but was written by hand.
(() => {
  const NAME = "exercise-page";
  const here = document.currentScript.src;
  let shared;

  /** A module of JupyterLab itself. */
  async function fromJupyterLab(name) {
    const versions = Object.values(shared[name]);
    return (await versions[0].get())();
  }

  /** The class for a cell, from nbgrader's metadata; "" for a cell that is neither an answer nor a check. */
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

  /** Whether a file exists. If the server cannot say, the answer is true, so that the link stays as it is. */
  async function isThere(server, path) {
    try {
      await server.contents.get(path, { content: false });
      return true;
    } catch (error) {
      return ![400, 403, 404].includes(error.response?.status);
    }
  }

  /** The file to which a link of the text leads; "" if it is above the server's folder; undefined for other kinds of links. */
  function fileOf(link, files) {
    if (!/^https?:/.test(link.getAttribute("href") ?? "")) return undefined; // not resolved yet, or within the page
    const target = new URL(link.href);
    if (target.origin !== files.origin) return undefined;
    return target.pathname.startsWith(files.pathname) ? decodeURIComponent(target.pathname.slice(files.pathname.length)) : "";
  }

  /** Show links to files that do not exist as plain text. */
  function followLinks(server, notebook) {
    const files = new URL("files/", new URL(server.serverSettings.baseUrl, document.baseURI));
    const asked = new Map([["", Promise.resolve(false)]]);
    const look = () => {
      for (const link of notebook.node.querySelectorAll(".jp-MarkdownCell a[href]")) {
        const file = fileOf(link, files);
        if (file === undefined) continue;
        if (!asked.has(file)) asked.set(file, isThere(server, file));
        asked.get(file).then((there) => link.classList.toggle("exercise-page-nowhere", !there));
      }
    };
    // JupyterLab resolves a link after it is drawn.
    const changes = { childList: true, subtree: true, attributes: true, attributeFilter: ["href"] };
    new MutationObserver(look).observe(notebook.node, changes);
    look();
  }

  /** Name a slider's handle after the text next to it, so that a screen reader can say what the slider changes. */
  function nameSliders(notebook) {
    const look = () => {
      for (const handle of notebook.node.querySelectorAll("[role=slider]:not([aria-label])")) {
        const words = handle.closest(".jupyter-widgets")?.querySelector(".widget-label")?.textContent.trim();
        if (words) handle.setAttribute("aria-label", words);
      }
    };
    new MutationObserver(look).observe(notebook.node, { childList: true, subtree: true });
    look();
  }

  function watch(server, panel) {
    panel.context.ready.then(() => {
      mark(panel.content);
      followLinks(server, panel.content);
      nameSliders(panel.content);
      panel.content.model?.cells.changed.connect(() => mark(panel.content));
    });
  }

  /** Show what Validate found as a list below a count. nbgrader shows each cell in two boxes, below "The following cell failed:". */
  function listFailures(message) {
    const boxes = [...message.querySelectorAll(":scope > .jp-RenderedText > pre")];
    const list = document.createElement("ol");
    let count = 0;
    for (let at = 0; at + 1 < boxes.length; at += 2) {
      const [, number, name, source] = boxes[at].innerText.match(/^(\d+ of \d+: |# )?(.*)\n*([^]*)$/);
      const item = document.createElement("li");
      const title = document.createElement("strong");
      title.innerText = name;
      item.append(title);
      if (source) item.append(Object.assign(document.createElement("pre"), { innerText: source }));
      item.append(boxes[at + 1]); // with the colours that nbgrader has given it
      list.append(item);
      if (number !== "# ") count += 1;
    }
    const sum = document.createElement("p");
    const cells = count === 1 ? "1 graded cell is not right yet." : `${count} graded cells are not right yet.`;
    sum.innerText = count ? cells : "Every exercise that counts is right.";
    message.replaceChildren(sum, list);
  }

  function watchDialogs() {
    new MutationObserver(() => {
      const message = document.querySelector("#validation-message.validation-failed:not(:has(ol))");
      if (message) listFailures(message);
    }).observe(document.body, { childList: true });
  }

  function activate(app, tracker) {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = new URL("page.css", here).href;
    document.head.append(style);
    watchDialogs();
    const server = app.serviceManager;
    tracker.forEach((panel) => watch(server, panel));
    tracker.widgetAdded.connect((_, panel) => watch(server, panel));
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
