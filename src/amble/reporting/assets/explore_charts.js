// The sections: the user, the leaderboard, distributions, the sweep, topics; drawn from what `compute` found.

const MOST_LINES = 8;
const BINS = 512; // of CDFs
const POINTS = 33; // of a sweep
const found = { score: null, means: null, order: [], sweep: null, cdf: null, heard: null }; // for the present user
const colourOf = new Map(); // of a run, for as long as it is drawn
const lineOf = (run) => (colourOf.has(run) ? `line-${colourOf.get(run)}` : "line-none");
const numeral = (x, digits = 4) => (x === null || Number.isNaN(x) ? "–" : x.toFixed(digits));
const alike = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

// widths are measured once: to ask for one between two changes of the page lays all of it out again
const widths = new Map();
function boxWidth(box) {
  if (!widths.has(box)) widths.set(box, widthOf(box));
  return widths.get(box);
}

function paint() {
  for (const i of [...colourOf.keys()]) if (!state.lines.has(i)) colourOf.delete(i);
  for (const i of state.lines) {
    if (colourOf.has(i)) continue;
    const taken = new Set(colourOf.values());
    colourOf.set(i, [...Array(MOST_LINES).keys()].find((k) => !taken.has(k)));
  }
}

// runs from the best to the worst; what is tied shares its rank
function rankedBy(means, sign = 1) {
  const order = [...means.keys()].sort((a, b) => (alike(means[a], means[b]) ? a - b : sign * (means[b] - means[a])));
  const rank = new Array(means.length);
  order.forEach((i, k) => { rank[i] = k && alike(means[i], means[order[k - 1]]) ? rank[order[k - 1]] : k + 1; });
  return { order, rank };
}

function compute() {
  const values = evaluate(user, lists, { both: true });
  const means = Object.fromEntries(["score", "one", "two", "depth"].map((key) => [key, runMeans(values[key], lists)]));
  Object.assign(found, { values, means, ...rankedBy(means.score) });
  found.sweep = sweepOf();
  found.cdf = walksBack(user) ? null : new Map([...state.lines].map((run) => [run, cdfOnGrid(user, lists, run, BINS)]));
}

// ---- the user on a list

// probabilities of going on, visits and stops at the ranks of a list
function behaviourOn(i) {
  const n = ranksOf(user, lists.length[i]);
  if (isStatic(user)) {
    const { visits, last, depth } = overRanks(user, n, false);
    return { n, visits, last, depth };
  }
  const [visits, last] = [new Float64Array(n), new Float64Array(n)];
  const gain = gainsOf(user, lists);
  let [v, seen, j] = [1, 0, lists.offsets[i]];
  for (let rank = 1; rank <= n; rank++) {
    let y = 0;
    if (j < lists.offsets[i + 1] && lists.position[j] === rank) y = gain[lists.kind[j++]];
    if (user.kind === "INST" && user.depth && rank > user.depth) y = 0;
    seen += y;
    visits[rank - 1] = v;
    let next = v * (1 - y);
    if (user.kind === "AP") next = Math.max(0, 1 - seen / (lists.relevant[i % lists.topics] || 1));
    if (user.kind === "INST") { const x = Math.max(rank + 2 * user.T - seen - 1, 0); next = v * (x / (x + 1)) ** 2; }
    last[rank - 1] = v - next;
    v = next;
  }
  return { n, visits, last, depth: evaluate(user, collectionOfRuns(lists, [Math.floor(i / lists.topics)]), { both: true }).depth[i % lists.topics], beyond: v };
}

const shownList = () => state.system * lists.topics + state.topic;

