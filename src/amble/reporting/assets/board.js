// The leaderboard: one row per run, sortable, filtered, against the chosen baseline.

const sorting = { key: "mean", up: false };
const CARDS = 10; // shown at first where runs are cards, as on a phone
const asCards = () => window.matchMedia("(max-width: 860px)").matches && !document.body.classList.contains("on-paper");
const [BAR, TICKS] = [168, 5]; // pixels of an interval, and about how many marks its axis has

function verdictOf(measure, run) {
  const board = data.leaderboard;
  return board.verdicts.length ? board.verdicts[measure][state.baseline][run] : "0";
}

function verdictMark(sign) {
  if (sign === "0") return h("span", { class: "mark" }); // as wide, so that numbers stand below one another
  const good = sign === "+";
  return h("span", { class: good ? "mark better" : "mark worse" },
    h("span", { "aria-hidden": "true" }, good ? "▲" : "▼"),
    h("span", { class: "aloud" }, good ? " significantly better" : " significantly worse"));
}

// the columns: what stands in the head, what is sorted by, what is shown
function columns() {
  const board = data.leaderboard;
  const m = state.measure;
  const tested = board.verdicts.length > 0;
  const half = board.half[m];
  const out = [
    { key: "run", label: "run", words: true, of: (i) => data.runs[i] },
    { key: "mean", label: names[m], about: `${data.measures[m].of} over ${data.item}s${better(m) < 0 ? "; less is better" : ""}`, measured: m, of: (i) => board.means[m][i] },
    { key: "half", label: "±", about: `half the ${Number((100 * (1 - board.alpha)).toFixed(6))} % confidence interval (Student's t)`, of: (i) => board.half[m][i] },
    { key: "bar", label: half.some((x) => x !== null) ? "confidence interval" : "mean", still: true },
  ];
  if (tested) {
    out.push({ key: "letters", label: "letters", about: "no significant difference found between runs that share a letter", words: true, of: (i) => board.letters[m][i] });
    out.push({ key: "difference", label: "Δ baseline", about: "difference to the baseline", measured: m, of: (i) => difference(m, i, state.baseline) });
    out.push({ key: "p", label: "p", about: "of the difference to the baseline, corrected", of: (i) => board.adjusted[m][state.baseline][i] });
  }
  out.push({ key: "residual", label: "residual", about: "how much unjudged documents could add", of: (i) => board.residual[m][i] });
  names.forEach((name, j) => {
    if (j !== m) out.push({ key: "also" + j, label: name, measure: j, measured: j, of: (i) => board.means[j][i] });
  });
  return out;
}

function cellOf(column, i, scale) {
  const m = state.measure;
  const value = column.of ? column.of(i) : null;
  // a card has no head of columns: what a value is stands before it
  const cell = (kind, ...children) => h("td", { class: kind, role: "cell", "data-label": column.label, title: column.words ? value : null }, children);
  switch (column.key) {
    case "run":
      return h("th", { scope: "row", role: "rowheader" }, h("div", { class: "run-name" }, h("button", {
        type: "button", class: "plain", title: `${data.runs[i]}: look at this run`, onclick: () => choose({ system: i }),
      }, data.runs[i]), i === state.baseline ? h("span", { class: "badge" }, "baseline") : null));
    case "bar":
      return cell("bar", asCards() ? barAxis(scale) : null, bar(i, scale));
    case "letters":
      return cell("letters", value);
    case "difference":
      return cell("number", signed(value), " ", verdictMark(verdictOf(m, i)));
    case "p":
      return cell("number", i === state.baseline ? "–" : probability(value));
    case "residual":
      return cell("number", value === null ? "–" : (data.measures[m].bound ? "" : "~") + fixed(value));
    default:
      if (column.measure === undefined) return cell("number", fixed(value));
      return cell("number other", fixed(value), " ", verdictMark(verdictOf(column.measure, i)));
  }
}

