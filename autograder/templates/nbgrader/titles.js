// Rows of assignments and notebooks are called as on the notebook's page, and a tooltip has the name that nbgrader sorts
// them by. nbgrader's scripts draw a row anew after each click; what they make is renamed when it is there.
const titled = new WeakSet();

function rename() {
    for (const cell of document.querySelectorAll("#main-table td.name")) {
        const name = cell.dataset.order;
        if (!Object.hasOwn(titles, name)) continue;
        cell.title = name;
        for (const part of [cell, ...cell.querySelectorAll("a")].flatMap((one) => [...one.childNodes])) {
            if (part.nodeType !== Node.TEXT_NODE || titled.has(part) || !part.data.startsWith(name)) continue;
            part.data = titles[name] + part.data.slice(name.length);
            titled.add(part);
        }
    }
}

// Before the table is made, so that its search finds what is shown.
const insertNbgradersTable = insertDataTable;
insertDataTable = (table) => (rename(), insertNbgradersTable(table));
document.addEventListener("DOMContentLoaded", () => {
    const table = document.getElementById("main-table");
    if (table) new MutationObserver(rename).observe(table, {childList: true, subtree: true});
});