function drawUser() {
  const box = find("user");
  const { visits, last, depth, n } = behaviourOn(shownList());
  let most = 10;
  while (most < Math.min(visits.length, 60) && visits[most] > 0.004 * visits[0]) most++;
  most = Math.min(most, Math.max(n, 1));
  const rows = Array.from({ length: most }, (_, i) => [visits[i] || 0, last[i] || 0]);
  const [width, height, left, bottom] = [boxWidth(box), 190, 38, 36];
  const high = Math.max(...rows.map(([v]) => v), 1e-9);
  const y = linear(0, high, height - bottom, 8);
  const step = (width - left - 4) / most;
  const svg = drawing(width, height, `Expected visits and stops by rank: ${rows.slice(0, 5).map(([v, l], i) => `rank ${i + 1}, visits ${numeral(v, 3)}, stops ${numeral(l, 3)}`).join("; ")}. Expected number of visits ${numeral(depth, 2)}.`);
  const marks = ticks(0, high, 4);
  leftAxis(svg, left, width - 4, y, marks.at, (v) => v.toFixed(marks.digits));
  // two paths for all bars: elements are what a browser takes its time for
  const bars = (k, share, least) => rows.map((row, i) => `M${(left + (i + (1 - share) / 2) * step).toFixed(1)} ${y(0).toFixed(1)}V${y(row[k]).toFixed(1)}h${Math.max(step * share, least).toFixed(1)}V${y(0).toFixed(1)}z`).join("");
  svg.append(s("path", { d: bars(0, 0.76, 1), class: "visits" }), s("path", { d: bars(1, 0.4, 0.8), class: "stops" }));
  svg.addEventListener("pointermove", (event) => {
    const i = Math.floor((event.clientX - svg.getBoundingClientRect().left - left) / step);
    if (!rows[i]) { hideTip(); return; }
    showTip(event, [`rank ${i + 1}`, `visits ${numeral(rows[i][0])}`, `stops ${numeral(rows[i][1])}`]);
  });
  svg.addEventListener("pointerleave", hideTip);
  const every = most <= 12 ? 1 : most <= 30 ? 5 : 10;
  const at = rows.map((_, i) => i + 1).filter((k) => k === 1 || k % every === 0);
  bottomAxis(svg, height - bottom, (k) => left + (k - 0.5) * step, at, 0, "rank", (left + width) / 2);
  box.replaceChildren(svg, h("p", { class: "note key-line" }, h("i", { class: "swatch visits", "aria-hidden": "true" }), " expected visits ", h("i", { class: "swatch stops", "aria-hidden": "true" }), " she stops there",
    h("b", { title: "expected number of visits" }, `E[H] = ${numeral(depth, 2)} visits`)));
  charts.user = () => [["rank", "visits", "stops"], ...Array.from({ length: n }, (_, i) => [i + 1, visits[i] || 0, last[i] || 0])];
}

const percentOf = (x) => `${Number((100 * x).toFixed(2))} %`;
function storyOf() {
  const { p, q, loss, T, depth } = user;
  const end = depth ? ` The list ends at rank ${depth}.` : "";
  const silent = depth ? ` Below rank ${depth} she gains nothing.` : "";
  return {
    walk: () => `After each document she goes on with probability ${p}, back with ${q}, and stops with ${rounded(1 - p - q)}${q ? `; at rank 1, instead of going back, she ${user.first === "stop" ? "stops" : "goes on"}` : ""}.${q ? (loss ? ` Seen again, a document is worth ${percentOf(loss)} less.` : " Seen again, a document is worth as much.") : ""} Her score is ${user.order === 2 ? "her expected gain over her expected visits" : "her expected gain per visit"}.${end}`,
    RBP: () => `She goes on with probability ${p}, whatever she has seen.${silent}`,
    INSQ: () => `The deeper she is, the likelier she goes on; she expects to read about ${rounded(2 * T)} documents.${silent}`,
    INST: () => `She came with a hope of ${T}, and the more of it is fulfilled, the likelier she stops.${silent}`,
    P: () => (depth ? `She reads ${depth} document${depth === 1 ? "" : "s"}, whatever they are, and stops.` : "She reads the whole list."),
    SDCG: () => `She goes on with a probability that grows with the rank, and never looks beyond rank ${depth}.`,
    ERR: () => `Each document satisfies her with a probability that grows with its grade; then she stops.${end}`,
    AP: () => `She wants one of the relevant documents, each with equal probability, reads down to it, and asks for precision.${end}`,
  }[user.kind]();
}

// ---- the leaderboard

function against() {
  const m = state.measure;
  if (!data.means.length) return null;
  return { name: names[m], means: data.means[m], ...rankedBy(data.means[m].map((x) => (x === null ? -Infinity : x)), better(m)) };
}

// the rows of the table, made once; what they show is changed in place, as to move a row costs ten times as much
const board = { head: "", rows: [] };
function boardRow(against, second) {
  const cell = (kind, ...children) => h("td", { class: kind }, children);
  const made = { run: -1, rank: cell("number rank"), arrow: h("span", {}), told: h("span", { class: "aloud" }), swatch: h("i", { "aria-hidden": "true" }), name: h("span", { class: "name" }), score: cell("number scored"), second: cell("number other second"), other: cell("number other") };
  made.box = h("input", { type: "checkbox", onchange: () => { if (made.box.checked) state.lines.add(made.run); else state.lines.delete(made.run); schedule(); } });
  made.moved = cell("moved", made.arrow, made.told);
  made.row = h("tr", {}, made.rank, against ? made.moved : null, h("th", { scope: "row" }, h("label", { class: "line" }, made.box, made.swatch, made.name)), made.score, second ? made.second : null, against ? made.other : null);
  return made;
}
const says = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const looks = (element, kind) => { if (element.className !== kind) element.className = kind; };

