// Summary and tables.
"use strict";

// A table whose columns sort. Each column has a title, the value of a row, and how to show it.
function table(place, columns, rows, sorted, caption) {
  const FIRST = 100;
  let [by, down, shown] = [sorted, true, FIRST];
  const render = () => {
    const value = columns[by].value;
    const order = rows.map((row, index) => [row, index]).sort(([a, i], [b, j]) => {
      const [x, y] = [value(a), value(b)];
      const less = typeof x === "string" ? x.localeCompare(y) : x - y;
      return (down ? -less : less) || i - j;
    });
    const head = columns.map((column, index) => element("th", {
      className: column.text ? "text" : "", scope: "col",
      "aria-sort": index === by ? (down ? "descending" : "ascending") : "none",
    }, element("button", { type: "button", onclick: () => {
      [by, down] = [index, index === by ? !down : !column.text];
      render();
      place.querySelectorAll("th button")[index].focus();
    } }, column.title)));
    const body = order.slice(0, shown).map(([row, index]) => element("tr", {}, ...columns.map((column) => {
      const cell = element("td", { className: column.text ? "text" : "" }, column.show(row, index));
      if (column.share?.(row) > 0.004) {
        cell.classList.add("share");
        cell.style.setProperty("--share", `${100 * column.share(row)}%`);
      }
      return cell;
    })));
    const whole = element("table", { "aria-label": caption }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
    const parts = [element("div", { className: "scroll" }, whole)];
    if (rows.length > shown) {
      const more = () => { shown = rows.length; render(); };
      parts.push(element("button", { type: "button", className: "more", onclick: more }, `Show all ${number(rows.length)}`));
    }
    place.replaceChildren(...parts);
  };
  if (rows.length === 0) place.replaceChildren(element("p", { className: "soft" }, "None."));
  else render();
}

// A link to the code of a function.
function functionLink(fn, text = functionName(fn)) {
  return element("a", { href: `#function-${fn}`, title: text }, shortName(text));
}

// Which source files the page holds, and which it does not.
const leftOut = {
  "outside": "outside the folder of the program; --source-root DIR includes what is below DIR",
  "missing": "not found below the folder of the program; --source-root DIR names another place",
  "not-text": "not a text file",
  "too-large": "too large",
};
function sourceList() {
  const files = data.code.files;
  if (files.length === 0) return;
  const held = files.filter((file) => file.text != null);
  const others = files.filter((file) => file.text == null);
  const item = (file) => element("li", {}, element("span", { className: "mono" }, file.name),
    file.left_out ? element("span", { className: "soft" }, `: not included (${leftOut[file.left_out]})`) : "");
  const count = [`${plural(held.length, "file is", "files are")} in this page`, others.length > 0 && `${number(others.length)} not included`];
  byId("facts").append(element("dt", {}, "Sources"), element("dd", {},
    element("details", { id: "sources" }, element("summary", {}, count.filter(Boolean).join(", ")), element("ul", {}, ...held.map(item), ...others.map(item)))));
}

// Why the page may not show what was executed.
function doubts() {
  byId("doubts").hidden = data.about.doubts.length === 0;
  byId("doubts").replaceChildren(...data.about.doubts.map((text) => element("p", {}, text)));
}

function summary() {
  const [stats, program] = [data.stats, data.stats?.program];
  const figures = [
    ["instructions", number(data.instructions)],
    ["gaps", number(data.gaps), data.gaps ? "bad" : "good"],
    ["losses of packets", number(data.losses), data.losses ? "bad" : "good"],
    ["exceptions", number(data.exceptions)],
    ["interrupts", number(data.interrupts)],
    ["functions", number(data.functions.length)],
  ];
  if (program?.bits_per_instruction != null) {
    figures.push(["bits per instruction", program.bits_per_instruction.toFixed(4)]);
    figures.push(["compression", `${(100 * program.compression).toFixed(2)} %`]);
  }
  if (stats) {
    figures.push(["packets", number(stats.total.packets)]);
    figures.push(["bytes of capture", number(stats.capture_bytes)]);
  }
  byId("figures").replaceChildren(...figures.map(([name, value, kind]) =>
    element("div", {}, element("dt", {}, name), element("dd", { className: kind ?? "" }, value))));
  const facts = [
    ["Capture", data.about.capture],
    ["Part", data.about.window && `${data.about.window}; all numbers of instructions count from its start`],
    ["Protocol", data.about.protocol],
    ["Modes", data.modes],
    ["Ended early", data.about.ended_early],
    ["End", stats && !stats.ended && "the trace does not end: tracing was on at the last packet"],
    ["Programs", data.about.programs.join(", ")],
    ["Made by", data.about.command],
    ["Page by", `hartrace ${data.version}`],
  ].filter(([, value]) => value);
  byId("facts").replaceChildren(...facts.flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", { className: name === "Made by" ? "mono" : "" }, value)]));
  sourceList();
  if (data.gaps === 0) return;
  const place = element("div");
  byId("gaps").replaceChildren(element("h3", {}, "Gaps"), place);
  table(place, [
    { title: "after instruction", value: (row) => row.insns, show: (row) => number(row.insns) },
    { title: "byte", value: (row) => row.byte, show: (row) => number(row.byte) },
    { title: "packet", value: (row) => row.packet, show: (row) => number(row.packet) },
    { title: "source", value: (row) => row.source ?? -1, show: (row) => row.source ?? "–" },
    { title: "cause", text: true, value: (row) => row.cause, show: (row) => row.cause },
  ], data.gap_rows, 0, "Gaps");
  const more = data.gaps - data.gap_rows.length;
  if (more > 0) place.append(element("p", { className: "soft" }, `and ${number(more)} more`));
}

function functionTable() {
  const all = data.instructions;
  const columns = [
    { title: "function", text: true, value: (row) => row.name, show: (row, index) => element("span", {}, functionLink(index), isInlined(index) ? element("span", { className: "soft" }, " inlined") : "") },
    { title: "self", value: (row) => row.own, show: (row) => number(row.own), share: (row) => (all ? row.own / all : 0) },
    { title: "share", value: (row) => row.own, show: (row) => percent(row.own, all) },
    { title: "total", value: (row) => row.total, show: (row) => number(row.total), share: (row) => (all ? row.total / all : 0) },
    { title: "calls", value: (row) => row.calls, show: (row, index) => (isInlined(index) ? "" : number(row.calls)) },
    { title: "longest", value: (row) => row.longest[1], show: (row, index) => element("button", {
      type: "button", className: "link", title: "Show it in the timeline",
      onclick: () => { timeline.showLongest(index); byId("timeline").scrollIntoView(); byId("canvas").focus({ preventScroll: true }); },
    }, number(row.longest[1])) },
    { title: "address", text: true, value: (row) => row.address, show: (row) => element("code", { className: "whole" }, row.address) },
  ];
  if (data.functions.some((row) => row.source)) {
    columns.push({ title: "source", text: true, value: (row) => row.source ?? "", show: (row) => row.source ?? "" });
  }
  table(byId("function-table"), columns, data.functions, 1, "Functions");
}

function edgeTables() {
  const place = (row, key) => element("code", { title: `${row[key]} ${row[`${key}_place`]}` }, shortName(row[`${key}_place`]));
  const columns = [
    { title: "from", text: true, value: (row) => row.from, show: (row) => (row.function == null ? place(row, "from") : functionLink(row.function, row.from_place)) },
    { title: "to", text: true, value: (row) => row.to, show: (row) => place(row, "to") },
    { title: "kind", text: true, value: (row) => row.kind, show: (row) => row.kind },
    { title: "count", value: (row) => row.count, show: (row) => number(row.count) },
  ];
  table(byId("loop-table"), columns, data.loops, 3, "Loops");
  table(byId("edge-table"), columns, data.edges, 3, "Edges");
}

function packetTable() {
  const stats = data.stats;
  if (!stats) {
    byId("packets").hidden = true;
    document.querySelector("nav a[href='#packets']").parentElement.remove();
    return;
  }
  const rows = Object.entries(stats.formats).map(([code, row]) => [`${code} ${row.name}`, row]);
  rows.push(["malformed", stats.malformed], ["other trace", stats.other]);
  const used = rows.filter(([, row]) => row.packets > 0);
  table(byId("packet-table"), [
    { title: "format", text: true, value: ([name]) => name, show: ([name]) => name },
    { title: "packets", value: ([, row]) => row.packets, show: ([, row]) => number(row.packets) },
    { title: "share", value: ([, row]) => row.packets, show: ([, row]) => percent(row.packets, stats.total.packets) },
    { title: "bytes of payload", value: ([, row]) => row.bytes, show: ([, row]) => number(row.bytes), share: ([, row]) => (stats.total.bytes ? row.bytes / stats.total.bytes : 0) },
    { title: "share", value: ([, row]) => row.bytes, show: ([, row]) => percent(row.bytes, stats.total.bytes) },
  ], used, 3, "Packets by format");
  const overhead = percent(stats.overhead_bytes, stats.capture_bytes);
  byId("packet-table").append(element("p", { className: "soft" },
    `${number(stats.total.packets)} packets with ${number(stats.total.bytes)} bytes of payload; ${number(stats.overhead_bytes)} bytes (${overhead}) of the capture are framing.`));
}
