// Distributions of scores over users, one line per run; and stochastic dominance.

const MOST_LINES = 8;
const SPREAD = 1.3; // names are set wider in the dominance graph than where they were laid out

const distributionOf = () => data.distributions[state.measure];
const colourOf = new Map(); // of a run, for as long as it is drawn

function linesToStart() {
  const distribution = data.distributions.find((one) => one.systems);
  if (!distribution) return;
  const first = [state.system, state.baseline, ...distribution.systems].filter((i) => distribution.systems.includes(i));
  for (const i of [...new Set(first)].slice(0, 4)) state.lines.add(i);
}

function paint() {
  for (const i of [...colourOf.keys()]) if (!state.lines.has(i)) colourOf.delete(i);
  const taken = new Set(colourOf.values());
  for (const i of state.lines) {
    if (colourOf.has(i)) continue;
    const free = [...Array(MOST_LINES).keys()].find((k) => !taken.has(k));
    colourOf.set(i, free);
    taken.add(free);
  }
}

function drawDistributions() {
  const distribution = distributionOf();
  const boxes = ["distribution", "distribution-systems", "hasse", "pairs", "dominance-about"].map(find);
  find("dominance-kind").parentElement.hidden = !distribution.systems;
  find("distribution-measure").textContent = `the user of ${names[state.measure]}`;
  if (!distribution.systems) {
    boxes.forEach((box) => box.replaceChildren());
    boxes[0].replaceChildren(h("p", { class: "note" }, `${distribution.why}.`));
    return;
  }
  setCommand("distribution-command", /-m .* --levels$/, `-m ${quoted(names[state.measure])} --levels`);
  paint();
  drawCdf(boxes[0], distribution);
  drawSystems(boxes[1], distribution);
  drawDominance(boxes[2], distribution);
  drawPairs(boxes[3], distribution);
}

// a graph, if it fits and says something; a matrix where most pairs cannot be compared
function drawDominance(box, distribution) {
  const { nodes } = distribution.hasse;
  const wide = (Math.max(...nodes.map((n) => n.x + n.half)) - Math.min(...nodes.map((n) => n.x - n.half))) * SPREAD + 20;
  const kind = state.dominance || (distribution.comparable < 0.5 || widthOf(box) < 0.7 * wide ? "matrix" : "graph");
  find("dominance-kind").value = kind;
  find("dominance-about").textContent = kind === "graph"
    ? "The best on top. A run is better than all it reaches by going down lines, whatever score users want; runs without such a way between them are incomparable. Choose a run to see how it stands to the others."
    : "How the run of a row stands to that of a column: > it dominates it, that is, it is better whatever score users want; < it is dominated; = they are equal; · they are incomparable, each is better for some users. The best by the mean are first. Choose a run to see how it stands to the others.";
  (kind === "graph" ? drawHasse : drawStandings)(box, distribution);
}

const STANDINGS = { ">": ["dominates", "better"], "<": ["is dominated by", "worse"], "=": ["is equal to", ""], "?": ["is incomparable with", "apart"] };

function drawStandings(box, distribution) {
  const order = ranked(state.measure).filter((i) => distribution.systems.includes(i));
  const pick = (i) => keeping(() => { state.node = state.node === i ? null : i; drawDominance(box, distribution); drawPairs(find("pairs"), distribution); });
  const row = (i, k) => h("tr", { class: i === state.node ? "is-system" : null },
    h("th", { scope: "row" }, h("button", { type: "button", class: "plain", title: data.runs[i], "aria-pressed": String(i === state.node), onclick: () => pick(i) }, `${k + 1} ${data.runs[i]}`)),
    order.map((j) => {
      const sign = standing(distribution, i, j);
      if (i === j) return h("td", { class: "self" });
      const [words, kind] = STANDINGS[sign];
      return h("td", { class: kind, title: `${data.runs[i]} ${words} ${data.runs[j]}` }, h("span", { "aria-hidden": "true" }, sign === "?" ? "·" : sign), h("span", { class: "aloud" }, words));
    }));
  box.replaceChildren(h("table", { class: "standings" },
    h("caption", { class: "aloud" }, `Dominance under the user of ${names[state.measure]}; ${percent(distribution.comparable)} of pairs can be compared.`),
    h("thead", {}, h("tr", {}, h("td", {}), order.map((j, k) => h("th", { scope: "col", title: data.runs[j] }, k + 1)))),
    h("tbody", {}, order.map(row))));
}