function drawBoard() {
  const other = against();
  const { means, order, rank } = found;
  const second = !hasOrders(user) ? null : (user.kind === "walk" && user.order !== 2) || user.kind === "AP" ? ["order 2", means.two] : ["order 1", means.one]; // the score is the other one
  const columns = [["#", "number rank"], ...(other ? [["moved", ""]] : []), [playing ? "list" : "run", ""], ["score", "number"], ...(second ? [[second[0], "number other second"]] : []), ...(other ? [[other.name, "number other"]] : [])];
  const head = JSON.stringify([columns, order.length]);
  if (board.head !== head) {
    Object.assign(board, { head, rows: order.map(() => boardRow(other, second)) });
    find("board").replaceChildren(h("caption", { class: "aloud" }), h("thead", {}, h("tr", {}, columns.map(([text, of]) => h("th", { scope: "col", class: of, title: of.includes("other") ? text : null }, text)))), h("tbody", {}, board.rows.map((one) => one.row)));
  }
  says(find("board").caption, `Leaderboard by ${measureName(user)}`);
  const most = Math.max(...means.score, 1e-9);
  order.forEach((i, k) => {
    const one = board.rows[k];
    one.run = i;
    const up = other ? other.rank[i] - rank[i] : 0;
    looks(one.row, state.lines.has(i) ? "drawn" : "");
    says(one.rank, String(rank[i]));
    if (other) {
      looks(one.moved, up > 0 ? "moved better" : up < 0 ? "moved worse" : "moved");
      says(one.arrow, up > 0 ? `▲ ${up}` : up < 0 ? `▼ ${-up}` : "=");
      looks(one.arrow, up ? "" : "as-before");
      says(one.told, up ? ` places ${up > 0 ? "up" : "down"}, rank ${other.rank[i]} by ${other.name}` : `as by ${other.name}`);
      says(one.other, numeral(data.means[state.measure][i]));
    }
    one.box.checked = state.lines.has(i);
    one.box.disabled = !state.lines.has(i) && state.lines.size >= MOST_LINES;
    looks(one.swatch, `swatch ${lineOf(i)}`);
    says(one.score, numeral(means.score[i]));
    one.score.style.setProperty("--share", (Math.max(means.score[i], 0) / most).toFixed(3));
    if (second) says(one.second, numeral(second[1][i]));
    says(one.name, data.runs[i]);
    if (one.name.title !== data.runs[i]) one.name.title = data.runs[i];
  });
  const best = order.filter((i) => rank[i] === 1).map((i) => data.runs[i]);
  const moved = other ? order.filter((i) => other.rank[i] !== rank[i]).length : 0;
  find("finding").replaceChildren(best.length > 3 ? `${best.length} share the first place` : h("b", {}, short(best.join(", "), 90)), best.length > 3 ? "" : best.length > 1 ? " share the first place" : " is best",
    ` with ${numeral(means.score[order[0]])}.`, other ? ` ${moved} of ${order.length} have another rank by ${other.name}.` : "");
  charts.board = () => [["run", "rank", measureName(user), "order 1", "order 2", "E[H]", ...(other ? [other.name, `rank by ${other.name}`] : [])],
    ...order.map((i) => [data.runs[i], rank[i], means.score[i], means.one[i], means.two[i], means.depth[i], ...(other ? [data.means[state.measure][i], other.rank[i]] : [])])];
}

// ---- distributions

// CDFs that are drawn: exact at once for users who walk down, else what the worker has sent for this very user
function linesShown() {
  if (found.cdf) return { lines: found.cdf, fresh: true };
  const heard = found.heard;
  if (!heard) return { lines: new Map(), fresh: false };
  return { lines: new Map(heard.runs.map((run, k) => [run, heard.lines[k]]).filter(([run]) => state.lines.has(run))), fresh: heard.key === questionKey() };
}

