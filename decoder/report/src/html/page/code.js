// The code of a function: callers, source and instructions.
"use strict";

// The callers of a function. Their instructions add up to those of the function: a call of a function that is active already
// adds none, and a row stands for those of no call in the page.
function callers(fn) {
  const rows = data.graph.filter((pair) => pair[1] === fn);
  const rest = data.functions[fn].total - rows.reduce((sum, pair) => sum + pair[3], 0);
  return rest > 0 ? [...rows, [null, fn, 0, rest]] : rows;
}

// Callers and callees of a function.
function callTable(title, rows, other) {
  const none = "none in the page";
  const place = element("div");
  table(place, [
    { title: "function", text: true, value: (row) => (row[other] === null ? none : functionName(row[other])),
      show: (row) => (row[other] === null ? none : functionLink(row[other])) },
    { title: "calls", value: (row) => row[2], show: (row) => (isInlined(row[1]) ? "inlined" : number(row[2])) },
    { title: "instructions", value: (row) => row[3], show: (row) => number(row[3]) },
  ], rows, 2, title);
  return element("div", {}, element("h3", {}, title), place);
}

// Both ways of a branch, in words.
function branchText(taken, not) {
  if (taken + not === 0) return "";
  if (not === 0) return `always taken`;
  if (taken === 0) return `never taken`;
  return `taken ${number(taken)}, not ${number(not)}`;
}

function branchCell(ways) {
  const shown = ways.map(([taken, not]) => branchText(taken, not)).filter(Boolean).join("; ");
  const oneWay = ways.some(([taken, not]) => (taken === 0) !== (not === 0));
  return element("td", { className: oneWay ? "text ways bad" : "text ways" }, shown);
}

// Marks what belongs to a line, in both listings.
function markLine(file, line) {
  for (const row of byId("code-body").querySelectorAll("tr[data-line]")) {
    row.classList.toggle("hit", row.dataset.line === `${file}:${line}`);
  }
}

function listing(title, heads, rows) {
  const head = element("tr", {}, ...heads.map((text, index) => element("th", { scope: "col", className: index > 1 ? "text" : "" }, text)));
  return element("div", {}, element("h3", {}, title),
    element("div", { className: "scroll" }, element("table", { className: "listing", "aria-label": title },
      element("thead", {}, head), element("tbody", {}, ...rows))));
}

function instructionListing(fn, rows) {
  const start = BigInt(data.functions[fn].address);
  return listing("Instructions", ["address", "executed", "instruction", "branch"], rows.map(([offset, raw, text, times, ways, line]) => {
    const row = element("tr", { className: times === 0 ? "never" : "", title: raw },
      element("td", {}, `0x${(start + BigInt(offset)).toString(16)}`),
      element("td", {}, number(times)),
      element("td", { className: "text" }, text.replace(/<(.*)>$/, (_, name) => `<${shortName(name)}>`)),
      branchCell(ways ? [ways] : []));
    if (line) {
      row.dataset.line = `${line[0]}:${line[1]}`;
      row.onclick = () => markLine(...line);
    }
    return row;
  }));
}

// The lines of a file that a function has code in, and a few around them; or all of them.
function sourceListing(number_, lines, whole) {
  const file = data.code.files[number_];
  const counts = new Map(file.lines.map(([line, times, ways]) => [line, { times, ways }]));
  const text = file.text.split("\n");
  const [first, last] = whole ? [1, text.length] : [Math.max(1, Math.min(...lines) - 3), Math.min(text.length, Math.max(...lines) + 3)];
  const rows = [];
  for (let line = first; line <= last; line += 1) {
    const count = counts.get(line);
    const row = element("tr", { className: count ? (count.times === 0 ? "never" : "") : "line" },
      element("td", {}, String(line)),
      element("td", {}, count ? number(count.times) : ""),
      element("td", { className: "text" }, text[line - 1]),
      branchCell(count?.ways ?? []));
    row.dataset.line = `${number_}:${line}`;
    row.onclick = () => markLine(number_, line);
    rows.push(row);
  }
  const made = listing(`Source: ${file.name}`, ["line", "executed", "text", "branch"], rows);
  if (!whole) {
    const more = () => made.replaceWith(sourceListing(number_, lines, true));
    made.append(element("button", { type: "button", className: "more", onclick: more }, "Show the whole file"));
  }
  return made;
}

// The source that instructions come from: the file that has most of them.
function sourceOf(rows) {
  const lines = new Map();
  for (const [, , , , , line] of rows) {
    if (line && data.code.files[line[0]].text != null) lines.set(line[0], [...(lines.get(line[0]) ?? []), line[1]]);
  }
  const most = [...lines].sort((a, b) => b[1].length - a[1].length)[0];
  return most && sourceListing(most[0], most[1], false);
}

function showFunction(fn) {
  const row = data.functions[fn];
  if (!row) return;
  const facts = [
    ["Address", row.address], ["Source", row.source],
    ["Self", `${number(row.own)} instructions, ${percent(row.own, data.instructions)}`],
    ["Total", `${number(row.total)} instructions, ${percent(row.total, data.instructions)}`],
    ["Calls", isInlined(fn) ? "" : number(row.calls)],
    ["Inlined", isInlined(fn) ? "Its code is part of the functions that call it. The first of these in the trace is below." : ""],
  ].filter(([, value]) => value);
  const code = row.inside ?? fn;
  const rows = data.code.functions[code] ?? [];
  const none = "The code of this function is not in the page.";
  const parts = rows.length === 0 ? [element("p", { className: "soft" }, none)]
    : [sourceOf(rows), instructionListing(code, rows)].filter(Boolean);
  byId("code-title").textContent = `Code of ${row.name}`;
  byId("code-body").replaceChildren(
    element("dl", { className: "facts" }, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    element("div", { className: "columns" },
      callTable("Callers", callers(fn), 0),
      callTable("Calls", data.graph.filter((pair) => pair[0] === fn), 1)),
    ...parts);
  byId("code").scrollIntoView();
}
