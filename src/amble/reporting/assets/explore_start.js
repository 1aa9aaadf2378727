// The sliders, the worker, and what is drawn again after each change.

const RADIOS = { first: ["back at rank 1", [["forward", "go on"], ["stop", "stop"]]], order: ["score", [[1, "order 1"], [2, "order 2"]]] };

function buildPresets() {
  const chip = (label, pressed, press, title) => h("button", { type: "button", class: "chip", "aria-pressed": String(pressed), title: title || null, onclick: press }, label);
  find("presets").replaceChildren(
    ...Object.entries(KINDS).map(([kind, { label }]) => chip(label, user.kind === kind && !state.fitted, () => { state.fitted = null; setUser({ kind }); changed(); })),
    ...data.fitted.map((one) => chip(one.name, state.fitted === one, () => { state.fitted = one; setUser(one.user); changed(); }, `fitted, with its ${one.confidence} % confidence interval`)));
}

function buildSliders() {
  const shown = KINDS[user.kind].parameters;
  find("sliders").replaceChildren(...shown.map((name) => {
    if (RADIOS[name]) {
      const [label, choices] = RADIOS[name];
      return h("fieldset", { class: "choice" }, h("legend", {}, label), choices.map(([value, text]) => h("label", {}, h("input", { type: "radio", name, value, checked: user[name] === value, onchange: () => { setUser({ [name]: value }); changed(); } }), text)));
    }
    const depths = name === "depth" ? depthsOf() : null;
    const [least, most, step] = depths ? [0, depths.length - 1, 1] : name === "T" || user.kind === "RBP" ? rangeOf(name) : bounds[name];
    const input = h("input", { type: "range", id: `slider-${name}`, min: least, max: most, step });
    const told = h("output", { for: `slider-${name}`, id: `told-${name}` });
    input.addEventListener("input", () => {
      if (state.fitted && !depths) { // no longer the fitted one
        state.fitted = null;
        buildPresets();
        document.querySelectorAll(".fitted-band").forEach((band) => band.remove());
      }
      const before = state.along;
      setUser({ [name]: depths ? depths[Number(input.value)] : Number(input.value) });
      if (state.along !== before) buildAlong();
      showSliders();
      restartWalk();
      schedule();
    });
    const range = state.fitted && state.fitted.ranges[name];
    const band = range ? s("svg", { class: "fitted-band", "aria-hidden": "true", width: "100%", height: 6, viewBox: "0 0 1000 6", preserveAspectRatio: "none" },
      s("rect", { x: (1000 * (range[0] - least)) / (most - least), width: Math.max((1000 * (range[1] - range[0])) / (most - least), 4), height: 6 })) : null;
    return h("div", { class: "slider" }, h("label", { for: `slider-${name}` }, LABELS[name]), h("span", { class: "track" }, band, input), told);
  }));
  showSliders();
}
function showSliders() {
  for (const name of KINDS[user.kind].parameters) {
    const input = document.getElementById(`slider-${name}`);
    if (!input) continue;
    const text = name === "depth" ? (user.depth ? String(user.depth) : "whole list") : String(user[name]);
    input.value = String(name === "depth" ? depthsOf().indexOf(user.depth) : user[name]);
    input.setAttribute("aria-valuetext", text);
    find(`told-${name}`).textContent = name === "depth" && !user.depth ? "all" : text;
  }
}
function buildAlong() {
  const swept = KINDS[user.kind].parameters.filter((name) => !RADIOS[name]);
  options(find("along"), swept.map((name) => [name, LABELS[name]]), state.along);
}
function chooseRuns() {
  const runs = data.runs.map((run, i) => [i, run]);
  const sorted = [...runs].sort((a, b) => a[1].localeCompare(b[1], "en", { numeric: true }));
  for (const [id, chosen] of [["system", state.system], ["baseline", state.baseline], ["walker-run", state.system]]) options(find(id), sorted, chosen);
}