function drawDistribution() {
  const box = find("distribution");
  const { lines, fresh } = linesShown();
  const [width, height, left, bottom] = [boxWidth(box), 300, 54, 40];
  const x = linear(0, 1, left, width - 10);
  const y = linear(0, 1, height - bottom, 18);
  const svg = drawing(width, height, `Share of users of ${measureName(user)} whose score is at most x, for ${[...state.lines].map((i) => data.runs[i]).join(", ") || "no run"}. Triangles mark order 1 and order 2.`);
  leftAxis(svg, left, width - 10, y, [0, 0.25, 0.5, 0.75, 1], (v) => v.toFixed(2), "share of users");
  bottomAxis(svg, height - bottom, x, width < 420 ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1], width < 420 ? 2 : 1, "score", (left + width) / 2);
  for (const run of state.lines) {
    const line = lines.get(run);
    if (line) {
      let path = `M${x(0).toFixed(1)} ${y(0).toFixed(1)}`;
      let last = 0;
      for (let b = 0; b <= BINS; b++) if (line[b] !== last) { path += `H${x(b / BINS).toFixed(1)}V${y(line[b]).toFixed(1)}`; last = line[b]; }
      svg.append(s("path", { d: `${path}H${x(1).toFixed(1)}`, class: `cdf ${lineOf(run)}${fresh ? "" : " stale"}` }));
    }
    if (hasOrders(user)) for (const [what, value, dash] of [["order 1", found.means.one[run], "one"], ["order 2", found.means.two[run], "two"]]) {
      svg.append(s("line", { x1: x(value), x2: x(value), y1: y(0), y2: y(1), class: `order ${dash} ${lineOf(run)}` }));
      svg.append(s("path", { d: `M${x(value)} ${y(1) - 1}l-4.5 -8h9z`, class: `tick ${lineOf(run)}`, ...withTip(() => [data.runs[run], `${what}: ${numeral(value)}`]) }));
    }
  }
  svg.addEventListener("pointermove", (event) => {
    if (event.target.classList.contains("tick")) return;
    const at = Math.round(((event.clientX - svg.getBoundingClientRect().left - left) / (width - 10 - left)) * BINS);
    if (at < 0 || at > BINS) { hideTip(); return; }
    showTip(event, [`score at most ${(at / BINS).toFixed(3)}`, ...[...lines].map(([run, line]) => `${data.runs[run]}: ${percent(line[at], 1)} of users`)]);
  });
  svg.addEventListener("pointerleave", hideTip);
  box.replaceChildren(svg);
  const heard = found.heard && found.heard.key === questionKey() ? found.heard : null;
  const how = !walksBack(user) ? "Exact." : heard ? `${heard.users.toLocaleString("en")} users simulated${playing ? "" : " on every topic"}${heard.done ? "" : ", and more to come"}; 95 % confidence band ±${numeral(heard.band, 3)}.` : "Users are being simulated …";
  find("distribution-note").replaceChildren(...(hasOrders(user) ? [h("span", { class: "dash one", "aria-hidden": "true" }), " order 1, E[T/H]; ", h("span", { class: "dash two", "aria-hidden": "true" }), " order 2, E[T]/E[H]. "] : []), how);
  charts.distribution = () => { const shown = linesShown(); const runs = [...shown.lines.keys()]; return [["score", ...runs.map((run) => data.runs[run])], ...Array.from({ length: BINS + 1 }, (_, b) => [b / BINS, ...runs.map((run) => shown.lines.get(run)[b])])]; };
  drawVerdict(heard, lines);
}

// how the first two lines stand: at once on the grid, and then as the worker has it, by all values
function drawVerdict(heard, lines) {
  const [a, b] = rankedPair();
  let text = "Check two in the leaderboard to compare their users.";
  if (b !== undefined) {
    const pair = heard && heard.pairs.find((one) => (one.a === a && one.b === b) || (one.a === b && one.b === a));
    let verdict = null;
    let crossings = [];
    if (pair) {
      verdict = pair.a === a ? pair.verdict : { less: "greater", greater: "less" }[pair.verdict] || pair.verdict;
      crossings = pair.crossings;
    } else if (found.cdf && lines.has(a) && lines.has(b)) {
      const [f, g] = [lines.get(a), lines.get(b)];
      let [above, below] = [0, 0];
      for (let k = 0; k <= BINS; k++) { above = Math.max(above, f[k] - g[k]); below = Math.max(below, g[k] - f[k]); }
      verdict = above > 1e-12 && below > 1e-12 ? "incomparable" : above > 1e-12 ? "less" : below > 1e-12 ? "greater" : "equal";
    }
    const [one, other] = [a, b].map((run) => short(data.runs[run], 40));
    const cross = crossings.length ? `; the lines cross at ${crossings.slice(0, 4).map((v) => numeral(v, 3)).join(", ")}${crossings.length > 4 ? " …" : ""}` : "";
    text = { greater: `${one} dominates ${other}: whatever score users want, no fewer of them get it.`, less: `${other} dominates ${one}: whatever score users want, no fewer of them get it.`,
      equal: walksBack(user) ? `${one} and ${other}: no difference found between their users.` : `${one} and ${other}: their users get the same.`,
      incomparable: `${one} and ${other} are incomparable: each is better for some users${cross}.` }[verdict] || `${one} and ${other}: users are being simulated.`;
  }
  if (find("verdict").textContent !== text) find("verdict").textContent = text;
}
// the two lines whose verdict is told: the two runs compared below if both are drawn, else the first two
function rankedPair() {
  const drawn = [...state.lines];
  const wanted = [state.system, state.baseline].filter((run) => state.lines.has(run));
  const two = [...new Set([...wanted, ...drawn])].slice(0, 2);
  return two.sort((i, j) => found.order.indexOf(i) - found.order.indexOf(j));
}

