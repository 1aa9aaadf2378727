// One simulated user on a real list, step by step; and the lists of the playground, whose grades are clicked.

const walk = { path: [], at: 0, timer: 0, done: [], n: 0, key: "" };

// the gain of each rank of a list, and its grade
function documentsOf(i) {
  const gain = gainsOf(user, lists);
  const out = Array.from({ length: Math.max(lists.length[i], 1) }, () => ({ grade: 0, gain: 0 }));
  for (let j = lists.offsets[i]; j < lists.offsets[i + 1]; j++) {
    const silent = user.depth && lists.position[j] > user.depth;
    out[lists.position[j] - 1] = { grade: lists.grades[lists.kind[j]], gain: silent ? 0 : gain[lists.kind[j]] };
  }
  return out;
}

function restartWalk() {
  walk.at = 0;
  const i = shownList();
  const { n, visits, last } = behaviourOn(i);
  const key = JSON.stringify([user, i, playing && data.play, state.seed]);
  if (walk.key !== key) { walk.done = []; walk.key = key; }
  const onward = (at) => { // the probability of going on after a rank of one who walks down
    if (at < n) return visits[at] > 0 ? 1 - last[at] / visits[at] : 0;
    if (!readsOn(user)) return 0;
    if (user.kind === "RBP") return user.p;
    const x = at + 1 + 2 * user.T - 1 - (user.kind === "INST" ? documentsOf(i).reduce((sum, one) => sum + one.gain, 0) : 0);
    return (Math.max(x, 0) / (Math.max(x, 0) + 1)) ** 2;
  };
  walk.path = pathOf(user, n, state.number, state.seed, onward);
  walk.n = n;
}

// visits, gain and score after so many visits
function walkedSoFar() {
  const documents = documentsOf(shownList());
  const counts = new Map();
  let total = 0;
  for (const rank of walk.path.slice(0, walk.at)) {
    const before = counts.get(rank) || 0;
    counts.set(rank, before + 1);
    if (documents[rank - 1]) total += documents[rank - 1].gain * (walksBack(user) ? (1 - user.loss) ** before : 1);
  }
  return { counts, total, documents };
}

function drawWalker() {
  const { counts, total, documents } = walkedSoFar();
  const here = walk.at ? walk.path[walk.at - 1] : 0;
  const over = walk.at === walk.path.length;
  const most = Math.min(Math.max(20, Math.ceil(Math.max(here, 1) / 10) * 10), documents.length, 60);
  find("walker").replaceChildren(h("ol", { class: "ranks", "aria-label": "The list" }, documents.slice(0, most).map((one, k) => h("li", {
    class: `document${one.grade > 0 ? " relevant" : ""}${here === k + 1 ? (over ? " here over" : " here") : ""}${counts.has(k + 1) ? " seen" : ""}`,
    "aria-current": here === k + 1 ? "step" : null, title: `rank ${k + 1}, grade ${one.grade}`,
  }, h("span", { class: "place" }, k + 1), h("span", { class: "grade" }, one.grade), counts.get(k + 1) > 1 ? h("span", { class: "times" }, `×${counts.get(k + 1)}`) : null))));
  const score = user.kind === "ERR" ? null : walk.at ? total / walk.at : 0;
  const beyond = here > documents.length ? " (beyond the list)" : here > most ? " (further down than shown)" : "";
  const ends = !over ? "" : here >= walk.n && !readsOn(user) ? " The list ends, and so does her walk." : " She stops.";
  find("walker-text").textContent = walk.at
    ? `Visit ${walk.at}: rank ${here}${beyond}.${user.kind === "ERR" || user.kind === "AP" ? "" : ` Gained T = ${numeral(total, 3)} in H = ${walk.at} visit${walk.at === 1 ? "" : "s"}; T/H = ${numeral(score, 3)}.`}${ends}`
    : "Each box is a document, its rank above, its grade below. Play, or step, to follow her.";
  find("walker-user").textContent = `user ${state.number} of seed ${state.seed}`;
  find("walker-tally").textContent = walk.done.length && hasOrders(user) && user.kind !== "AP" ? `${walk.done.length} user${walk.done.length === 1 ? "" : "s"} followed: mean score ${numeral(walk.done.reduce((a, b) => a + b, 0) / walk.done.length, 3)}, order 1 is ${numeral(found.values.one[shownList()], 3)}.` : "";
  find("step").disabled = over && walk.at > 0;
}
function stepWalk() {
  if (walk.at >= walk.path.length) return false;
  walk.at++;
  if (walk.at === walk.path.length) walk.done.push(walkedSoFar().total / walk.at);
  drawWalker();
  return walk.at < walk.path.length;
}
function pauseWalk() {
  clearTimeout(walk.timer);
  walk.timer = 0;
  find("play").textContent = "Play";
  find("play").setAttribute("aria-pressed", "false");
  find("walker-text").removeAttribute("aria-live");
}
function playWalk() {
  if (walk.timer) { pauseWalk(); return; }
  find("play").textContent = "Pause";
  find("play").setAttribute("aria-pressed", "true");
  const turn = () => {
    const more = stepWalk();
    walk.timer = setTimeout(() => { if (!more) nextUser(); turn(); }, more ? 550 : 1500);
  };
  if (walk.at === walk.path.length) nextUser();
  turn();
}
function nextUser() {
  state.number++;
  restartWalk();
  drawWalker();
  writeAddress();
}

