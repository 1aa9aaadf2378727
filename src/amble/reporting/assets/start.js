// The reader's choices, and what is drawn again after each.

const drawTopics = () => { drawHeat(); drawDifferences(); drawHardest(); drawDocuments(); };
// what is folded has no width to draw for, and is drawn when it is opened
const isOpen = (id) => find(id).querySelector("details").open;
const drawAll = () => {
  drawFinding(); drawBoard(); drawTopics(); drawDistributions();
  if (isOpen("users")) drawUsers();
  if (isOpen("measures")) { drawMatrix(); drawPower(); }
  wholeRows();
};

// no box that scrolls ends in the middle of a row
function wholeRows() {
  for (const box of document.querySelectorAll(".tall, .short")) {
    box.style.maxHeight = "";
    const rows = [...box.querySelectorAll("tbody tr")];
    const [top, bars] = [box.getBoundingClientRect().top - box.scrollTop, box.offsetHeight - box.clientHeight];
    const ends = rows.map((row) => row.getBoundingClientRect().bottom - top);
    const most = box.getBoundingClientRect().height - bars;
    if (!rows.length || (asCards() && box.querySelector(".cards")) || ends.at(-1) <= most + 1) continue;
    box.style.maxHeight = `${Math.floor(ends.filter((end) => end <= most).at(-1) || most) + bars}px`;
  }
}

function openAll() {
  const shut = [...document.querySelectorAll("main details:not([open])")];
  for (const one of shut) one.open = true;
  drawAll();
  return shut;
}

// a section that is linked to opens
function reveal(hash) {
  const part = hash.length > 1 && find(hash.slice(1)) && find(hash.slice(1)).querySelector(":scope > details");
  if (part) part.open = true;
}

function choose(changes) {
  Object.assign(state, changes);
  for (const key of ["measure", "baseline", "system", "topic"]) find(key).value = String(state[key]);
  if ("system" in changes) {
    const distribution = distributionOf();
    if (distribution.systems && distribution.systems.includes(state.system) && state.lines.size < MOST_LINES) state.lines.add(state.system);
  }
  hideTip();
  keeping(() => {
    if ("measure" in changes) drawAll();
    else if (Object.keys(changes).join() === "topic") drawTopics();
    else { drawBoard(); drawTopics(); drawDistributions(); wholeRows(); }
  });
}

function theme(how) {
  document.documentElement.dataset.theme = how;
  for (const button of document.querySelectorAll("[data-choose-theme]")) {
    button.setAttribute("aria-pressed", String(button.dataset.chooseTheme === how));
  }
}

function copied(button) {
  const text = find(button.dataset.copy).textContent;
  const done = (text) => { button.textContent = text; aloud(text); setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  const area = h("textarea", { class: "aloud" });
  area.value = text; // execCommand works where a page is opened from a file, too
  document.body.append(area);
  area.select();
  done(document.execCommand("copy") ? "Copied" : "Press Ctrl-C");
  area.remove();
  button.focus();
}

function start() {
  const runs = data.runs.map((run, i) => [i, run]);
  const sorted = [...runs].sort((a, b) => a[1].localeCompare(b[1], "en", { numeric: true }));
  options(find("measure"), names.map((name, j) => [j, name]), state.measure);
  options(find("baseline"), sorted, state.baseline);
  options(find("system"), sorted, state.system);
  state.topic = data.documents.places ? data.documents.places[0] : 0;
  options(find("topic"), data.topics.map((topic, t) => [t, topic]), state.topic);
  for (const key of ["measure", "baseline", "system", "topic"]) {
    find(key).addEventListener("change", (event) => choose({ [key]: Number(event.target.value) }));
  }
  options(find("matrix-kind"), Object.entries(MATRICES).map(([key, [, caption]]) => [key, caption]), state.matrix);
  find("matrix-kind").addEventListener("change", (event) => { state.matrix = event.target.value; drawMatrix(); });
  find("filter").addEventListener("input", () => { drawBoard(); wholeRows(); });
  find("sort").addEventListener("change", (event) => {
    Object.assign(sorting, { key: event.target.value, up: ["run", "letters"].includes(event.target.value) });
    drawBoard();
  });
  find("every-run").addEventListener("click", () => { state.everyRun = true; drawBoard(); find("board").querySelectorAll("th button")[CARDS].focus(); });
  find("every-measure").addEventListener("click", () => { state.everyMeasure = true; drawBoard(); wholeRows(); find("board").parentElement.focus(); });
  find("dominance-kind").addEventListener("change", (event) => { state.dominance = event.target.value; drawDistributions(); });
  for (const part of document.querySelectorAll("details.part")) part.addEventListener("toggle", () => { if (part.open) drawAll(); });
  window.addEventListener("hashchange", () => reveal(location.hash));
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => reveal(link.hash));
  for (const button of document.querySelectorAll("[data-choose-theme]")) button.addEventListener("click", () => theme(button.dataset.chooseTheme));
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copied(button));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  let wait = 0;
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(wait);
    wait = setTimeout(drawAll, 120);
  });
  // charts are drawn for the width of the window; paper has one of its own
  let shut = [];
  window.addEventListener("beforeprint", () => { document.body.classList.add("on-paper"); shut = openAll(); });
  window.addEventListener("afterprint", () => { document.body.classList.remove("on-paper"); for (const one of shut) one.open = false; drawAll(); });
  linesToStart();
  reveal(location.hash);
  drawAll();
  document.documentElement.classList.add("drawn");
}

start();