// ---- the sweep

function sweptValues() {
  if (state.along === "depth") return depthsOf().filter((k) => k > 0);
  let [least, most] = rangeOf(state.along);
  if (state.along === "p") least = Math.max(least, 0.02);
  return Array.from({ length: POINTS }, (_, k) => least + ((most - least) * k) / (POINTS - 1));
}
let swept = { key: "", all: [], known: [], left: [], values: [], means: [], taus: [], flips: [], rough: 0 };
// the sweep as far as it gets in some milliseconds: from coarse to fine, and more in the frames that follow
function sweepOf(patience = 12) {
  const at = sweptValues();
  const key = JSON.stringify([{ ...user, [state.along]: 0 }, state.along, at, playing && data.play]);
  if (swept.key !== key) swept = { key, all: at, known: new Array(at.length).fill(null), left: coarseToFine(at.length), rough: 0 };
  else if (!swept.left.length) return swept;
  const began = performance.now();
  while (swept.left.length && (swept.left.length > at.length - 2 || performance.now() - began < patience)) {
    const k = swept.left.shift();
    const means = runMeans(evaluate({ ...user, [state.along]: at[k] }, lists, { close: false }).score, lists);
    swept.known[k] = { value: at[k], means, taus: data.means.map((other, m) => better(m) * kendall(means, other.map((x) => (x === null ? -Infinity : x)))) };
  }
  const known = swept.known.filter(Boolean);
  swept.values = known.map((point) => point.value);
  swept.means = known.map((point) => point.means);
  swept.taus = data.means.map((_, m) => known.map((point) => point.taus[m]));
  swept.flips = flipsOf(swept.values, swept.means);
  return swept;
}
// 0, the last, the middle, the quarters, …
function coarseToFine(count) {
  const out = [];
  for (let step = 32; step >= 1; step /= 2) for (let k = 0; k < count; k += step) if (!out.includes(k)) out.push(k);
  if (!out.slice(0, 2).includes(count - 1)) { out.splice(out.indexOf(count - 1), 1); out.splice(Math.min(1, out.length), 0, count - 1); }
  return out;
}

// where two runs change places, between two points of the sweep
function flipsOf(at, means) {
  const out = [];
  for (let k = 1; k < at.length; k++) {
    const [before, after] = [means[k - 1], means[k]];
    for (let i = 0; i < before.length; i++) {
      for (let j = 0; j < i; j++) {
        const d = before[i] - before[j];
        const e = after[i] - after[j];
        if (d * e < 0 && !alike(before[i], before[j]) && !alike(after[i], after[j])) out.push({ at: at[k - 1] + ((at[k] - at[k - 1]) * d) / (d - e), cell: k, winner: e > 0 ? i : j, loser: e > 0 ? j : i });
      }
    }
  }
  return out.sort((one, other) => one.at - other.at);
}

// the point where two runs have one score, to 1e-6 of the slider's range
function refined(flip) {
  const [before, after] = [flip.cell - 1, flip.cell];
  const two = collectionOfTwo(lists, [flip.winner, flip.loser]);
  const lead = ([winner, loser]) => winner - loser;
  let [low, high] = [swept.values[before], swept.values[after]];
  let [f, g] = [before, after].map((k) => lead([swept.means[k][flip.winner], swept.means[k][flip.loser]]));
  let side = 0;
  for (let turn = 0; turn < 60 && high - low > 1e-7; turn++) { // secants, from an end that stays with half its height
    let x = low - (f * (high - low)) / (g - f);
    if (!(x > low && x < high)) x = (low + high) / 2;
    const y = lead(runMeans(evaluate({ ...user, [state.along]: x }, two).score, two));
    if (Math.abs(y) < 1e-13) return x;
    if (y < 0) { [low, f] = [x, y]; if (side < 0) g /= 2; side = -1; } else { [high, g] = [x, y]; if (side > 0) f /= 2; side = 1; }
  }
  return (low + high) / 2;
}