// the axis of the intervals, in the head of their column
function barAxis(scale) {
  const of = s("svg", { width: BAR, height: 16, viewBox: `0 0 ${BAR} 16`, "aria-hidden": "true", class: "axis" });
  const marks = ticks(scale.from, scale.to, TICKS);
  for (const tick of marks.at) {
    of.append(s("line", { x1: scale(tick), x2: scale(tick), y1: 12, y2: 16 }));
    of.append(s("text", { x: Math.min(Math.max(scale(tick), 12), BAR - 12), y: 10, "text-anchor": "middle" }, tick.toFixed(marks.digits)));
  }
  return of;
}

function bar(i, scale) {
  const board = data.leaderboard;
  const [x, half] = [board.means[state.measure][i], board.half[state.measure][i]];
  const of = s("svg", { width: BAR, height: 16, viewBox: `0 0 ${BAR} 16`, "aria-hidden": "true" });
  of.append(s("path", { d: scale.grid, class: "grid" }));
  const base = board.means[state.measure][state.baseline];
  if (base !== null) of.append(s("line", { x1: scale(base), x2: scale(base), y1: 0, y2: 16, class: "base" }));
  if (x !== null && half !== null) of.append(s("line", { x1: scale(x - half), x2: scale(x + half), y1: 8, y2: 8, class: "interval" }));
  if (x !== null) of.append(s("circle", { cx: scale(x), cy: 8, r: 3.2, class: "dot" }));
  return of;
}

function drawBoard() {
  const board = data.leaderboard;
  const m = state.measure;
  const ends = board.means[m].flatMap((x, i) => (x === null ? [] : [x - (board.half[m][i] || 0), x + (board.half[m][i] || 0)]));
  const [least, most] = ends.length ? extent([ends], Infinity, -Infinity) : [0, 1];
  const scale = linear(least, most > least ? most : least + 1e-4, 6, BAR - 6); // the range of the data, which its axis shows
  scale.grid = ticks(scale.from, scale.to, TICKS).at.map((tick) => `M${scale(tick).toFixed(1)} 0V16`).join("");
  const shown = columns();
  const by = shown.find((c) => c.key === sorting.key) || shown[1];
  const wanted = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = ranked(m).filter((i) => wanted.every((word) => data.runs[i].toLowerCase().includes(word)));
  const place = new Map(ranked(m).map((i, k) => [i, k + 1]));
  // the best first, and then the other way round
  const sign = by.measured === undefined ? 1 : better(by.measured);
  const key = (i) => { const x = by.of(i); return x === null ? -Infinity : sign * x; };
  const rising = sorting.up === sign > 0;
  kept.sort((a, b) => {
    const order = by.words ? String(by.of(a)).localeCompare(String(by.of(b))) : key(a) - key(b);
    return (sorting.up ? order : -order) || place.get(a) - place.get(b);
  });
  options(find("sort"), shown.filter((c) => !c.still).map((c) => [c.key, c.label]), by.key);
  const head = h("tr", { role: "row" }, h("th", { scope: "col", class: "number rank" }, "#"), shown.map((c) => {
    if (c.still) return h("th", { scope: "col", class: "bar" }, c.label, barAxis(scale));
    const active = c.key === by.key;
    return h("th", { scope: "col", class: (c.words ? "" : "number") + (c.measure === undefined ? "" : " other"), "aria-sort": active ? (rising ? "ascending" : "descending") : null },
      h("button", { type: "button", class: "sort", "data-key": c.key, title: c.about || null, onclick: () => {
        sorting.up = active ? !sorting.up : Boolean(c.words);
        sorting.key = c.key;
        keeping(drawBoard);
      } }, c.label, h("span", { "aria-hidden": "true", class: "arrow" }, active ? (rising ? "▲" : "▼") : "")));
  }));
  const few = asCards() && !state.everyRun ? kept.slice(0, CARDS) : kept;
  const rows = few.map((i) => h("tr", { role: "row", class: i === state.baseline ? "is-baseline" : i === state.system ? "is-system" : null },
    h("td", { class: "number rank", role: "cell" }, place.get(i)), shown.map((c) => cellOf(c, i, scale))));
  const caption = h("caption", { class: "aloud" }, `Leaderboard by ${names[m]}, against ${data.runs[state.baseline]}`);
  const body = h("tbody", { role: "rowgroup" });
  find("board").replaceChildren(caption, h("thead", { role: "rowgroup" }, head), body);
  fitMeasures(shown, head, body, rows, few);
  body.replaceChildren(...rows);
  find("every-run").hidden = few.length === kept.length;
  find("every-run").textContent = `Show all ${kept.length} runs`;
  find("count").textContent = (kept.length === data.runs.length ? "" : `${kept.length} of `) + `${data.runs.length} run${data.runs.length === 1 ? "" : "s"}`;
  drawBoardNotes();
}