// ---- the playground

const LIST_NAMES = "rstuvwxyz";
const digits = (list) => list.grades.join("");
function readLists(given) {
  const play = data.play;
  const text = given.get("lists");
  const read = text ? text.split("~").map((one) => one.match(/^([\w -]{1,24}):([0-4]{1,40})$/)).filter(Boolean) : [];
  if (read.length && read.length <= MOST_LINES) play.lists = read.map(([, name, grades]) => ({ name, grades: [...grades].map(Number) }));
  const most = Math.max(...play.lists.flatMap((list) => list.grades), 1);
  if (/^[1-4]$/.test(given.get("largest") || "")) play.largest = Number(given.get("largest"));
  play.largest = Math.max(play.largest, most);
  if (/^\d{1,2}$/.test(given.get("relevant") || "")) play.relevant = Number(given.get("relevant"));
  takeLists();
}
const writtenLists = () => [["lists", data.play.lists.map((list) => `${list.name}:${digits(list)}`).join("~")], ["largest", data.play.largest], ["relevant", data.play.relevant]];

// the lists as a collection; what the topic has of relevant documents is at least what a list shows
function takeLists() {
  const play = data.play;
  const shown = Math.max(...play.lists.map((list) => list.grades.filter((g) => g >= 1).length));
  play.relevant = Math.max(play.relevant, shown);
  data.runs = play.lists.map((list) => list.name);
  lists = collectionOfGrades(play.lists.map((list) => list.grades), play.relevant, play.largest);
  state.lines = new Set([...state.lines].filter((i) => i < data.runs.length));
  if (!state.lines.size) data.runs.slice(0, MOST_LINES).forEach((_, i) => state.lines.add(i));
  for (const key of ["system", "baseline"]) state[key] = Math.min(state[key], data.runs.length - 1);
  found.heard = null;
}
function changeLists() {
  takeLists();
  sendLists();
  chooseRuns();
  restartWalk();
  keeping(drawEditor);
  buildSliders();
  schedule();
}
// lists that were changed are no example
function ownLists() {
  find("examples").value = find("example-note").textContent = "";
  changeLists();
}
function drawEditor() {
  const play = data.play;
  const set = (list, k, grade) => { list.grades[k] = grade; play.relevant = 0; ownLists(); };
  find("editor").replaceChildren(...play.lists.map((list, l) => h("div", { class: "edited", role: "group", "aria-label": `List ${list.name}` },
    h("span", { class: `edited-name` }, h("i", { class: `swatch ${lineOf(l)}`, "aria-hidden": "true" }), list.name),
    h("div", { class: "documents" }, list.grades.map((grade, k) => h("button", {
      type: "button", class: `document${grade ? ` relevant grade-${Math.min(grade, 4)}` : ""}`, tabindex: k ? -1 : 0, "aria-label": `List ${list.name}, rank ${k + 1}: grade ${grade}`,
      onclick: () => set(list, k, grade >= play.largest ? 0 : grade + 1),
      onkeydown: (event) => {
        const row = event.currentTarget.parentElement;
        const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        if (move) {
          event.preventDefault();
          const rows = [...find("editor").querySelectorAll(".documents")];
          const other = rows[Math.min(Math.max(rows.indexOf(row) + move[0], 0), rows.length - 1)];
          const to = other.children[Math.min(Math.max(k + move[1], 0), other.children.length - 1)];
          to.focus();
        } else if (/^[0-4]$/.test(event.key) && Number(event.key) <= play.largest) { event.preventDefault(); set(list, k, Number(event.key)); }
      },
    }, h("span", { class: "place", "aria-hidden": "true" }, k + 1), h("span", { class: "grade", "aria-hidden": "true" }, grade)))),
    play.lists.length > 1 ? h("button", { type: "button", class: "remove", "aria-label": `Remove list ${list.name}`, onclick: () => { play.lists.splice(l, 1); play.relevant = 0; ownLists(); } }, "×") : null)));
  find("largest").value = play.largest;
  find("relevant").value = play.relevant;
  find("add-list").disabled = play.lists.length >= MOST_LINES;
}
function startEditor() {
  const play = data.play;
  find("editor-section").hidden = false;
  find("topics-section").hidden = true;
  find("topic-label").hidden = true;
  find("tau-part").hidden = true;
  document.body.classList.add("playing");
  const shown = play.examples.findIndex((one) => JSON.stringify(one.lists) === JSON.stringify(play.lists));
  options(find("examples"), [["", "…"], ...play.examples.map((one, k) => [k, one.name])], shown < 0 ? "" : shown);
  if (shown >= 0) find("example-note").textContent = play.examples[shown].about;
  find("examples").addEventListener("change", (event) => {
    if (event.target.value === "") return;
    const one = play.examples[Number(event.target.value)];
    Object.assign(play, { lists: one.lists.map((list) => ({ name: list.name, grades: [...list.grades] })), relevant: one.relevant, largest: one.largest });
    state.lines = new Set();
    if (one.user) setUser(one.user);
    find("example-note").textContent = one.about;
    changeLists();
  });
  find("largest").addEventListener("change", (event) => {
    play.largest = Math.min(Math.max(Math.round(Number(event.target.value)) || 1, 1), 4);
    for (const list of play.lists) list.grades = list.grades.map((g) => Math.min(g, play.largest));
    changeLists();
  });
  find("relevant").addEventListener("change", (event) => { play.relevant = Math.min(Math.max(Math.round(Number(event.target.value)) || 0, 0), 99); changeLists(); });
  find("add-list").addEventListener("click", () => {
    const name = [...LIST_NAMES].find((letter) => !play.lists.some((list) => list.name === letter)) || `list ${play.lists.length + 1}`;
    play.lists.push({ name, grades: new Array(play.lists[0].grades.length).fill(0) });
    state.lines.add(play.lists.length - 1);
    ownLists();
  });
  const lengthen = (by) => () => {
    for (const list of play.lists) list.grades = by > 0 ? [...list.grades, ...new Array(by).fill(0)].slice(0, 40) : list.grades.slice(0, Math.max(list.grades.length + by, 1));
    ownLists();
  };
  find("longer").addEventListener("click", lengthen(1));
  find("shorter").addEventListener("click", lengthen(-1));
}