const present = () => (state.along === "depth" && !user.depth ? null : user[state.along]);
function sweepScale(width, left, right) {
  const at = swept.values;
  return state.along === "depth" ? logarithmic(Math.max(at[0], 1), Math.max(at.at(-1), 2), left, width - right) : linear(at[0], at.at(-1), left, width - right);
}
function sweepAxis(svg, height, bottom, x, width, left) {
  const at = swept.values;
  const depths = x(2) - x(1) > 30 ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] : [1, 10, 100, 1000]; // as there is room
  if (state.along === "depth") bottomAxis(svg, height - bottom, x, depths.filter((k) => k >= at[0] && k <= at.at(-1)), 0, LABELS.depth, (left + width) / 2);
  else { const marks = ticks(at[0], at.at(-1), width < 500 ? 5 : 10); bottomAxis(svg, height - bottom, x, marks.at, marks.digits, LABELS[state.along], (left + width) / 2); }
}
function shaded(svg, x, top, bottom) {
  const range = state.fitted && state.fitted.ranges[state.along];
  if (!range) return;
  const clipped = range.map((v) => Math.min(Math.max(v, swept.all[0]), swept.all.at(-1)));
  svg.append(s("rect", { x: x(clipped[0]), y: top, width: Math.max(x(clipped[1]) - x(clipped[0]), 1), height: bottom - top, class: "fitted-range" }));
}

function drawSweep() {
  const box = find("sweep");
  const { values, means, flips } = swept;
  const [width, height, left, bottom] = [boxWidth(box), 340, 54, 56];
  const right = width < 560 ? 12 : 150;
  const x = sweepScale(width, left, right);
  const [least, most] = extent(means, Infinity, -Infinity);
  const pad = (most - least || 0.1) * 0.04;
  const y = linear(Math.max(0, least - pad), most + pad, height - bottom, 12);
  const svg = drawing(width, height, `Score of every run along ${LABELS[state.along]}; ${flips.length} flips of order. ${leaders()}`);
  const marks = ticks(y.from, y.to, 6);
  shaded(svg, x, 12, height - bottom);
  leftAxis(svg, left, width - right, y, marks.at, (v) => v.toFixed(marks.digits), "score");
  sweepAxis(svg, height, bottom - 15, x, width - right, left);
  const path = (i) => means.map((of, k) => `${k ? "L" : "M"}${x(values[k]).toFixed(1)} ${y(of[i]).toFixed(1)}`).join("");
  svg.style.setProperty("--faint", data.runs.length <= 20 ? 0.75 : 0.38);
  data.runs.forEach((_, i) => { if (!state.lines.has(i)) svg.append(s("path", { d: path(i), class: "swept", ...withTip(() => [data.runs[i]]) })); });
  state.lines.forEach((i) => svg.append(s("path", { d: path(i), class: `swept chosen ${lineOf(i)}`, ...withTip(() => [data.runs[i]]) })));
  const shown = flips.length > 600 ? flips.filter((_, k) => k % Math.ceil(flips.length / 600) === 0) : flips;
  const flipped = shown.map((flip) => `M${x(flip.at).toFixed(1)} ${height - bottom + 5}v8`).join("");
  if (flipped) svg.append(s("path", { d: flipped, class: "flip" }), s("text", { x: 0, y: height - bottom + 14, class: "run" }, "flips"));
  for (const flip of flips) if (state.lines.has(flip.winner) && state.lines.has(flip.loser)) {
    const [a, b] = [means[flip.cell - 1][flip.winner], means[flip.cell][flip.winner]];
    const share = (flip.at - values[flip.cell - 1]) / (values[flip.cell] - values[flip.cell - 1] || 1);
    svg.append(s("circle", { cx: x(flip.at), cy: y(a + share * (b - a)), r: 4, class: "flip-mark", ...withTip(() => [flipWords(flip)]) }));
  }
  const now = present();
  if (now !== null) svg.append(s("line", { x1: x(now), x2: x(now), y1: 8, y2: height - bottom, class: "now" }), s("text", { x: x(now) + (x(now) > width - 70 ? -4 : 4), y: 16, "text-anchor": x(now) > width - 70 ? "end" : "start", class: "now-text" }, `${state.along} = ${now}`));
  if (right > 100) {
    const ends = (data.runs.length <= 12 ? [...data.runs.keys()] : [...state.lines]).map((i) => [y(means.at(-1)[i]) + 4, i]).sort((a, b) => a[0] - b[0]);
    ends.forEach((one, k) => { if (k) one[0] = Math.max(one[0], ends[k - 1][0] + 14); }); // one below the other
    let floor = height - bottom + 4;
    for (const one of ends.reverse()) { one[0] = Math.min(one[0], floor); floor = one[0] - 14; } // and none below the axis
    for (const [at, i] of ends) svg.append(s("text", { x: width - right + 8, y: at, class: `run-label ${lineOf(i)}` }, short(data.runs[i], 20)));
  }
  box.replaceChildren(svg);
  find("sweep-finding").textContent = leaders();
  charts.sweep = () => [[state.along, ...data.runs], ...swept.values.map((v, k) => [v, ...swept.means[k]])];
  drawTau();
}

