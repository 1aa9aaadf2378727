// Users: where they look and stop; and measures against each other.

const PANELS = [
  ["weights", "attention W", "the share of attention that a rank gets"],
  ["halting", "halting 1 − C", "the probability of stopping, once there (where 1 % of users get)"],
  ["residual", "residual", "the share of attention beyond the rank"],
];

const LEAST = 0.0001;

function drawUsers() {
  const box = find("users-chart");
  const of = data.users.of;
  const available = widthOf(box);
  const panels = available < 700 ? 1 : 3;
  const width = Math.floor(available / panels) - (panels > 1 ? 12 : 0);
  const chosen = of[state.measure];
  box.replaceChildren(...PANELS.map(([key, title, about]) => panel(of, chosen, key, title, about, width)));
  find("users-legend").replaceChildren(...of.map((one, j) => (one.why ? null : h("button", {
    type: "button", class: "chip", "aria-pressed": String(j === state.measure), "data-measure": j,
    onclick: () => choose({ measure: j }),
  }, h("i", { class: `swatch line-${j % MOST_LINES}`, "aria-hidden": "true" }), one.measure))).filter(Boolean));
  if (!chosen.why) setCommand("user-command", /^amble user .* --depth/, `amble user ${quoted(names[state.measure])} --depth`);
  const story = chosen.why
    ? `${chosen.why}.`
    : `${names[state.measure]}: ${data.measures[state.measure].story} ${chosen.depth === null ? `The user ${chosen.ends}.` : `Expected depth ${fixed(chosen.depth, 2)} documents.`}`;
  find("user-story").textContent = story;
}

function panel(of, chosen, key, title, about, width) {
  const [height, left, bottom] = [220, 48, 40];
  const depth = data.users.depth;
  const x = logarithmic(1, depth, left, width - 8);
  const y = logarithmic(LEAST, 1, height - bottom, 10);
  const svg = drawing(width, height, `${title}: ${about}, by rank, for each measure; ${chosen.measure} stands out.`);
  leftAxis(svg, left, width - 8, y, [LEAST, 0.001, 0.01, 0.1, 1], String);
  bottomAxis(svg, height - bottom, x, [1, 2, 5, 10, 20, 50, 100].filter((k) => k <= depth), 0, "rank", (left + width) / 2);
  const order = [...of.filter((one) => one !== chosen), chosen];
  for (const one of order) {
    if (one.why || !one[key]) continue;
    let path = "";
    let pen = "M";
    one[key].forEach((v, k) => {
      if (!(v >= LEAST)) { pen = "M"; return; } // none, or less than the panel shows
      path += `${pen}${x(k + 1).toFixed(1)} ${y(v).toFixed(1)}${pen === "M" ? "h0" : ""}`; // seen if it stays alone
      pen = "L";
    });
    const place = of.indexOf(one);
    svg.append(s("path", { d: path, class: `user line-${place % MOST_LINES}${one === chosen ? " chosen" : ""}`, onclick: () => choose({ measure: place }),
      ...withTip(() => [one.measure, about]) }));
  }
  return h("figure", {}, h("figcaption", {}, title), svg);
}

const MATRICES = {
  tau: ["tau", "Kendall's τ-b between the rankings of runs, with 95 % confidence intervals", 3],
  significant: ["significant", "agreement on significant differences, 2 SSA / (2 SSA + SN + NS)", 3],
  not_significant: ["not_significant", "agreement that there is no significant difference, 2 NN / (2 NN + SN + NS)", 3],
};

function drawMatrix() {
  const box = find("matrix");
  const meta = data.meta;
  if (meta.why) { box.replaceChildren(h("p", { class: "note" }, `Nothing to show: ${meta.why}.`)); return; }
  const [key, caption, digits] = MATRICES[state.matrix];
  const values = meta[key];
  const known = values.flat().filter((v) => v !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const level = (v) => (v === null ? "none" : Math.min(BUCKETS - 1, Math.floor(((v - least) / (most - least || 1)) * BUCKETS)));
  const interval = (i, j) => (state.matrix === "tau" && i !== j && meta.low[i][j] !== null ? h("small", {}, `${fixed(meta.low[i][j], 2)} to ${fixed(meta.high[i][j], 2)}`) : null);
  box.replaceChildren(h("table", { class: "matrix" }, h("caption", { class: "aloud" }, caption),
    h("thead", {}, h("tr", {}, h("td", {}), names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, names.map((name, i) => h("tr", {}, h("th", { scope: "row" }, name), names.map((_, j) =>
      h("td", { class: `cell heat-${level(values[i][j])}`, }, fixed(values[i][j], digits), interval(i, j))))))));
}

function drawPower() {
  const box = find("power");
  const meta = data.meta;
  if (meta.why) return; // there is no box, either
  const order = names.map((_, j) => j).sort((a, b) => meta.power[b] - meta.power[a] || a - b);
  const [width, left, high] = [Math.min(widthOf(box), 620), 130, 24];
  const x = linear(0, 1, left, width - 60);
  const svg = drawing(width, order.length * high + 8, `Discriminative power: ${order.map((j) => `${names[j]} ${percent(meta.power[j], 1)}`).join(", ")}`);
  order.forEach((j, k) => {
    svg.append(s("text", { x: left - 8, y: k * high + 17, "text-anchor": "end", class: "run" }, short(names[j], 18)));
    svg.append(s("rect", { x: left, y: k * high + 5, width: Math.max(x(meta.power[j]) - left, 1), height: high - 8, rx: 2, class: j === state.measure ? "power chosen" : "power" }));
    svg.append(s("text", { x: x(meta.power[j]) + 6, y: k * high + 17, class: "run" }, percent(meta.power[j], 1)));
  });
  box.replaceChildren(svg);
}
