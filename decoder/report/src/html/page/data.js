// The data of the page, and how it is written.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);
const number = (value) => Number(value).toLocaleString("en");
const percent = (part, whole) => (whole ? `${(100 * part / whole).toFixed(2)} %` : "–");
const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;

// An element with properties and children; text is never read as HTML.
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "style") for (const [name, own] of Object.entries(value)) made.style.setProperty(name, own);
    else if (key.startsWith("aria-") || key === "scope") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

// When an instruction of a source was executed, in words. Between two readings of the clock, time passes in proportion to
// instructions; without any, it is not known.
function timeOf(clock, insn) {
  const { unit, anchors } = data.clocks[clock];
  if (anchors.length === 0) return "";
  let low = 0, high = anchors.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (anchors[middle][0] <= insn) low = middle; else high = middle;
  }
  const [[from, start], [to, end]] = [anchors[low], anchors[low + 1] ?? anchors[low]];
  const known = from === insn || anchors.length === 1 || to === from;
  const time = known ? start : start + (insn - from) * (end - start) / (to - from);
  return `, at ${from === insn ? "" : "about "}${number(Math.round(time))} ${unit}`;
}

// The spans of a lane by row, each in order and without overlap; LaneData in tables.rs has the coding.
function unpack(lane) {
  const rows = [];
  const flat = lane.spans;
  let start = 0;
  for (let i = 0; i < flat.length;) {
    start += flat[i];
    const [length, row, fn] = [flat[i + 1], flat[i + 2], flat[i + 3]];
    const joined = row % 2 === 1;
    const span = { start, end: start + length, fn: fn - 1, calls: 1, busy: length, row: row >> 1 };
    i += 4;
    if (joined) {
      [span.calls, span.busy] = [flat[i], flat[i + 1]];
      i += 2;
    }
    (rows[span.row] ??= []).push(span);
  }
  const gaps = [];
  let at = 0;
  for (let i = 0; i < lane.gaps.length; i += 3) {
    at += lane.gaps[i];
    gaps.push({ start: at, end: at + lane.gaps[i + 1], count: lane.gaps[i + 2] });
  }
  return { name: lane.name, clock: lane.clock, rows: Array.from(rows, (row) => row ?? []), gaps };
}

// The first index whose span ends after a place.
function firstAfter(spans, place) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end > place) high = middle; else low = middle + 1;
  }
  return low;
}

const functionName = (fn) => (fn < 0 ? "several functions" : data.functions[fn].name);
const isInlined = (fn) => fn >= 0 && data.functions[fn].inside != null;

function spanName(span) {
  return span.calls > 1 ? `${functionName(span.fn)} × ${number(span.calls)}` : functionName(span.fn);
}
