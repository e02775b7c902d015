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
    const span = { start, end: start + length, fn: fn - 1, calls: 1, busy: length, most: length, row: row >> 1 };
    i += 4;
    if (joined) {
      [span.calls, span.busy, span.most] = [flat[i], flat[i + 1], flat[i + 2]];
      i += 3;
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

const functionName = (fn) => (fn < 0 ? "unknown" : data.functions[fn].name);

// The longest name that is shown as it is; longer ones have their arguments left out, and the whole name as a tip.
const LONG = 64;

// A name without what stands between brackets, the outermost kept: vector<…>::push_back(…).
function shortName(name) {
  if (name.length <= LONG) return name;
  let short = without(name, "<", ">");
  if (short.length > LONG) short = without(short, "(", ")");
  return short.length > LONG ? `${short.slice(0, LONG - 1)}…` : short;
}

function without(name, open, close) {
  let [short, depth] = ["", 0];
  for (let i = 0; i < name.length; i += 1) {
    // Neither operators nor arrows are brackets.
    const operator = /operator *[<>-]*$/.test(name.slice(0, i)) || (name[i] === ">" && name[i - 1] === "-");
    if (name[i] === close && !operator && depth > 0) depth -= 1;
    if (depth === 0) short += name[i];
    if (name[i] === open && !operator) {
      if (depth === 0) short += "…";
      depth += 1;
    }
  }
  return short;
}

// Cuts a text to the room that a canvas has for it.
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle; else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

// Shows a text beside the pointer, or nothing.
function showTip(event, text) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)}px`;
  box.style.top = `${Math.min(event.clientY + 18, innerHeight - box.offsetHeight - 8)}px`;
}
const isInlined = (fn) => fn >= 0 && data.functions[fn].inside != null;

function spanName(span) {
  const name = shortName(functionName(span.fn));
  if (span.calls === 1) return name;
  return span.most < span.busy ? `${name} and others × ${number(span.calls)}` : `${name} × ${number(span.calls)}`;
}