// columns of other measures that the window has no room for are left out until they are asked for
function fitMeasures(shown, head, body, rows, runs) {
  const [box, button] = [find("board").parentElement, find("every-measure")];
  let kept = head.cells.length;
  if (!asCards() && !state.everyMeasure && !document.body.classList.contains("on-paper")) {
    // numbers are equally wide: the longest names and letters tell how wide the table is
    const long = (text) => [...rows.keys()].sort((a, b) => text(runs[b]).length - text(runs[a]).length).slice(0, 4);
    const letters = data.leaderboard.letters[state.measure] || [];
    const few = new Set([...long((i) => data.runs[i]), ...long((i) => letters[i] || ""), runs.indexOf(state.baseline)].filter((k) => k >= 0));
    body.replaceChildren(...[...few].map((k) => rows[k]));
    const right = box.getBoundingClientRect().left + box.clientWidth + 1;
    kept = [...head.cells].filter((cell) => !cell.classList.contains("other") || cell.getBoundingClientRect().right <= right).length;
  }
  for (const row of [head, ...rows]) while (row.cells.length > kept) row.lastElementChild.remove();
  const out = shown.slice(kept - 1);
  button.hidden = !out.length;
  button.textContent = out.length === 1 ? `Show ${out[0].label}, too` : `Show ${out.length} more measures`;
  button.title = out.map((c) => c.label).join(", ");
}

// signs stay with their numbers
const unbroken = (text) => text.replace(/ ([±=<≤≥]) /g, "\u00a0$1\u00a0").replace(/ %/g, "\u00a0%");

function drawFinding() {
  find("finding").replaceChildren(...data.findings[state.measure].map((text) => h("p", {}, unbroken(text))));
}

function drawBoardNotes() {
  const board = data.leaderboard;
  const m = state.measure;
  const notes = board.verdicts.length
    ? [`Letters: ${board.captions[m]}.`,
       `Δ, p and ▲▼: each run against ${data.runs[state.baseline]} by the same test, ${board.correction} over the ${data.runs.length - 1} comparisons; ▲▼ where p ≤ ${board.alpha}.`]
    : [`Not tested: ${board.untested}.`];
  if (board.differences.length && data.measures[m].of === "sum") notes.push(`Δ is a mean over ${data.item}s, though the column before it is a sum.`);
  if (board.differences.length && data.measures[m].of === "geometric") notes.push("Δ is one of logarithms, as the mean is geometric.");
  if (board.limits[m]) notes.push(`There are too few ${board.limits[m]} to find any difference.`);
  if (board.residual[m].some((x) => x !== null)) {
    notes.push(data.measures[m].bound
      ? "Residual: the mean would rise by at most this much if every unjudged document gained the most."
      : better(m) < 0 ? "Residual (~): what the mean would fall by if every unjudged document gained the most; no bound for this measure."
      : "Residual (~): what the mean would rise by if every unjudged document gained the most; no bound for this measure, as it divides by what is relevant.");
  }
  find("board-notes").replaceChildren(...notes.map((text) => h("p", {}, unbroken(text))));
}
