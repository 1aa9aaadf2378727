// Topics: the heat map of systems and topics, differences to the baseline, the hardest topics, the documents.

const BUCKETS = 9;

function topicMeans(measure) {
  return data.topics.map((_, t) => mean(data.scores[measure].map((row) => row[t])));
}

// topics from the easiest to the hardest
function byEase(measure) {
  const means = topicMeans(measure);
  const key = (t) => (means[t] === null ? -Infinity : better(measure) * means[t]);
  return data.topics.map((_, t) => t).sort((a, b) => key(b) - key(a) || a - b);
}

function drawHeat() {
  const box = find("heat");
  const m = state.measure;
  const [runs, topics] = [ranked(m), byEase(m)];
  const width = widthOf(box);
  const letters = width < 560 ? 12 : 22;
  const left = Math.max(84, 14 + 8 * Math.max(...data.runs.map((name) => short(name, letters).length)));
  const high = runs.length <= 12 ? 26 : runs.length <= 30 ? 18 : runs.length <= 60 ? 12 : 6;
  const wide = (width - left - 2) / topics.length;
  // names of topics: side by side if there is room, else upright, and no more than can be read
  const texts = topics.map((t) => short(data.topics[t], 12));
  const longest = Math.max(...texts.map((text) => text.length)) * 6.2;
  const upright = longest + 4 > wide;
  const each = Math.ceil((upright ? 11 : 1) / wide);
  const [top, below] = [4, upright ? longest + 10 : 16];
  const height = runs.length * high + top + below + 18;
  const [least, most] = extent(data.scores[m], 0, 1e-9);
  const paths = Array.from({ length: BUCKETS }, () => []);
  const gap = high > 8 ? 1 : 0;
  const level = (x) => Math.min(BUCKETS - 1, Math.max(0, Math.floor(((x - least) / (most - least || 1)) * BUCKETS)));
  runs.forEach((i, r) => topics.forEach((t, c) => {
    const x = data.scores[m][i][t];
    if (x === null) return;
    paths[level(x)].push(`M${(left + c * wide).toFixed(2)} ${top + r * high}h${(wide - (wide > 4 ? gap : 0)).toFixed(2)}v${high - gap}h-${(wide - (wide > 4 ? gap : 0)).toFixed(2)}z`);
  }));
  const label = `Heat map of ${names[m]}: ${runs.length} runs, the best on top, by ${topics.length} ${data.item}s, the easiest on the left. Arrow keys move from cell to cell.`;
  const svg = drawing(width, height, label, { tabindex: 0, role: "application" }); // arrow keys are its own
  paths.forEach((path, k) => path.length && svg.append(s("path", { d: path.join(""), class: `heat heat-${k}` })));
  const special = (i) => i === state.baseline || i === state.system;
  // names of runs: the two that are looked at, and of the others those that there is room for
  const taken = [];
  for (const r of [...runs.keys()].sort((a, b) => special(runs[b]) - special(runs[a]) || a - b)) {
    let y = top + r * high + high / 2 + 3.5;
    if (special(runs[r])) while (taken.some((other) => Math.abs(other - y) < 12)) y += 1;
    else if (taken.some((other) => Math.abs(other - y) < 12)) continue;
    taken.push(y);
    svg.append(s("text", { x: left - 6, y, "text-anchor": "end", class: special(runs[r]) ? "run special" : "run" },
      s("title", {}, data.runs[runs[r]]), short(data.runs[runs[r]], letters)));
  }
  const foot = top + runs.length * high;
  topics.forEach((t, c) => {
    if (c % each && t !== state.topic) return;
    if (each > 1 && t !== state.topic && Math.abs(topics.indexOf(state.topic) - c) * wide < 11) return;
    const x = left + (c + 0.5) * wide;
    svg.append(s("text", upright
      ? { transform: `translate(${(x + 3.5).toFixed(1)} ${foot + 5}) rotate(-90)`, "text-anchor": "end", class: t === state.topic ? "topic special" : "topic" }
      : { x, y: foot + 13, "text-anchor": "middle", class: t === state.topic ? "topic special" : "topic" }, s("title", {}, data.topics[t]), texts[c]));
  });
  svg.append(s("text", { x: left, y: height - 4, class: "run" }, `← easier ${data.item}s`));
  svg.append(s("text", { x: width - 2, y: height - 4, "text-anchor": "end", class: "run" }, `harder ${data.item}s →`));
  const cursor = s("rect", { width: Math.max(wide, 3), height: Math.max(high, 3), class: "cursor", visibility: "hidden" });
  svg.append(cursor);
  const at = { r: runs.indexOf(state.system), c: topics.indexOf(state.topic) };
  const lines = () => {
    const [i, t] = [runs[at.r], topics[at.c]];
    return [`${data.runs[i]}, ${data.item} ${data.topics[t]}`, `${names[m]} ${fixed(data.scores[m][i][t])}`,
      `${data.runs[state.baseline]} ${fixed(data.scores[m][state.baseline][t])}`];
  };
  const show = () => {
    cursor.setAttribute("x", left + at.c * wide);
    cursor.setAttribute("y", top + at.r * high);
    cursor.setAttribute("visibility", "visible");
  };
  svg.addEventListener("pointermove", (event) => {
    const place = svg.getBoundingClientRect();
    const [r, c] = [Math.floor((event.clientY - place.top - top) / high), Math.floor((event.clientX - place.left - left) / wide)];
    if (r < 0 || c < 0 || r >= runs.length || c >= topics.length) return hideTip();
    Object.assign(at, { r, c });
    show();
    const cell = cursor.getBoundingClientRect();
    showTip({ clientX: cell.right - 8, clientY: cell.bottom - 12 }, lines());
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("blur", hideTip);
  svg.addEventListener("click", () => choose({ system: runs[at.r], topic: topics[at.c] }));
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") choose({ system: runs[at.r], topic: topics[at.c] });
    if (!move) return;
    event.preventDefault();
    at.r = Math.min(Math.max(at.r + move[0], 0), runs.length - 1);
    at.c = Math.min(Math.max(at.c + move[1], 0), topics.length - 1);
    show();
    showTipAt(cursor, lines());
  });
  box.replaceChildren(svg);
  const key = find("heat-key");
  key.replaceChildren(h("span", {}, fixed(least, 2)), ...paths.map((_, k) => h("i", { class: `swatch heat-${k}` })), h("span", {}, fixed(most, 2)));
}

