// A click on a heading sorts its table by that column, a second click the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const up = head.ariaSort !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.ariaSort = up ? "ascending" : "descending";
    const key = (row) => row.cells[column].textContent;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const [m, n] = [Number.parseFloat(x), Number.parseFloat(y)];
      // What has no number comes last, whichever way it is sorted.
      if (Number.isNaN(m) !== Number.isNaN(n)) return Number.isNaN(m) ? 1 : -1;
      const order = Number.isNaN(m) ? x.localeCompare(y) : m - n;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }));
}
