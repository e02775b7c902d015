// The timeline: lanes of calls, to zoom, move and search.
"use strict";

const timeline = (() => {
  const canvas = byId("canvas");
  const context = canvas.getContext("2d");
  const lanes = data.lanes.map(unpack);
  const length = Math.max(1, data.length);
  const AXIS = 26, LABEL = 18, ROW = 18, SHORTEST = 8;
  const view = { start: 0, end: length, top: 0 };
  let found = null; // functions that match the search, by number
  let selected = null; // a span and its lane
  let colours = {};

  // --- geometry ---------------------------------------------------------------------------------

  const width = () => canvas.clientWidth;
  const height = () => canvas.clientHeight;
  const toX = (place) => (place - view.start) / (view.end - view.start) * width();
  const toPlace = (x) => view.start + x / width() * (view.end - view.start);
  const laneHeight = (lane) => LABEL + ROW * Math.max(1, lane.rows.length) + 6;
  const contentHeight = () => lanes.reduce((sum, lane) => sum + laneHeight(lane), 0);

  // As high as its content, but never most of the window.
  function fitHeight() {
    const room = Math.max(160, Math.min(innerHeight * 0.65, 640));
    canvas.style.height = `${Math.min(room, AXIS + contentHeight() + 2)}px`;
  }

  function limit() {
    const span = Math.min(length, Math.max(SHORTEST, view.end - view.start));
    const start = Math.min(Math.max(0, view.start), length - span);
    [view.start, view.end] = [start, start + span];
    view.top = Math.max(0, Math.min(view.top, contentHeight() - (height() - AXIS)));
  }

  // --- drawing ----------------------------------------------------------------------------------

  // Canvases do not know CSS variables.
  function readColours() {
    const probe = element("span");
    canvas.after(probe);
    for (const name of ["card", "text", "soft", "line", "bad", "accent", "stripe"]) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    colours.dark = isDark();
    colours.functions = [];
  }

  function colour(fn) {
    if (fn < 0) return colours.stripe;
    return colours.functions[fn] ??= (() => {
      let hash = 7;
      for (const char of data.functions[fn].name) hash = (hash * 31 + char.codePointAt(0)) >>> 0;
      const hue = hash % 360;
      return colours.dark ? `hsl(${hue} 38% 30%)` : `hsl(${hue} 62% 80%)`;
    })();
  }

  let waiting = false;
  function draw() {
    limit();
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function paint() {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [width(), height()];
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.card;
    context.fillRect(0, 0, w, h);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    let y = AXIS - view.top;
    for (const lane of lanes) {
      if (y < h && y + laneHeight(lane) > AXIS) paintLane(lane, y);
      y += laneHeight(lane);
    }
    paintAxis();
    report();
  }

  function paintLane(lane, y) {
    lane.rows.forEach((row, index) => {
      const top = y + LABEL + index * ROW;
      if (top + ROW > AXIS && top < height()) paintRow(row, top);
    });
    for (const gap of lane.gaps) {
      const [x0, x1] = [toX(gap.start), toX(gap.end)];
      if (x1 < 0 || x0 > width()) continue;
      context.fillStyle = colours.bad;
      context.fillRect(x0 - 1, y + 3, Math.max(2, x1 - x0), laneHeight(lane) - 6);
    }
    context.fillStyle = colours.soft;
    context.fillText(lane.name, 6, y + LABEL / 2 + 1);
    context.fillStyle = colours.line;
    context.fillRect(0, y + laneHeight(lane) - 1, width(), 1);
  }

  function paintRow(row, top) {
    let index = firstAfter(row, view.start);
    while (index < row.length && row[index].start < view.end) {
      const span = row[index];
      const x0 = Math.max(-1, toX(span.start));
      const x1 = Math.min(width() + 1, toX(span.end));
      paintSpan(span, x0, Math.max(1, x1 - x0 - 0.5), top);
      // What ends within the same pixel cannot be seen.
      index = x1 - x0 < 1 ? Math.max(index + 1, firstAfter(row, toPlace(Math.floor(x0) + 1))) : index + 1;
    }
  }

  function paintSpan(span, x, w, top) {
    context.globalAlpha = isFaint(span.fn) ? 0.25 : 1;
    context.fillStyle = colour(span.fn);
    // Inlined functions are lower.
    const inset = isInlined(span.fn) ? 3 : 0;
    context.fillRect(x, top + inset, w, ROW - 1 - 2 * inset);
    if (span.calls > 1 && w > 4) {
      // Calls that are drawn together have a line above them.
      context.fillStyle = colours.soft;
      context.fillRect(x, top, w, 2);
    }
    if (w > 28) {
      context.fillStyle = colours.text;
      context.fillText(fitting(context, spanName(span), w - 8), x + 4, top + ROW / 2);
    }
    context.globalAlpha = 1;
    if (selected && selected.span === span) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.strokeRect(x + 1, top + 1, Math.max(2, w - 2), ROW - 3);
    }
  }

  function paintAxis() {
    const [w, span] = [width(), view.end - view.start];
    context.fillStyle = colours.card;
    context.fillRect(0, 0, w, AXIS);
    // Where the view is in the whole.
    context.fillStyle = colours.line;
    context.fillRect(0, 0, w, 3);
    context.fillStyle = colours.accent;
    context.fillRect(view.start / length * w, 0, Math.max(3, span / length * w), 3);
    const rough = span / Math.max(2, w / 130);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough));
    context.textAlign = "left";
    for (let place = Math.ceil(view.start / step) * step; place <= view.end; place += step) {
      const x = toX(place);
      context.fillStyle = colours.line;
      context.fillRect(x, 6, 1, AXIS - 6);
      context.fillStyle = colours.soft;
      context.fillText(number(place), x + 4, 15);
    }
    context.fillStyle = colours.line;
    context.fillRect(0, AXIS - 1, w, 1);
  }

  // What the canvas shows, in words.
  function report() {
    const whole = view.start === 0 && view.end === length;
    const [from, to] = [view.start, view.end].map((place) => number(Math.round(place)));
    byId("range").textContent = `instructions ${from} to ${to}${whole ? " (all)" : ""}`;
    const shown = selected && describe(selected.span, selected.lane);
    byId("selection").textContent = shown ? `Selected: ${shown}` : "";
  }

  function describe(span, lane) {
    const place = `from ${number(span.start)} on${timeOf(lane.clock, span.start)}, ${lane.name}`;
    const inlined = isInlined(span.fn) ? ", inlined" : "";
    if (span.calls === 1) return `${functionName(span.fn)}${inlined}: ${plural(span.busy, "instruction", "instructions")} ${place}`;
    const calls = `${number(span.calls)} calls, drawn together`;
    const others = span.most < span.busy ? `, at least ${number(span.most)} of them in ${functionName(span.fn)}` : "";
    return `${calls}${others ? "" : ` of ${functionName(span.fn)}`}: ${number(span.busy)} instructions${others} ${place}`;
  }

  // --- moving -----------------------------------------------------------------------------------

  function zoom(factor, x = width() / 2) {
    const place = toPlace(x);
    const span = Math.min(length, Math.max(SHORTEST, (view.end - view.start) / factor));
    view.start = place - x / width() * span;
    view.end = view.start + span;
    draw();
  }

  function move(share) {
    const by = (view.end - view.start) * share;
    const start = Math.min(Math.max(0, view.start + by), length - (view.end - view.start));
    view.end += start - view.start;
    view.start = start;
    draw();
  }

  function scroll(by) { view.top += by; draw(); }
  function all() { [view.start, view.end, view.top] = [0, length, 0]; draw(); }

  // Shows a stretch with some room at both sides.
  function show(start, end) {
    const room = Math.max(SHORTEST, (end - start) * 0.25);
    [view.start, view.end] = [start - room, end + room];
    draw();
  }

  function topOf(wanted) {
    let y = 0;
    for (const lane of lanes) {
      if (lane === wanted) break;
      y += laneHeight(lane);
    }
    return y;
  }

  // Selects a span and brings it into view.
  function select(span, lane) {
    selected = { span, lane };
    const pixels = (span.end - span.start) / (view.end - view.start) * width();
    if (span.start < view.start || span.end > view.end || pixels < 4) show(span.start, span.end);
    const y = topOf(lane) + LABEL + span.row * ROW;
    if (y < view.top || y + ROW > view.top + height() - AXIS) view.top = y - (height() - AXIS) / 2;
    draw();
  }

  // --- finding ----------------------------------------------------------------------------------

  function at(x, y) {
    let top = AXIS - view.top;
    if (y < AXIS) return null;
    for (const lane of lanes) {
      const row = lane.rows[Math.floor((y - top - LABEL) / ROW)];
      if (y < top + laneHeight(lane)) {
        const gap = lane.gaps.find((gap) => Math.abs(toX(gap.start) - x) < 4);
        if (gap) return { gap, lane };
        const span = row?.[firstAfter(row, toPlace(x - 0.5))];
        return span && toX(span.start) <= x + 1 ? { span, lane } : null;
      }
      top += laneHeight(lane);
    }
    return null;
  }

  // All spans that match the search, in order.
  function matches() {
    if (!found || found.size === 0) return [];
    const list = [];
    for (const lane of lanes) {
      for (const row of lane.rows) for (const span of row) if (found.has(span.fn)) list.push({ span, lane });
    }
    // Functions that are drawn only together with others: where their longest call is.
    const drawn = new Set(list.map(({ span }) => span.fn));
    for (const fn of found) {
      const [start, size] = data.functions[fn].longest;
      const around = drawn.has(fn) || size === 0 ? null : deepest(start);
      if (around) list.push({ ...around, longest: { start, end: start + size } });
    }
    return list.sort((a, b) => a.span.start - b.span.start || a.span.row - b.span.row);
  }

  // The innermost drawn call at a place.
  function deepest(place) {
    for (const lane of lanes) {
      for (const row of [...lane.rows].reverse()) {
        const span = row[firstAfter(row, place)];
        if (span && span.start <= place) return { span, lane };
      }
    }
    return null;
  }

  function search(text) {
    const wanted = text.trim().toLowerCase();
    found = null;
    if (wanted) {
      found = new Set();
      data.functions.forEach((row, index) => { if (row.name.toLowerCase().includes(wanted)) found.add(index); });
    }
    byId("matches").textContent = found ? tally([...found].map((fn) => data.functions[fn])) : "";
    document.dispatchEvent(new Event("searchchange"));
    draw();
  }

  // What the table of functions has of those that were found.
  function tally(rows) {
    const [calls, own] = [rows.reduce((sum, row) => sum + row.calls, 0), rows.reduce((sum, row) => sum + row.own, 0)];
    const share = `${percent(own, data.instructions)} of the instructions`;
    return `${plural(rows.length, "function", "functions")}, ${plural(calls, "call", "calls")}, ${share}`;
  }

  // Goes to the next match, or to the previous one.
  function step(forward) {
    const list = matches();
    if (list.length === 0) return;
    const now = selected ? list.findIndex(({ span }) => span === selected.span) : -1;
    let next = forward ? now + 1 : now - 1;
    if (now < 0) {
      const after = list.findIndex(({ span }) => span.start >= view.start);
      next = forward ? Math.max(0, after) : after - 1;
    }
    const { span, lane, longest } = list[(next + list.length) % list.length];
    select(span, lane);
    if (longest) show(longest.start, longest.end);
  }

  // The longest call of a function, if it is drawn.
  function showLongest(fn) {
    const [start, size] = data.functions[fn].longest;
    for (const lane of lanes) {
      for (const row of lane.rows) {
        const span = row[firstAfter(row, start)];
        if (span && span.fn === fn && span.start <= start && start + size <= span.end) return select(span, lane);
      }
    }
    show(start, start + size);
  }

  // --- pointer ----------------------------------------------------------------------------------

  let drag = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / width());
    else zoom(Math.exp(-event.deltaY / 300), place(event)[0]);
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    drag = { from: place(event), view: { ...view }, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag) {
      const [dx, dy] = [x - drag.from[0], y - drag.from[1]];
      drag.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
      if (!drag.moved) return;
      canvas.classList.add("dragged");
      const by = dx / width() * (drag.view.end - drag.view.start);
      [view.start, view.end, view.top] = [drag.view.start - by, drag.view.end - by, drag.view.top - dy];
      draw();
    }
    tip(event, drag ? null : at(x, y));
  });

  canvas.addEventListener("pointerup", (event) => {
    const hit = at(...place(event));
    if (drag && !drag.moved) {
      selected = hit?.span ? hit : null;
      draw();
    }
    drag = null;
    canvas.classList.remove("dragged");
  });

  canvas.addEventListener("dblclick", (event) => {
    const hit = at(...place(event));
    if (hit?.span) show(hit.span.start, hit.span.end);
  });

  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });

  function tip(event, hit) {
    if (!hit) return showTip(event, "");
    const gap = (count) => `${plural(count, "gap", "gaps")}: part of the trace is missing here, ${hit.lane.name}`;
    showTip(event, hit.gap ? gap(hit.gap.count) : describe(hit.span, hit.lane));
  }

  new ResizeObserver(draw).observe(canvas);
  addEventListener("resize", fitHeight);
  fitHeight();
  document.addEventListener("themechange", () => { readColours(); draw(); });
  readColours();
  draw();

  // Whether a search is for other functions.
  const isFaint = (fn) => found !== null && !found.has(fn);

  return { all, colour, isFaint, move, scroll, search, showLongest, step, zoom, selected: () => selected?.span };
})();