function drawCdf(box, distribution) {
  const [width, height, left, bottom] = [widthOf(box), 330, 54, 44];
  const drawn = distribution.systems.map((i, k) => ({ i, k })).filter((one) => state.lines.has(one.i));
  const ends = drawn.flatMap(({ k }) => [distribution.lines[k][0][0], distribution.lines[k][0].at(-1)]);
  // scores between 0 and 1 are shown there, others on a scale of their own, without the last users if they are far away
  const bounded = data.measures[state.measure].bounded;
  const furthest = Math.max(...ends, ...(bounded ? [1] : []));
  const least = Math.min(...ends, ...(bounded ? [0] : []));
  const near = Math.max(...drawn.flatMap(({ k }) => [quantile(distribution.lines[k], 0.99), distribution.order1[k], distribution.order2[k]]).filter((v) => v !== null));
  const cut = !bounded && near > least && near - least < (furthest - least) / 2;
  const most = cut ? near : furthest > least ? furthest : least + 1;
  const x = linear(least, most, left, width - 8);
  const y = linear(0, 1, height - bottom, 16);
  const svg = drawing(width, height, `Share of users of ${names[state.measure]} whose score is at most x, for ${drawn.map(({ i }) => data.runs[i]).join(", ")}. The numbers are in the table beside it.`);
  const marks = ticks(least, most, width < 500 ? 5 : 10);
  leftAxis(svg, left, width - 8, y, [0, 0.25, 0.5, 0.75, 1], (v) => v.toFixed(2), "share of users");
  bottomAxis(svg, height - bottom, x, marks.at, marks.digits, "score", (left + width) / 2);
  for (const { i, k } of drawn) {
    const [at, share] = distribution.lines[k];
    let path = `M${x(least).toFixed(1)} ${y(0).toFixed(1)}`;
    at.forEach((v, n) => { if (v <= most) path += `H${x(v).toFixed(1)}V${y(share[n]).toFixed(1)}`; });
    path += `H${x(most).toFixed(1)}`;
    const colour = `line-${colourOf.get(i)}`;
    svg.append(s("path", { d: path, class: `cdf ${colour}` }));
    [["order 1", distribution.order1[k], "one"], ["order 2", distribution.order2[k], "two"]].forEach(([what, value, dash]) => {
      if (value === null) return;
      svg.append(s("line", { x1: x(value), x2: x(value), y1: y(0), y2: y(1), class: `order ${dash} ${colour}` }));
      svg.append(s("path", { d: `M${x(value)} ${y(1) - 1}l-4.5 -8h9z`, class: `tick ${colour}`, ...withTip(() => [data.runs[i], `${what}: ${fixed(value)}`]) }));
    });
  }
  svg.addEventListener("pointermove", (event) => {
    if (event.target.classList.contains("tick")) return;
    const place = svg.getBoundingClientRect();
    const v = least + ((event.clientX - place.left - left) / (width - 8 - left)) * (most - least);
    if (v < least || v > most) return hideTip();
    showTip(event, [`score at most ${fixed(v, 3)}`, ...drawn.map(({ i, k }) => `${data.runs[i]}: ${percent(shareAt(distribution.lines[k], v), 1)} of users`)]);
  });
  svg.addEventListener("pointerleave", hideTip);
  const method = distribution.users
    ? `${distribution.users.toLocaleString("en")} users simulated on every topic; 95 % confidence band: ±${fixed(distribution.band)}.`
    : "Exact distributions; lines of many steps are drawn within 1/160 of the users.";
  box.replaceChildren(svg, h("p", { class: "note" },
    h("span", { class: "dash one", "aria-hidden": "true" }), " order 1, expected gain per document, E[T/H]; ", h("span", { class: "dash two", "aria-hidden": "true" }), " order 2, expected gain over expected effort, E[T]/E[H]. ", method, cut ? ` The highest scores, of at most 1 % of a run's users and up to ${fixed(furthest, 2)}, are not drawn.` : ""));
}

function shareAt([at, share], v) {
  let [low, high] = [0, at.length];
  while (low < high) { const middle = (low + high) >> 1; if (at[middle] <= v) low = middle + 1; else high = middle; }
  return low ? share[low - 1] : 0;
}

function quantile([at, share], u) {
  const n = share.findIndex((y) => y >= u - 1e-9);
  return at[n < 0 ? at.length - 1 : n];
}