const flipWords = (flip) => `${data.runs[flip.winner]} overtakes ${data.runs[flip.loser]} at ${state.along === "depth" ? `depth ${swept.values[flip.cell]}` : `${state.along} = ${flip.exact === undefined ? `≈ ${flip.at.toFixed(2)}` : flip.exact.toFixed(4)}`}`;

// who leads along the sweep, in words
function leaders() {
  const { values, means, flips } = swept;
  const spans = []; // who leads, and up to where
  means.map((of) => rankedBy(of).order[0]).forEach((i, k) => {
    const last = spans.at(-1);
    if (last && last.i === i) return;
    const flip = last && flips.find((one) => one.cell === k && one.winner === i && one.loser === last.i);
    if (last) last.to = state.along === "depth" ? values[k - 1] : (flip ? flip.at : values[k]).toFixed(2);
    spans.push({ i });
  });
  const name = LABELS[state.along].split(",")[0];
  const said = spans.slice(0, 5).map(({ i, to }) => `${short(data.runs[i], 30)}${to === undefined ? "" : ` up to ${to}`}`);
  return spans.length === 1 ? `${said[0]} is best all along ${name}.` : `Best along ${name}: ${said.join(", then ")}${spans.length > 5 ? ", and so on" : ""}.`;
}

function drawTau() {
  const box = find("tau");
  const { values, taus } = swept;
  if (!taus.length || data.runs.length < 2) {
    box.replaceChildren(h("p", { class: "note" }, data.runs.length < 2 ? "It takes two runs." : "No measures to agree with."));
    charts.tau = () => [[state.along]];
    return;
  }
  const [width, height, left, bottom] = [boxWidth(box), 230, 46, 40];
  const x = sweepScale(width, left, 12);
  const [least] = extent(taus.map((of) => of.filter((v) => !Number.isNaN(v))), 1, 1);
  const y = linear(Math.max(-1, Math.floor((least - 0.02) * 10) / 10), 1, height - bottom, 10);
  const svg = drawing(width, height, `Kendall's tau-b of the ranking of runs with ${names.map((name, m) => `${name}${present() === null ? "" : `, now ${numeral(tauNow(m), 3)}`}`).join("; ")}.`);
  const marks = ticks(y.from, 1, 5);
  shaded(svg, x, 10, height - bottom);
  leftAxis(svg, left, width - 12, y, marks.at, (v) => v.toFixed(marks.digits));
  sweepAxis(svg, height, bottom, x, width, left);
  const alone = values.map((_, k) => { const at = swept.flips.filter((flip) => flip.cell === k); return at.length === 1 ? x(at[0].at).toFixed(1) : null; });
  const kinds = new Map(); // measures whose τ is the same all along share a line
  taus.forEach((of, m) => { const key = of.join(); kinds.set(key, [...(kinds.get(key) || []), m]); });
  for (const [m, ...others] of kinds.values()) {
    let path = "";
    let last = null; // τ jumps where a flip is the only one between two points, else its way is not known
    taus[m].forEach((v, k) => {
      if (Number.isNaN(v)) return;
      if (last !== null && alone[k]) path += `L${alone[k]} ${last}L${alone[k]} ${y(v).toFixed(1)}`;
      last = y(v).toFixed(1);
      path += `${path ? "L" : "M"}${x(values[k]).toFixed(1)} ${last}`;
    });
    svg.append(s("path", { d: path, class: `swept chosen dash-${m % 4} line-${m % MOST_LINES}`, ...withTip(() => [[m, ...others].map((one) => names[one]).join(", ")]) }));
  }
  const now = present();
  if (now !== null) svg.append(s("line", { x1: x(now), x2: x(now), y1: 6, y2: height - bottom, class: "now" }));
  box.replaceChildren(svg, h("p", { class: "note key-line" }, [...kinds.values()].map((of) => h("span", { class: "key-item" }, s("svg", { width: 30, height: 4, class: "dashes", "aria-hidden": "true" }, s("path", { d: "M0 2H30", class: `swept chosen dash-${of[0] % 4} line-${of[0] % MOST_LINES}` })), ` ${of.map((m) => names[m]).join(", ")} ${numeral(tauNow(of[0]), 3)}`))));
  charts.tau = () => [[state.along, ...names], ...swept.values.map((v, k) => [v, ...swept.taus.map((of) => of[k])])];
}
const tauNow = (m) => better(m) * kendall(found.means.score, data.means[m].map((x) => (x === null ? -Infinity : x)));