function drawDifferences() {
  const box = find("differences");
  const [m, a, b] = [state.measure, state.system, state.baseline];
  const found = data.topics.map((_, t) => ({ t, x: data.scores[m][a][t] === null || data.scores[m][b][t] === null ? null : data.scores[m][a][t] - data.scores[m][b][t] }))
    .filter((one) => one.x !== null).sort((one, other) => better(m) * (other.x - one.x) || one.t - other.t);
  const lead = (one) => better(m) * one.x;
  const [up, down] = [found.filter((one) => lead(one) > 0).length, found.filter((one) => lead(one) < 0).length];
  find("differences-title").textContent = a === b ? "Differences to the baseline" : `${data.runs[a]} minus ${data.runs[b]}, ${names[m]}`;
  if (a === b) {
    box.replaceChildren(h("p", { class: "note" }, "The run looked at is the baseline itself; choose another run above."));
    return;
  }
  const [width, height, left] = [widthOf(box), 230, 46];
  const [least, most] = [Math.min(...found.map((one) => one.x), 0), Math.max(...found.map((one) => one.x), 1e-6)];
  const y = linear(least, most, height - 14, 10);
  const step = (width - left - 4) / Math.max(found.length, 1);
  const svg = drawing(width, height, `Differences of ${names[m]} by ${data.item}, sorted: ${data.runs[a]} is better than ${data.runs[b]} on ${up} ${data.item}s, worse on ${down}, equal on ${found.length - up - down}. Arrow keys move from bar to bar, Enter chooses the ${data.item}.`, { tabindex: 0, role: "application" });
  const marks = ticks(least, most, 8);
  leftAxis(svg, left, width - 2, y, marks.at, (x) => signed(x, marks.digits).replace("±", ""));
  svg.append(s("line", { x1: left, x2: width - 2, y1: y(0), y2: y(0), class: "zero" }));
  const lines = (one) => [`${data.item} ${data.topics[one.t]}`, signed(one.x), `${fixed(data.scores[m][a][one.t])} and ${fixed(data.scores[m][b][one.t])}`];
  const bars = found.map((one, k) => {
    const [from, to] = [Math.min(y(one.x), y(0)), Math.max(y(one.x), y(0))];
    return s("rect", {
      x: left + k * step + (step > 4 ? 0.8 : 0), y: from, width: Math.max(step - (step > 4 ? 1.6 : 0), 0.6), height: Math.max(to - from, 0.8),
      class: (lead(one) > 0 ? "up" : lead(one) < 0 ? "down" : "same") + (one.t === state.topic ? " chosen" : ""),
      onclick: () => choose({ topic: one.t }),
      ...withTip(() => lines(one)),
    });
  });
  svg.append(...bars);
  let on = -1;
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter" && on >= 0) choose({ topic: found[on].t });
    if (!move || !found.length) return;
    event.preventDefault();
    if (on >= 0) bars[on].classList.remove("reached");
    on = on < 0 ? 0 : Math.min(Math.max(on + move, 0), found.length - 1);
    bars[on].classList.add("reached");
    showTipAt(bars[on], lines(found[on]));
  });
  svg.addEventListener("blur", hideTip);
  box.replaceChildren(svg, h("p", { class: "note" }, `Better on ${up}, worse on ${down}, equal on ${found.length - up - down} of ${found.length} ${data.item}s.`));
}

