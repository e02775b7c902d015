// Puts the page together: tables, links to functions, and keys.
"use strict";

doubts();
summary();
functionTable();
edgeTables();
packetTable();

const units = new Set(data.clocks.filter((clock) => clock.anchors.length > 0).map((clock) => clock.unit));
byId("axis-note").textContent = units.size === 0
  ? "The axis counts instructions; the trace carries no time."
  : `The axis counts instructions. A selected call has its time in ${[...units].join(" or ")}, in proportion to instructions where the trace does not tell it.`;
byId("detail-note").textContent = [
  data.threshold > 0 && `Calls of fewer than ${number(data.threshold)} instructions are drawn together with their neighbours, under a line.`,
  data.left_out > 0 && `${plural(data.left_out, "call is", "calls are")} not drawn: too deep, or of too many contexts.`,
].filter(Boolean).join(" ");

function follow() {
  const wanted = /^#function-(\d+)$/.exec(location.hash);
  if (wanted) showFunction(Number(wanted[1]));
}
addEventListener("hashchange", follow);
follow();

const search = byId("search");
search.addEventListener("input", () => timeline.search(search.value));
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") timeline.step(!event.shiftKey);
  if (event.key === "Escape") {
    search.value = "";
    timeline.search("");
    byId("canvas").focus({ preventScroll: true });
  }
});
byId("next").addEventListener("click", () => timeline.step(true));
byId("previous").addEventListener("click", () => timeline.step(false));
byId("zoom-in").addEventListener("click", () => timeline.zoom(2));
byId("zoom-out").addEventListener("click", () => timeline.zoom(0.5));
byId("zoom-all").addEventListener("click", () => timeline.all());

// Keys that work everywhere but in a field, and those of the timeline.
const keys = {
  "/": () => { byId("timeline").scrollIntoView(); search.focus({ preventScroll: true }); search.select(); },
  "+": () => timeline.zoom(2),
  "=": () => timeline.zoom(2),
  "-": () => timeline.zoom(0.5),
  "0": () => timeline.all(),
  "n": () => timeline.step(true),
  "p": () => timeline.step(false),
  "t": () => switchTheme(),
};
const onCanvas = {
  ArrowLeft: () => timeline.move(-0.2),
  ArrowRight: () => timeline.move(0.2),
  ArrowUp: () => timeline.scroll(-54),
  ArrowDown: () => timeline.scroll(54),
  Enter: () => {
    const span = timeline.selected();
    if (span && span.fn >= 0) location.hash = `#function-${span.fn}`;
  },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
  const act = keys[event.key] ?? (event.target === byId("canvas") ? onCanvas[event.key] : undefined);
  if (!act) return;
  event.preventDefault();
  act();
});