function drawSystems(box, distribution) {
  const rows = distribution.systems.map((i, k) => h("tr", {},
    h("th", { scope: "row" }, h("label", { class: "line" },
      h("input", { type: "checkbox", checked: state.lines.has(i), disabled: !state.lines.has(i) && state.lines.size >= MOST_LINES, onchange: (event) => {
        if (event.target.checked) state.lines.add(i); else state.lines.delete(i);
        keeping(drawDistributions);
      } }),
      h("i", { class: state.lines.has(i) ? `swatch line-${colourOf.get(i)}` : "swatch none", "aria-hidden": "true" }), h("span", { title: data.runs[i] }, data.runs[i]))),
    h("td", { class: "number" }, fixed(distribution.order1[k], 3)), h("td", { class: "number" }, fixed(distribution.order2[k], 3)),
    h("td", { class: "number" }, fixed(quantile(distribution.lines[k], 0.25), 3)), h("td", { class: "number" }, fixed(quantile(distribution.lines[k], 0.5), 3)), h("td", { class: "number" }, fixed(quantile(distribution.lines[k], 0.75), 3))));
  box.replaceChildren(h("table", { class: "data tight" },
    h("caption", {}, "Check a run to draw it. A quarter, half, and three quarters of its users score at most:"),
    h("thead", {}, h("tr", {}, ["run", "order 1", "order 2", "¼ ≤", "½ ≤", "¾ ≤"].map((text, k) => h("th", { scope: "col", class: k ? "number" : "" }, text)))), h("tbody", {}, rows)));
}

// whether a run dominates another one: > < = or ? for neither
function standing(distribution, i, j) {
  return distribution.verdicts[distribution.systems.indexOf(i)][distribution.systems.indexOf(j)];
}

function drawHasse(box, distribution) {
  const { nodes, edges } = distribution.hasse;
  const systems = nodes.filter((node) => node.runs.length);
  const levels = Math.max(...nodes.map((node) => node.level)) + 1;
  const [from, to] = [Math.min(...nodes.map((n) => n.x - n.half)), Math.max(...nodes.map((n) => n.x + n.half))];
  const width = Math.max((to - from) * SPREAD + 20, Math.min(widthOf(box), 320));
  const x = linear(from, to, 10, width - 10);
  const step = Math.min(Math.max(34, 900 / levels), 64);
  const y = (level) => 22 + level * step;
  const svg = drawing(width, (levels - 1) * step + 38, `Dominance under the user of ${names[state.measure]}: ${levels} levels, the best on top; a line leads to the next runs that are dominated. ${percent(distribution.comparable)} of pairs can be compared.`);
  const focus = state.node !== null && distribution.systems.includes(state.node) ? state.node : null;
  const role = (node) => {
    if (focus === null || !node.runs.length) return "";
    if (node.runs.includes(focus)) return "focus";
    return { ">": "below", "<": "above", "=": "same", "?": "apart" }[standing(distribution, focus, node.runs[0])];
  };
  for (const [a, b] of edges) {
    svg.append(s("line", { x1: x(nodes[a].x), y1: y(nodes[a].level) + (nodes[a].runs.length ? 5 : 0), x2: x(nodes[b].x), y2: y(nodes[b].level) - (nodes[b].runs.length ? 12 : 0), class: "edge" }));
  }
  for (const node of systems) {
    const pick = () => keeping(() => { state.node = node.runs.includes(focus) ? null : node.runs[0]; drawDominance(box, distribution); drawPairs(find("pairs"), distribution); });
    const wide = Math.max(node.half * 2 * SPREAD - 6, 20);
    svg.append(s("g", { class: `node ${role(node)}`, tabindex: 0, role: "button", "aria-pressed": String(role(node) === "focus"), "aria-label": node.runs.map((i) => data.runs[i]).join(", "), onclick: pick,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } } },
      s("rect", { x: x(node.x) - wide / 2, y: y(node.level) - 13, width: wide, height: 19, rx: 4 }),
      s("text", { x: x(node.x), y: y(node.level) + 1, "text-anchor": "middle" }, node.label)));
  }
  svg.classList.add("fitted");
  box.replaceChildren(svg);
}

function drawPairs(box, distribution) {
  const notes = [];
  const list = (sign, i) => distribution.systems.filter((j) => j !== i && standing(distribution, i, j) === sign).map((j) => data.runs[j]);
  if (state.node !== null && distribution.systems.includes(state.node)) {
    const i = state.node;
    const say = (text, found) => notes.push(h("p", {}, h("b", {}, `${text}: `), found.length ? found.join(", ") : "none"));
    notes.push(h("p", {}, h("b", {}, data.runs[i])));
    say("dominates", list(">", i));
    say("is dominated by", list("<", i));
    say("cannot be compared with", list("?", i));
  } else {
    const apart = distribution.systems.flatMap((i, k) => distribution.systems.slice(k + 1).filter((j) => standing(distribution, i, j) === "?").map((j) => `${data.runs[i]} and ${data.runs[j]}`));
    const all = (distribution.systems.length * (distribution.systems.length - 1)) / 2;
    notes.push(h("p", {}, `${apart.length} of ${all} pairs are incomparable: each is better for some users.`, apart.length ? " Choose a run above to see its own." : ""));
    if (apart.length) notes.push(h("details", {}, h("summary", {}, "Incomparable pairs"), h("ul", { class: "pairs" }, apart.map((text) => h("li", {}, text)))));
  }
  box.replaceChildren(...notes);
}
