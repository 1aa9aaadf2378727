// The reader's choices, and what is drawn again after each.

const drawTopics = () => { drawHeat(); drawDifferences(); drawHardest(); drawDocuments(); };
const drawAll = () => { drawBoard(); drawTopics(); drawDistributions(); drawUsers(); drawMatrix(); drawPower(); };

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
    else { drawBoard(); drawTopics(); drawDistributions(); }
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
  find("filter").addEventListener("input", drawBoard);
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
  window.addEventListener("beforeprint", () => { document.body.classList.add("on-paper"); drawAll(); });
  window.addEventListener("afterprint", () => { document.body.classList.remove("on-paper"); drawAll(); });
  linesToStart();
  drawAll();
  document.documentElement.classList.add("drawn");
}

start();