// another kind of user: all controls anew
function changed() {
  keeping(() => { buildPresets(); buildSliders(); });
  buildAlong();
  restartWalk();
  schedule();
}

// ---- the worker

let worker = null;
let asked = 0;
let waiting = 0;
const questionKey = () => JSON.stringify([user, [...state.lines].sort((a, b) => a - b), state.seed, playing && data.play.lists]);
function sendLists() {
  if (worker) worker.postMessage({ lists });
}
function startWorker() {
  const source = [...document.scripts].find((one) => !one.type).textContent; // the first script is the mathematics
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = ({ data: heard }) => {
    if (heard.id !== asked) return;
    found.heard = { ...heard, runs: found.asked.runs, key: found.asked.key };
    drawDistribution();
    document.documentElement.classList.toggle("settled", heard.done);
  };
  sendLists();
}
function askWorker() {
  clearTimeout(waiting);
  const key = questionKey();
  if (found.asked && found.asked.key === key && found.heard && found.heard.key === key) return;
  document.documentElement.classList.remove("settled");
  waiting = setTimeout(() => {
    asked++;
    found.asked = { key, runs: [...state.lines] };
    if (found.asked.runs.length) worker.postMessage({ id: asked, user: { ...user }, runs: found.asked.runs, bins: BINS, seed: state.seed, users: state.users });
  }, 120);
}

// ---- what is drawn

let planned = 0;
const timing = { last: 0, all: [] }; // milliseconds of the last update, and of all
function schedule() {
  if (!planned) planned = requestAnimationFrame(() => { planned = 0; update(); });
}
// what is drawn after each change, by section; what is out of sight comes after what is in sight
const DRAWN_IN = { "board-title": () => { drawBoard(); }, "distribution-title": drawDistribution, "sweep-title": () => { drawSweep(); drawFlips(); },
  "topics-title": drawDifferences, "walker-title": drawWalker, "editor-title": () => { if (playing) drawEditor(); } };
const inSight = new Set(); // sections, by the ids of their titles
const behind = new Set(); // those that show an earlier user
function watchSections() {
  const eye = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const id = target.getAttribute("aria-labelledby");
      if (isIntersecting) inSight.add(id);
      else inSight.delete(id);
    }
  });
  document.querySelectorAll("section.card").forEach((section) => eye.observe(section));
}
function catchUp() {
  const wanted = [...behind];
  behind.clear();
  keeping(() => { for (const id of wanted) DRAWN_IN[id](); });
}
function update() {
  const began = performance.now();
  paint();
  compute();
  for (const id of Object.keys(DRAWN_IN)) behind.add(id);
  keeping(() => {
    drawUser();
    for (const id of inSight) { behind.delete(id); DRAWN_IN[id](); }
  });
  says(find("measure-name"), measureName(user));
  says(find("story"), storyOf());
  timing.last = performance.now() - began;
  timing.all.push(timing.last);
  find("timing").textContent = `Last drawn in ${timing.last.toFixed(0)} ms.`;
  askWorker();
  writeSoon();
  proceed(began);
  finish();
}
// what is left: sections out of sight, the rest of the sweep, and flips exactly; as much in a frame as it has time for
const FRAME = 20; // milliseconds
function proceed(began) {
  const time = () => FRAME - (performance.now() - began);
  if (behind.size && time() > 0) catchUp();
  if (swept.left.length && time() > 0) {
    sweepOf(time());
    drawSweep();
    drawFlips();
  }
  if (!swept.left.length && swept.rough && time() > 0) drawFlips(time());
}
let finishing = 0;
const unfinished = () => Boolean(planned || behind.size || swept.left.length || swept.rough);
function finish() {
  cancelAnimationFrame(finishing);
  finishing = requestAnimationFrame(() => {
    if (planned) return;
    proceed(performance.now());
    if (unfinished()) finish();
  });
}
// the address is written when the reader rests: browsers refuse more than some hundred in half a minute
const REST = 120; // milliseconds
let unwritten = 0; // the clock of an address that is still of an earlier user
function writeSoon() {
  clearTimeout(unwritten);
  unwritten = setTimeout(writeNow, REST);
}
function writeNow() {
  clearTimeout(unwritten);
  unwritten = 0;
  writeAddress();
}