// the flips that are nearest to the slider, among the best ten or the runs drawn; exactly, as far as some milliseconds go
function drawFlips(patience = 0) {
  const box = find("flips");
  const top = new Set([...found.order.slice(0, 10), ...state.lines]);
  const now = present() === null ? swept.values.at(-1) : present();
  const near = swept.flips.filter((flip) => top.has(flip.winner) && top.has(flip.loser)).sort((a, b) => Math.abs(a.at - now) - Math.abs(b.at - now)).slice(0, 8);
  const rough = state.along === "depth" ? [] : near.filter((flip) => flip.exact === undefined);
  const began = performance.now();
  while (rough.length && performance.now() - began < patience) { const flip = rough.shift(); flip.exact = refined(flip); }
  swept.rough = rough.length;
  near.sort((a, b) => a.at - b.at);
  box.replaceChildren(h("p", { class: "note" }, swept.flips.length ? `${swept.flips.length.toLocaleString("en")} flip${swept.flips.length === 1 ? "" : "s"} in all${near.length < swept.flips.length ? "; nearest to the slider, among the best ten and the runs drawn" : ""}:` : "No two change places."),
    h("ul", { class: "flip-list" }, near.map((flip) => h("li", {}, h("b", {}, state.along === "depth" ? `depth ${swept.values[flip.cell]}` : `${state.along} = ${(flip.exact === undefined ? flip.at : flip.exact).toFixed(flip.exact === undefined ? 2 : 4)}`), h("span", {}, `${short(data.runs[flip.winner], 24)} overtakes ${short(data.runs[flip.loser], 24)}`)))));
  charts.flips = () => [[state.along, "overtakes", "overtaken"], ...swept.flips.map((flip) => [state.along === "depth" ? swept.values[flip.cell] : refined(flip), data.runs[flip.winner], data.runs[flip.loser]])];
}

// ---- topic by topic

function drawDifferences() {
  const box = find("differences");
  if (playing) return;
  const [a, b] = [state.system, state.baseline];
  const rows = data.topics.map((_, t) => ({ t, one: found.values.score[a * lists.topics + t], other: found.values.score[b * lists.topics + t] }))
    .filter(({ t }) => !lists.absent.has(a * lists.topics + t) && !lists.absent.has(b * lists.topics + t))
    .map((row) => ({ ...row, x: row.one - row.other })).sort((p, q) => q.x - p.x || p.t - q.t);
  charts.differences = () => [["topic", data.runs[a], data.runs[b], "difference"], ...rows.map(({ t, one, other, x }) => [data.topics[t], one, other, x])];
  const [up, down] = [rows.filter((row) => row.x > 1e-12).length, rows.filter((row) => row.x < -1e-12).length];
  const [width, height, left] = [boxWidth(box), 240, 58];
  const [least, most] = extent([rows.map((row) => row.x)], 0, 1e-6);
  const y = linear(least, most, height - 12, 10);
  const step = (width - left - 4) / Math.max(rows.length, 1);
  const svg = drawing(width, height, `Differences by topic, sorted: ${data.runs[a]} is better than ${data.runs[b]} on ${up} topics, worse on ${down}. Arrow keys move from bar to bar, Enter chooses the topic.`, { tabindex: 0, role: "application" });
  const marks = ticks(least, most, 8);
  leftAxis(svg, left, width - 2, y, marks.at, (v) => signed(v, marks.digits).replace("±", ""), "difference");
  svg.append(s("line", { x1: left, x2: width - 2, y1: y(0), y2: y(0), class: "zero" }));
  const told = (row) => [`topic ${data.topics[row.t]}`, signed(row.x), `${numeral(row.one)} and ${numeral(row.other)}`];
  const choose = (row) => { state.topic = row.t; find("topic").value = String(row.t); restartWalk(); schedule(); };
  const bars = rows.map((row, k) => s("rect", { x: left + k * step + (step > 4 ? 0.8 : 0), y: Math.min(y(row.x), y(0)), width: Math.max(step - (step > 4 ? 1.6 : 0), 0.6), height: Math.max(Math.abs(y(row.x) - y(0)), 0.8),
    class: (row.x > 0 ? "up" : row.x < 0 ? "down" : "same") + (row.t === state.topic ? " chosen" : ""), onclick: () => choose(row), ...withTip(() => told(row)) }));
  svg.append(...bars);
  let on = -1;
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter" && on >= 0) choose(rows[on]);
    if (!move || !rows.length) return;
    event.preventDefault();
    if (on >= 0) bars[on].classList.remove("reached");
    on = on < 0 ? 0 : Math.min(Math.max(on + move, 0), rows.length - 1);
    bars[on].classList.add("reached");
    showTipAt(bars[on], told(rows[on]));
  });
  svg.addEventListener("blur", hideTip);
  box.replaceChildren(svg, h("p", { class: "note" }, a === b ? "The two runs are the same; choose another one." : `Better on ${up}, worse on ${down}, equal on ${rows.length - up - down} of ${rows.length} topics. A click takes the topic's list for the walk.`));
}
