"use strict";
// What all sections share: the data, the reader's choices, elements, scales, axes, tooltips.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.measures.map((m) => m.name);
const better = (measure) => data.measures[measure].sign; // 1, or -1 where less is better
const state = {
  measure: 0,
  baseline: data.baseline,
  system: data.system,
  topic: 0,
  lines: new Set(),
  node: null,
  matrix: "tau",
};
const find = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  // text is always text: nothing here is ever read as HTML
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child.nodeType ? child : String(child));
  }
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const fixed = (x, digits = 4) => (x === null || x === undefined ? "–" : x.toFixed(digits));
const signed = (x, digits = 4) =>
  x === null || x === undefined ? "–" : (x > 0 ? "+" : x < 0 ? "−" : "±") + Math.abs(x).toFixed(digits);
const percent = (x, digits = 0) => (x === null ? "–" : (100 * x).toFixed(digits) + " %");
const probability = (p) => (p === null || p === undefined ? "–" : p > 0 && p < 0.0001 ? "<0.0001" : p.toFixed(4));
// by characters: half an emoji is none
const short = (text, most) => { const signs = [...text]; return signs.length > most ? signs.slice(0, most - 1).join("") + "…" : text; };

const mean = (values) => {
  const known = values.filter((x) => x !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
};

// the least and the most of rows of numbers; there may be more than a function takes arguments
function extent(rows, least, most) {
  for (const row of rows) for (const x of row) if (x !== null) { least = Math.min(least, x); most = Math.max(most, x); }
  return [least, most];
}

// runs by the mean of a measure, the best first
function ranked(measure) {
  const means = data.leaderboard.means[measure];
  const key = (i) => (means[i] === null ? -Infinity : better(measure) * means[i]);
  return data.runs.map((_, i) => i).sort((a, b) => key(b) - key(a) || a - b);
}

// a run minus another: over common topics, as the library computed it
function difference(measure, run, other) {
  if (run === other) return null;
  const board = data.leaderboard;
  if (board.differences.length) return board.differences[measure][other][run];
  const [a, b] = [board.means[measure][run], board.means[measure][other]];
  return a === null || b === null ? null : a - b;
}

function linear(from, to, low, high) {
  const scale = (x) => low + ((x - from) / (to - from || 1)) * (high - low);
  scale.from = from;
  scale.to = to;
  return scale;
}
const logarithmic = (from, to, low, high) => {
  const inner = linear(Math.log(from), Math.log(to), low, high);
  return (x) => inner(Math.log(x));
};

// round numbers between two ends
function ticks(from, to, count) {
  const span = to - from || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = power * [1, 2, 5, 10].find((k) => (k * power * count) / span >= 1);
  const out = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++) out.push(k * step);
  return { at: out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function widthOf(box, least = 260) {
  return Math.max(Math.floor(box.clientWidth), least);
}

// a drawing of a given size, with a label for screen readers
function drawing(width, height, label, more) {
  return s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart", ...more,
  });
}

function bottomAxis(at, y, scale, marks, digits, title, x) {
  const group = s("g", { class: "axis", "aria-hidden": "true" });
  group.append(s("path", { d: marks.map((tick) => `M${scale(tick).toFixed(1)} ${y}v4`).join("") }));
  for (const tick of marks) group.append(s("text", { x: scale(tick), y: y + 16, "text-anchor": "middle" }, tick.toFixed(digits)));
  if (title) group.append(s("text", { x, y: y + 32, "text-anchor": "middle", class: "title" }, title));
  at.append(group);
}

function leftAxis(at, x, right, scale, marks, label, title = "") {
  const group = s("g", { class: "axis", "aria-hidden": "true" });
  group.append(s("path", { d: marks.map((tick) => `M${x} ${scale(tick).toFixed(1)}H${right}`).join(""), class: "grid" }));
  for (const tick of marks) group.append(s("text", { x: x - 6, y: scale(tick) + 4, "text-anchor": "end" }, label(tick)));
  if (title) group.append(s("text", { transform: `translate(11 ${((scale(marks[0]) + scale(marks.at(-1))) / 2).toFixed(1)}) rotate(-90)`, "text-anchor": "middle", class: "up-title" }, title));
  at.append(group);
}

// one tooltip for the mark under the pointer, or, read aloud, for the one reached by keyboard
const tip = find("tip");
function showTip(event, lines) {
  tip.replaceChildren(...lines.map((line, i) => h(i ? "div" : "b", {}, line)));
  tip.hidden = false;
  const size = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - size.width - 8);
  const top = event.clientY + 18 + size.height > window.innerHeight ? event.clientY - size.height - 12 : event.clientY + 18;
  tip.style.left = Math.max(left, 4) + "px";
  tip.style.top = Math.max(top, 4) + "px";
}
const hideTip = () => { tip.hidden = true; };
const aloud = (text) => { find("aloud").textContent = text; };

// the tooltip of a mark reached by keyboard
function showTipAt(mark, lines) {
  const place = mark.getBoundingClientRect();
  showTip({ clientX: place.right - 14, clientY: place.bottom - 14 }, lines);
  aloud(lines.join("; "));
}

// drawing again makes new elements: the keyboard focus moves from an old one to its successor
function keeping(draw) {
  const active = document.activeElement;
  const box = active.parentElement && active.parentElement.closest("[id]");
  const reached = () => [...box.querySelectorAll("button, input, select, [tabindex]")];
  const place = box ? reached().indexOf(active) : -1;
  draw();
  if (place >= 0 && !active.isConnected && reached()[place]) reached()[place].focus({ preventScroll: true });
}

// a tooltip for a mark, while the pointer is on it
const withTip = (lines) => ({ onpointermove: (event) => showTip(event, lines()), onpointerleave: hideTip });

// commands follow what is chosen
const quoted = (text) => (/^[\w@.,:+=%/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
function setCommand(id, part, text) {
  find(id).textContent = find(id).textContent.replace(part, () => text);
}

function options(select, labels, chosen) {
  select.replaceChildren(...labels.map(([value, label]) => h("option", { value }, label)));
  select.value = String(chosen);
}
