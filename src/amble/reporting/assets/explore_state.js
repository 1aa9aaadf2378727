// What the reader chose: the user, runs, what is swept; kept in the address, shown by sliders, copied as a command.

const playing = Boolean(data.play);
const user = { kind: "walk", p: 0.5, q: 0.25, loss: 0.25, first: "forward", order: 1, T: 2, depth: 0 };
Object.assign(state, { along: "p", seed: 0, number: 0, users: 100000, fitted: null });
let lists = null; // the collection
const bounds = { p: [0, 1, 0.01], q: [0, 0.97, 0.01], loss: [0, 1, 0.01], T: [0.5, 10, 0.1] };
const DEPTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 0]; // 0: whole
const LABELS = { p: "p, forward", q: "q, back", loss: "loss", T: "T, hope", depth: "depth k" };
const LEAST_STOP = 0.02; // of walks back and forth
const rounded = (x) => Number(x.toFixed(4));

// what a slider of the present user may be
function rangeOf(name) {
  const [least, most, step] = bounds[name];
  if (name === "p" && user.kind === "RBP") return [0.01, Math.max(0.99, user.p), step];
  if (name === "p" && user.kind === "walk" && user.q > 0) return [0, rounded(1 - LEAST_STOP - user.q), step];
  if (name === "q") return [0, Math.max(0, rounded(1 - LEAST_STOP - user.p)), step];
  return [Math.min(least, user[name]), Math.max(most, user[name]), step]; // a fitted one may lie outside
}
function depthsOf() {
  const longest = lists.length.reduce((a, b) => Math.max(a, b), 1);
  const found = DEPTHS.filter((k) => (k === 0 ? user.kind !== "SDCG" : k <= Math.max(longest, 10)));
  return user.depth && !found.includes(user.depth) ? [...found.filter((k) => k && k < user.depth), user.depth, ...found.filter((k) => !k || k > user.depth)] : found;
}

function setUser(changes) {
  const before = user.kind;
  Object.assign(user, changes);
  if ("kind" in changes && before !== user.kind) {
    if (["P", "SDCG"].includes(user.kind) && !user.depth) user.depth = 10;
    if (before === "P" || before === "SDCG") user.depth = ["P", "SDCG"].includes(user.kind) ? user.depth : changes.depth || 0;
    if (user.kind === "RBP" && !("p" in changes)) user.p = 0.8;
    if (user.kind === "walk" && !("p" in changes)) Object.assign(user, { p: 0.5, q: 0.25 });
  }
  if (user.kind === "RBP") user.p = Math.min(Math.max(user.p, 0.01), 0.995);
  if (user.kind === "SDCG" && !user.depth) user.depth = 10;
  if (user.kind === "walk" && user.q > 0 && user.p + user.q > 1 - LEAST_STOP + 1e-9) {
    if ("q" in changes && !("p" in changes)) user.p = rounded(1 - LEAST_STOP - user.q);
    else user.q = Math.max(0, rounded(1 - LEAST_STOP - user.p));
  }
  if (!KINDS[user.kind].parameters.includes(state.along)) state.along = KINDS[user.kind].parameters[0];
}