function theme(how) {
  document.documentElement.dataset.theme = how;
  for (const button of document.querySelectorAll("[data-choose-theme]")) button.setAttribute("aria-pressed", String(button.dataset.chooseTheme === how));
}

function start() {
  if (playing) lists = null;
  else lists = collectionOf(data);
  if (playing) takeLists();
  readAddress();
  if (!playing && !state.lines.size && !new URLSearchParams(location.hash.slice(1)).has("lines")) {
    const best = rankedBy(runMeans(evaluate(user, lists).score, lists)).order;
    best.slice(0, 3).forEach((i) => state.lines.add(i));
    if (!location.hash.includes("system=")) state.system = best[0];
    if (!location.hash.includes("baseline=")) state.baseline = best[Math.min(1, best.length - 1)];
  }
  if (playing) { startEditor(); paint(); drawEditor(); }
  buildPresets();
  buildSliders();
  buildAlong();
  chooseRuns();
  options(find("topic"), data.topics.map((topic, t) => [t, topic]), state.topic);
  options(find("against"), names.map((name, m) => [m, name]), state.measure);
  find("against-label").hidden = !names.length;
  const chooses = (id, key) => find(id).addEventListener("change", (event) => {
    state[key] = Number(event.target.value);
    if (key === "system" || key === "topic") { find("system").value = find("walker-run").value = String(state.system); restartWalk(); }
    if ((key === "system" || key === "baseline") && id !== "walker-run" && state.lines.size < MOST_LINES) state.lines.add(state[key]);
    schedule();
  });
  for (const [id, key] of [["system", "system"], ["baseline", "baseline"], ["walker-run", "system"], ["topic", "topic"], ["against", "measure"]]) chooses(id, key);
  find("along").addEventListener("change", (event) => { state.along = event.target.value; schedule(); });
  find("copy-command").addEventListener("click", (event) => copyText(event.currentTarget, asCommand()));
  find("copy-python").addEventListener("click", (event) => copyText(event.currentTarget, asPython()));
  find("copy-link").addEventListener("click", (event) => { writeNow(); copyText(event.currentTarget, location.href); });
  for (const button of document.querySelectorAll("[data-csv]")) button.addEventListener("click", () => saveFile(csvOf(button.dataset.csv), `${button.dataset.csv}.csv`, "text/csv"));
  for (const button of document.querySelectorAll("[data-svg]")) button.addEventListener("click", () => saveFile(svgOf(button.dataset.svg), `${button.dataset.svg}.svg`, "image/svg+xml"));
  for (const button of document.querySelectorAll("[data-choose-theme]")) button.addEventListener("click", () => theme(button.dataset.chooseTheme));
  find("play").addEventListener("click", playWalk);
  find("step").addEventListener("click", () => { pauseWalk(); find("walker-text").setAttribute("aria-live", "polite"); stepWalk(); });
  find("again").addEventListener("click", nextUser);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  window.addEventListener("hashchange", () => {
    readAddress();
    chooseRuns();
    find("topic").value = String(state.topic);
    find("against").value = String(state.measure);
    changed();
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; widths.clear(); schedule(); } });
  const narrow = window.matchMedia("(max-width: 820px)"); // where the runs come before the chart of the user
  const place = () => { (narrow.matches ? document.querySelector(".stage") : document.querySelector("aside")).append(document.querySelector(".about")); };
  narrow.addEventListener("change", place);
  place();
  startWorker();
  restartWalk();
  watchSections();
  update();
  catchUp();
  writeNow();
  document.documentElement.classList.add("drawn");
}

start();
