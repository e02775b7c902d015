// The flame graph: call stacks by the instructions in them, callers above what they call.
"use strict";

const flames = (() => {
  const canvas = byId("flame-canvas");
  const context = canvas.getContext("2d");
  const ROW = 19;
  const nodes = build();
  const root = nodes[0];
  const depth = nodes.reduce((most, node) => Math.max(most, node.depth), 0) + 1;
  let view = root; // what takes the whole width
  let hit = null; // under the pointer or the keys
  let colours = {};

  // All stacks, in the order of the page's data: FlameData in flames.rs has the coding.
  function build() {
    const several = data.flames.length > 1;
    const all = { depth: 0, fn: -1, name: "all", insns: data.instructions, own: 0, start: 0, next: 0, caller: null };
    const list = [all];
    for (const { source, stacks } of data.flames) {
      const above = [all];
      for (let i = several ? 0 : 4; i < stacks.length; i += 4) {
        const level = stacks[i] + (several ? 1 : 0);
        const [fn, insns, own] = [stacks[i + 1] - 1, stacks[i + 2], stacks[i + 3]];
        const caller = above[level - 1];
        const name = stacks[i] === 0 ? `source ${source ?? "without a number"}` : functionName(fn);
        const node = { depth: level, fn, name, insns, own, start: caller.next, next: caller.next, caller };
        caller.next += insns;
        above[level] = node;
        list.push(node);
      }
    }
    return list;
  }

  const width = () => canvas.clientWidth;
  const scale = () => width() / Math.max(1, view.insns);
  const isAbove = (node) => node.depth < view.depth;

  // Where a node is drawn; null if it is not in the view.
  function box(node) {
    if (isAbove(node)) {
      for (let above = view; above; above = above.caller) if (above === node) return [0, width()];
      return null;
    }
    const x0 = (node.start - view.start) * scale();
    const x1 = x0 + node.insns * scale();
    return x1 <= 0 || x0 >= width() || x1 - x0 < 0.3 ? null : [Math.max(0, x0), Math.min(width(), x1)];
  }

  function readColours() {
    const probe = element("span");
    canvas.after(probe);
    for (const name of ["card", "text", "soft", "line", "accent", "stripe"]) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
  }

  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function paint() {
    canvas.style.height = `${depth * ROW + 2}px`;
    const ratio = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width() * ratio), Math.round(canvas.clientHeight * ratio)];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.card;
    context.fillRect(0, 0, width(), canvas.clientHeight);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    for (const node of nodes) {
      const place = box(node);
      if (place) paintNode(node, ...place);
    }
    byId("flame-selection").replaceChildren(...words(hit ?? view));
  }

  function paintNode(node, x0, x1) {
    const y = node.depth * ROW + 1;
    const w = Math.max(0.5, x1 - x0 - 0.5);
    context.globalAlpha = timeline.isFaint(node.fn) ? 0.25 : isAbove(node) ? 0.6 : 1;
    context.fillStyle = node.fn < 0 ? colours.stripe : timeline.colour(node.fn);
    const inset = isInlined(node.fn) ? 3 : 0;
    context.fillRect(x0, y + inset, w, ROW - 1 - 2 * inset);
    if (w > 28) {
      context.fillStyle = colours.text;
      context.fillText(fitting(context, node.fn < 0 ? node.name : shortName(node.name), w - 8), x0 + 4, y + ROW / 2);
    }
    context.globalAlpha = 1;
    if (node === hit) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.strokeRect(x0 + 1, y + 1, Math.max(1, w - 2), ROW - 3);
    }
  }

  function describe(node) {
    const share = `${plural(node.insns, "instruction", "instructions")}, ${percent(node.insns, data.instructions)}`;
    return `${node.name}${isInlined(node.fn) ? ", inlined" : ""}: ${share}; ${number(node.own)} of its own`;
  }

  function words(node) {
    if (node.fn < 0) return [describe(node)];
    return [`${describe(node)}. `, element("a", { href: `#function-${node.fn}` }, "Show its code")];
  }

  function at(event) {
    const bounds = canvas.getBoundingClientRect();
    const [x, level] = [event.clientX - bounds.left, Math.floor((event.clientY - bounds.top) / ROW)];
    return nodes.find((node) => {
      if (node.depth !== level) return false;
      const place = box(node);
      return place && place[0] <= x && x < Math.max(place[1], place[0] + 1);
    }) ?? null;
  }

  function zoom(node) {
    view = node ?? root;
    hit = null;
    draw();
  }

  // The next node in a direction, for keys.
  function step(key) {
    const now = hit ?? view;
    const beside = () => nodes.filter((node) => node.caller === now.caller && box(node));
    const list = beside();
    const next = {
      ArrowUp: () => now.caller,
      ArrowDown: () => nodes.find((node) => node.caller === now && box(node)),
      ArrowLeft: () => list[list.indexOf(now) - 1],
      ArrowRight: () => list[list.indexOf(now) + 1],
    }[key]();
    if (next) hit = next;
    draw();
  }

  canvas.addEventListener("click", (event) => zoom(at(event) ?? root));
  canvas.addEventListener("pointermove", (event) => {
    hit = at(event);
    showTip(event, hit && describe(hit));
    draw();
  });
  canvas.addEventListener("pointerleave", () => { hit = null; byId("tip").hidden = true; draw(); });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) step(event.key);
    else if (event.key === "Enter") zoom(hit);
    else if (event.key === "Escape") zoom(root);
    else return;
    event.preventDefault();
  });
  byId("flame-all").addEventListener("click", () => zoom(root));
  document.addEventListener("searchchange", draw);
  document.addEventListener("themechange", () => { readColours(); draw(); });
  new ResizeObserver(draw).observe(canvas);
  if (data.finest > 1) {
    byId("flame-note").textContent = `Stacks of fewer than ${number(data.finest)} instructions are not drawn; their callers count them.`;
  }
  readColours();
  draw();
  return { zoom, nodes };
})();
