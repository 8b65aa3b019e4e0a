"use strict";
// A heading of a table becomes a button that sorts its rows: upwards, and when it is pressed again downwards.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = new Map([...body.rows].map((row) => [row, row.cells[column].dataset.key]));
      const numeric = [...keys.values()].every((key) => key === "" || !isNaN(key));
      const compare = (a, b) => (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
      const rows = [...body.rows].sort((one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        if (a === "" || b === "") return (a === "") - (b === "");  // without a value: last either way
        return down ? compare(b, a) : compare(a, b);
      });
      body.append(...rows);
    });
  });
}