// ---- the address

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (key, least, most) => { const x = Number(given.get(key)); return given.has(key) && given.get(key) !== "" && x >= least && x <= most ? x : undefined; };
  const whole = (key, least, most) => { const x = number(key, least, most); return Number.isInteger(x) ? x : undefined; };
  const changes = { p: number("p", 0, 1), q: number("q", 0, 0.97), loss: number("loss", 0, 1), T: number("T", 0.5, 100), depth: whole("depth", 0, 100000), order: whole("order", 1, 2) };
  if (["forward", "stop"].includes(given.get("first"))) changes.first = given.get("first");
  if (Object.hasOwn(KINDS, given.get("kind"))) changes.kind = given.get("kind");
  for (const key of Object.keys(changes)) if (changes[key] === undefined) delete changes[key];
  if (playing) readLists(given);
  setUser(changes);
  const preset = data.fitted[whole("fitted", 0, data.fitted.length - 1)];
  state.fitted = preset && Object.entries(preset.user).every(([key, value]) => user[key] === value) ? preset : null;
  const run = data.runs.length - 1;
  for (const [key, most] of [["system", run], ["baseline", run], ["topic", data.topics.length - 1], ["measure", names.length - 1], ["number", 1e6], ["seed", 2 ** 32]]) {
    const x = whole(key, 0, most);
    if (x !== undefined) state[key] = x;
  }
  if (given.has("lines")) state.lines = new Set(given.get("lines").split(".").map(Number).filter((i) => Number.isInteger(i) && i >= 0 && i <= run).slice(0, MOST_LINES));
  if (KINDS[user.kind].parameters.includes(given.get("along")) && !["first", "order"].includes(given.get("along"))) state.along = given.get("along");
}
function writeAddress() {
  const words = [["kind", user.kind], ...KINDS[user.kind].parameters.map((key) => [key, user[key]]), ["along", state.along], ["measure", state.measure],
    ["system", state.system], ["baseline", state.baseline], ["topic", state.topic], ["number", state.number], ["lines", [...state.lines].join(".")]];
  if (state.seed) words.push(["seed", state.seed]);
  if (state.fitted) words.push(["fitted", data.fitted.indexOf(state.fitted)]);
  if (playing) words.push(...writtenLists());
  history.replaceState(null, "", "#" + words.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&"));
}

// ---- copies

const shellWords = (words) => words.map((word) => (/^[\w@.,:+=%/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
const pythonText = (text) => JSON.stringify(text); // a string of JSON is one of Python
function asCommand() {
  if (playing) return shellWords(["amble", "user", measureName(user), ...data.play.lists.flatMap((list) => ["--gains", `${list.name}=${list.grades.join(",")}`]), "--relevant", String(data.play.relevant), "--max-grade", String(data.play.largest)]);
  return shellWords(["amble", "eval", data.qrels || "QRELS", ...(data.files.length ? data.files : ["RUN"]), ...data.options, "-m", measureName(user)]);
}
function asPython() {
  const name = pythonText(measureName(user));
  if (playing) {
    const more = `relevant=${data.play.relevant}, max_grade=${data.play.largest}`;
    return ["import amble", `m = amble.parse(${name})`, ...data.play.lists.map((list) => `print(m.value([${list.grades.join(", ")}], ${more}))  # ${list.name.replace(/[\r\n]/g, " ")}`), ""].join("\n");
  }
  const options = Object.entries(data.aligned).map(([key, value]) => `, ${key}=${typeof value === "string" ? pythonText(value) : value}`).join("");
  return `import amble\nscores = amble.evaluate(${pythonText(data.qrels || "QRELS")}, [${(data.files.length ? data.files : ["RUN"]).map(pythonText).join(", ")}], ${name}${options})\nprint(scores.mean())\n`;
}
function copyText(button, text) {
  const before = button.dataset.label || (button.dataset.label = button.textContent);
  const area = h("textarea", { class: "aloud", "aria-hidden": "true" });
  area.value = text; // execCommand works where a page is opened from a file, too
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  button.textContent = done ? "Copied" : "Press Ctrl-C";
  aloud(button.textContent);
  setTimeout(() => { button.textContent = before; }, 1500);
}

// ---- charts as files

const charts = {}; // by id: a title, and rows of a CSV
const csvCell = (x) => { const text = x === null || x === undefined || Number.isNaN(x) ? "" : String(x); return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
const csvOf = (id) => { catchUp(); return rowsOf(id); };
const rowsOf = (id) => charts[id]().map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "fill-opacity", "font-size", "font-weight", "font-family", "text-anchor", "visibility"];
function svgOf(id) {
  catchUp();
  const drawn = find(id).querySelector("svg.chart");
  const copy = drawn.cloneNode(true);
  const [from, to] = [drawn.querySelectorAll("*"), copy.querySelectorAll("*")];
  const style = (element, target) => { const look = getComputedStyle(element); for (const key of DRAWN) target.setAttribute(key, look.getPropertyValue(key)); target.removeAttribute("class"); target.removeAttribute("tabindex"); };
  from.forEach((element, k) => style(element, to[k]));
  style(drawn, copy);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(s("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
function saveFile(text, name, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