function drawHardest() {
  const m = state.measure;
  const means = topicMeans(m);
  const few = byEase(m).filter((t) => means[t] !== null).reverse().slice(0, 10);
  const rows = few.map((t) => {
    const of = data.scores[m].map((row) => row[t]);
    const best = of.reduce((top, x, i) => (x !== null && (top < 0 || better(m) * (x - of[top]) > 0) ? i : top), -1);
    return h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "plain", onclick: () => choose({ topic: t }) }, data.topics[t])),
      h("td", { class: "number" }, fixed(means[t])), h("td", { class: "number" }, fixed(best < 0 ? null : of[best])), h("td", { class: "cut", title: data.runs[best] }, data.runs[best]),
      h("td", { class: "number" }, fixed(of[state.baseline])), data.judged ? h("td", { class: "number" }, data.judged.relevant[t]) : null);
  });
  find("hardest").replaceChildren(
    h("thead", {}, h("tr", {}, [data.item, "mean", "best", "by", "baseline", ...(data.judged ? ["relevant"] : [])].map((text, k) => h("th", { scope: "col", class: [0, 3].includes(k) ? "" : "number" }, text)))),
    h("tbody", {}, rows));
}

function drawDocuments() {
  const box = find("documents");
  const of = data.documents;
  if (of.why) { box.replaceChildren(h("p", { class: "note" }, of.why)); return; }
  const topic = of.topics[of.places.indexOf(state.topic)];
  if (!topic) { box.replaceChildren(h("p", { class: "note" }, `Documents are here for ${of.places.length} topics, those on which runs differ most; not for ${data.topics[state.topic]}.`)); return; }
  setCommand("documents-command", /--why .*$/, `--why ${quoted(data.topics[state.topic])}`);
  const [a, b] = [of.systems.indexOf(state.system), of.systems.indexOf(state.baseline)];
  const outside = [[a, state.system], [b, state.baseline]].filter(([k]) => k < 0).map(([, i]) => data.runs[i]);
  if (outside.length) { box.replaceChildren(h("p", { class: "note" }, `Documents are here for ${of.systems.length} runs; ${outside.join(" and ")} not among them (--systems shows more).`)); return; }
  const rank = (k, r) => (topic.ranks[k][r] ? String(topic.ranks[k][r]) : "–");
  // documents that neither run has say nothing of the two
  const rows = topic.docs.map((_, k) => k).filter((k) => topic.ranks[k][a] || topic.ranks[k][b]).sort((i, j) => Math.abs(topic.contributions[j][a] - topic.contributions[j][b]) - Math.abs(topic.contributions[i][a] - topic.contributions[i][b]) || i - j)
    .map((k) => h("tr", {}, h("th", { scope: "row" }, topic.docs[k]), h("td", { class: "number" }, topic.grades[k]),
      h("td", { class: "number" }, rank(k, a)), h("td", { class: "number" }, fixed(topic.contributions[k][a])),
      h("td", { class: "number" }, rank(k, b)), h("td", { class: "number" }, fixed(topic.contributions[k][b])),
      h("td", { class: "number" }, signed(topic.contributions[k][a] - topic.contributions[k][b]))));
  const head = ["document", "grade", `rank, ${data.runs[state.system]}`, "contri\u00adbution", `rank, ${data.runs[state.baseline]}`, "contri\u00adbution", "differ\u00adence"];
  box.replaceChildren(
    h("p", { class: "note" }, `${of.measure} on topic ${data.topics[state.topic]}: ${of.story}. ${topic.all > topic.docs.length ? `Of ${topic.all} documents, the ${topic.docs.length} whose contributions differ most among ${of.systems.length} runs.` : ""}`),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Documents" }, h("table", { class: "data tight docs" },
      h("thead", {}, h("tr", {}, head.map((text, k) => h("th", { scope: "col", class: k ? "number" : "" }, text)))), h("tbody", {}, rows))));
}
