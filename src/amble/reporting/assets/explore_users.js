"use strict";
// Users on lists, without a page: scores of orders 1 and 2, E[H], visits and stops by recursions in O(ranks), exact
// distributions of users who walk down. A worker runs this file, too. Only positive numbers are added and multiplied
// where it matters, so that all is exact to a few units in the last place.

// what a user of a kind is asked for, and how grades become gains; depth 0: the whole list
const KINDS = {
  walk: { label: "walk", parameters: ["p", "q", "loss", "first", "order", "depth"], gain: "binary" },
  RBP: { label: "RBP", parameters: ["p", "depth"], gain: "binary" },
  INSQ: { label: "INSQ", parameters: ["T", "depth"], gain: "scaled" },
  INST: { label: "INST", parameters: ["T", "depth"], gain: "scaled" },
  P: { label: "P@k", parameters: ["depth"], gain: "binary" },
  SDCG: { label: "SDCG", parameters: ["depth"], gain: "scaled" },
  ERR: { label: "ERR", parameters: ["depth"], gain: "satisfying" },
  AP: { label: "AP", parameters: ["depth"], gain: "binary" },
};
const SAME = 1 - 1e-12; // scores that differ by less are the same
const NEGLIGIBLE = 1e-18; // as in amble.users.tails
const FAR_RANKS = 1 << 14; // ranks of a heavy tail that are kept one by one
const walksBack = (user) => user.kind === "walk" && user.q > 0;
const readsOn = (user) => ["RBP", "INSQ", "INST"].includes(user.kind);
const hasOrders = (user) => user.kind !== "ERR";

// the user's measure as amble writes and reads it; what is usual is left out
function measureName(user) {
  const at = user.depth ? `@${user.depth}` : "";
  if (user.kind !== "walk") {
    const inside = { RBP: `(p=${user.p})`, INSQ: `(T=${user.T})`, INST: `(T=${user.T})` }[user.kind] || "";
    return user.kind + inside + at;
  }
  const parts = [`p=${user.p}`, `q=${user.q}`, `loss=${user.loss}`];
  if (user.order === 2) parts.push("order=2");
  if (user.first === "stop") parts.push("first='stop'");
  return `PH(${parts.join(",")})${at}`;
}

// ---- numbers

// 1 - p - q, corrected for the rounding error of p + q
function stopping(p, q) {
  const both = p + q;
  const part = both - p;
  return Math.max(1 - both - (p - (both - part) + (q - part)), 0);
}

// the sum of 1 / (x + k)^2 over k = 0, 1, 2, …
function trigamma(x) {
  let total = 0;
  for (; x < 10; x += 1) total += 1 / (x * x);
  const w = 1 / (x * x);
  const series = ((((((7 / 6) * w - 691 / 2730) * w + 5 / 66) * w - 1 / 30) * w + 1 / 42) * w - 1 / 30) * w + 1 / 6;
  return total + (1 + (0.5 + series / x) / x) / x;
}

const legendre = new Map(); // nodes on (0, 1), by their number: [z, 1 - z, weight]
function legendreNodes(count) {
  if (legendre.has(count)) return legendre.get(count);
  const z = new Float64Array(count);
  const lost = new Float64Array(count);
  const weight = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let turn = 0; turn < 100; turn++) {
      let [before, now] = [1, x];
      for (let k = 2; k <= count; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      slope = (count * (x * now - before)) / (x * x - 1);
      const step = now / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    z[i] = (1 + x) / 2;
    lost[i] = (1 - x) / 2;
    weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  legendre.set(count, [z, lost, weight]);
  return legendre.get(count);
}

// nodes z and weights with which E[T / H] is a sum of E[T; H = h] z^(h - 1), as amble.users.effort has them: those of
// Gauss and Legendre where users go on with probability `going` at most, or a trapezoidal rule for any walk
function effortNodes(mean, going, wanted = 1e-14) {
  let few = Infinity;
  if (going < 1) {
    const most = Math.max(going, 0.05);
    for (let k = 1; k < 65; k++) {
      const x = most + ((1 - most) * k) / 65;
      const a = (2 * x) / most - 1;
      const rho = a + Math.sqrt(a * a - 1);
      const size = Math.log(32 / 15) - 2 * Math.log1p(-x) - Math.log1p(-(rho ** -2));
      few = Math.min(few, (size - Math.log(wanted)) / (2 * Math.log(rho)));
    }
  }
  const share = wanted / Math.max(mean, 1);
  let step = 0;
  for (let k = 0; k < 127; k++) {
    const d = 0.3 + (1.26 * k) / 126;
    step = Math.max(step, (2 * Math.PI * d) / Math.max(Math.log(2 / share) - Math.log(Math.cos(d)), 1));
  }
  const [from, to] = [Math.floor(Math.log(share) / step), Math.ceil(Math.log(48) / step)];
  if (few <= Math.min(200, to - from)) return legendreNodes(Math.max(Math.ceil(few), 2));
  const out = [0, 1, 2].map(() => new Float64Array(to - from + 1));
  for (let k = from; k <= to; k++) {
    const x = Math.exp(k * step);
    out[0][k - from] = Math.exp(-x);
    out[1][k - from] = -Math.expm1(-x);
    out[2][k - from] = step * Math.exp(k * step - x);
  }
  return out;
}

// ---- walks back and forth

// how likely users go on, and stop, at rank 1
const atFirst = ({ p, q, first }, s) => (first === "stop" ? [p, s + q] : [p + q, s]);
function walkSteps(user, n) {
  const { p, q } = user;
  const s = stopping(p, q);
  const steps = { n, forward: new Float64Array(n).fill(p), back: new Float64Array(n).fill(q), stop: new Float64Array(n).fill(s) };
  [steps.forward[0], steps.stop[0]] = atFirst(user, s);
  steps.back[0] = 0;
  steps.stop[n - 1] += steps.forward[n - 1];
  steps.forward[n - 1] = 0;
  return steps;
}

// how many of n ranks are reached with a probability that is not negligible
function reachedRanks(user, n, least = NEGLIGIBLE) {
  const { p, q } = user;
  const s = stopping(p, q);
  let [on, stop] = atFirst(user, s);
  let [left, never, reach] = [0, 0, 1];
  for (let i = 0; i < n - 1; i++) {
    const pivot = stop + on + left;
    never = (stop + left) / pivot;
    reach *= on / pivot;
    [on, stop, left] = [p, s, q * never];
    if (reach < least) return i + 1;
  }
  return n;
}

// What a gain of 1 adds to E[T] and, if `rate`, to E[T/H] at some ranks of walks over lists of some lengths, by length:
// `needs` holds the ranks, counted from 0. Beside the ends all ranks are alike, so that what happens left of a rank
// depends on the rank alone, and right of it on how far the end is: two recursions serve all lengths.
function walkTables(user, needs, rate, wanted = 1e-14) {
  const { p, q, loss } = user;
  const kept = 1 - loss;
  const s = stopping(p, q);
  const [firstOn, firstStop] = atFirst(user, s);
  let size = 1;
  for (const n of needs.keys()) size = Math.max(size, n);
  // hit: ever coming to a rank; left: 1 - coming back to it from the left, less what goes right; ends: stops on the left;
  // right, rightEnds: never coming back from the rank after, and stops there, by the number of ranks after that
  const [hit, left, ends, right, rightEnds] = [0, 1, 2, 3, 4].map(() => new Float64Array(size));
  let reach = 0; // ranks that are reached with a weight that matters
  let far = 0; // from how many ranks on the end is as good as infinitely far
  const sides = (z, lost) => {
    let never = 0;
    let ended = 0;
    let carried = 1;
    for (reach = 0; reach < size && carried > 1e-24; reach++) {
      const on = reach ? p : firstOn;
      const zq = reach ? z * q : 0;
      const stop = reach ? s : firstStop;
      const a = stop + lost * (reach ? p + q : on) + zq * never;
      const c = stop + zq * ended;
      const pivot = 1 / (a + z * on);
      hit[reach] = carried;
      left[reach] = a;
      ends[reach] = c;
      never = a * pivot;
      ended = c * pivot;
      carried *= z * on * pivot;
    }
    let v = 1;
    let e = 1;
    for (far = 0; far < size; far++) {
      right[far] = v;
      rightEnds[far] = e;
      const a = s + lost * (p + q) + z * p * v;
      const pivot = 1 / (a + z * q);
      const before = v;
      const ended = e;
      e = z * (s + p * e) * pivot;
      v = a * pivot;
      if (Math.abs(v - before) <= 1e-17 * v && Math.abs(e - ended) <= 1e-17 * e) break;
    }
    far = Math.min(far, size - 1);
  };
  sides(1, 0);
  const out = new Map();
  let most = 0;
  for (const [n, ranks] of needs) {
    const [visits, two, one] = [0, 1, 2].map(() => new Float64Array(n));
    let depth = 0;
    for (let i = 0; i < n && i < reach; i++) {
      const away = left[i] + (i ? p : firstOn) * right[Math.min(n - 1 - i, far)];
      visits[i] = hit[i] / away;
      two[i] = hit[i] / (kept * away + loss);
      depth += visits[i];
    }
    out.set(n, { visits, one, two, depth, ranks });
    most = Math.max(most, depth);
  }
  if (!rate) return out;
  const [z, lost, weight] = effortNodes(most, p + q, wanted);
  for (let node = 0; node < z.length; node++) {
    sides(z[node], lost[node]);
    const [zp, first] = [z[node] * p, z[node] * firstOn];
    out.forEach(({ one, ranks }, n) => {
      for (let j = 0; j < ranks.length && ranks[j] < reach; j++) {
        const i = ranks[j];
        const k = Math.min(n - 1 - i, far);
        const away = left[i] + (i ? zp : first) * right[k];
        one[i] += (weight[node] * hit[i] * (ends[i] + (i ? p : firstOn) * rightEnds[k])) / (away * (kept * away + loss));
      }
    });
  }
  return out;
}

function allRanks(n) {
  const out = new Int32Array(n);
  for (let i = 0; i < n; i++) out[i] = i;
  return out;
}

// of a walk over n ranks: visits V, stops L, E[H], and what a gain of 1 at each rank adds to E[T] and, if asked, E[T/H]
function walkOver(user, n, rate = true) {
  const size = reachedRanks(user, n);
  const found = walkTables(user, new Map([[size, allRanks(size)]]), rate).get(size);
  const { stop } = walkSteps(user, size);
  return { ...found, last: found.visits.map((v, i) => v * stop[i]) };
}

// ---- users who walk down, whatever they see

// what a gain of 1 at each rank adds to E[T/H], from the stops: the sum of L(h) / h from there on
function suffixRates(last, beyond) {
  const one = new Float64Array(last.length);
  let sum = beyond;
  for (let i = last.length - 1; i >= 0; i--) { sum += last[i] / (i + 1); one[i] = sum; }
  return one;
}

// E[1/H; H > n] of users of whom `reach` get beyond n, and then stop as V(i) falls with 1 / (i + c)^2
function inverseTail(reach, n, c) {
  const at = Math.max(n + 1, 1024);
  const scale = reach * (n + 1 + c) ** 2;
  const stops = (i) => (scale * (2 * (i + c) + 1)) / ((i + c) * (i + c + 1)) ** 2;
  let sum = 0;
  for (let i = n + 1; i < at; i++) sum += stops(i) / i;
  const [z, , weight] = legendreNodes(12); // the rest in the middle of each rank, by u = 1 / rank
  const most = 1 / (at - 0.5);
  for (let k = 0; k < z.length; k++) { const u = most * z[k]; sum += (weight[k] * most * stops(1 / u) * u) / (u * u); }
  return sum;
}

// a user who does not look at the documents, over n ranks; what was computed last is kept
const downward = new Map();
function downOver(user, n) {
  const key = `${user.kind} ${user.p} ${user.T} ${n}`;
  if (!downward.has(key)) {
    if (downward.size > 300) downward.clear();
    downward.set(key, goingDown(user, n));
  }
  return downward.get(key);
}
function goingDown(user, n) {
  const visits = new Float64Array(n);
  const last = new Float64Array(n);
  let [depth, beyond] = [0, 0];
  if (user.kind === "RBP") {
    for (let i = 0, v = 1; i < n; i++, v *= user.p) { visits[i] = v; last[i] = v * (1 - user.p); }
    depth = 1 / (1 - user.p);
    for (let i = n + 1, v = user.p ** n * (1 - user.p); v > 1e-19; i++, v *= user.p) beyond += v / i;
  } else if (user.kind === "INSQ") {
    const c = 2 * user.T - 1;
    for (let i = 1; i <= n; i++) {
      visits[i - 1] = ((1 + c) / (i + c)) ** 2;
      last[i - 1] = (visits[i - 1] * (2 * (i + c) + 1)) / (i + c + 1) ** 2;
    }
    depth = (1 + c) ** 2 * trigamma(1 + c);
    beyond = inverseTail(((1 + c) / (n + 1 + c)) ** 2, n, c);
  } else { // P, SDCG, and a walk that never goes back: they end at rank n
    for (let i = 1; i <= n; i++) visits[i - 1] = user.kind === "P" ? 1 : user.kind === "SDCG" ? 1 / Math.log2(i + 1) : user.p ** (i - 1);
    for (let i = 0; i < n; i++) { last[i] = i + 1 < n ? visits[i] - visits[i + 1] : visits[i]; depth += visits[i]; }
  }
  return { visits, last, one: suffixRates(last, beyond), two: visits, depth };
}

// ---- collections of lists

// bytes of numbers, seven bits each, the last without the high bit
function unpacked(text) {
  const bytes = atob(text);
  const out = [];
  for (let i = 0, x = 0, shift = 1; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    x += (byte & 127) * shift;
    if (byte & 128) shift *= 128;
    else { out.push(x); [x, shift] = [0, 1]; }
  }
  return out;
}

// all lists, run by run and topic by topic: lengths, and ranks and kinds (grades) of the documents that may gain
function collectionOf(data) {
  const length = Int32Array.from(unpacked(data.lists.length));
  const sizes = unpacked(data.lists.hits);
  const offsets = new Int32Array(length.length + 1);
  sizes.forEach((size, i) => { offsets[i + 1] = offsets[i] + size; });
  const position = Int32Array.from(unpacked(data.lists.steps));
  for (let i = 0; i < length.length; i++) for (let j = offsets[i] + 1; j < offsets[i + 1]; j++) position[j] += position[j - 1];
  const kind = data.grades.length > 1 ? Uint16Array.from(unpacked(data.lists.kinds)) : new Uint16Array(position.length);
  return { runs: data.runs.length, topics: data.topics.length, length, offsets, position, kind,
    grades: Float64Array.from(data.grades), maxGrade: data.max_grade, relevant: Float64Array.from(data.relevant),
    absent: new Set(data.absent || []) };
}

// a collection of lists that are given by their grades, all of one topic
function collectionOfGrades(lists, relevant, maxGrade) {
  const grades = [...new Set(lists.flat().filter((g) => g > 0))].sort((a, b) => a - b);
  const hits = lists.map((list) => list.map((g, i) => [i + 1, grades.indexOf(g)]).filter(([, kind]) => kind >= 0));
  const offsets = new Int32Array(lists.length + 1);
  hits.forEach((of, i) => { offsets[i + 1] = offsets[i] + of.length; });
  return { runs: lists.length, topics: 1, length: Int32Array.from(lists.map((list) => list.length)), offsets,
    position: Int32Array.from(hits.flat().map(([rank]) => rank)), kind: Uint16Array.from(hits.flat().map(([, kind]) => kind)),
    grades: Float64Array.from(grades), maxGrade, relevant: Float64Array.of(relevant), absent: new Set() };
}

// the lists of two runs; what was asked for last is kept
function collectionOfTwo(c, runs) {
  if (!c.pairs || c.pairs.size > 100) c.pairs = new Map();
  const key = runs.join();
  if (!c.pairs.has(key)) c.pairs.set(key, collectionOfRuns(c, runs));
  return c.pairs.get(key);
}
function collectionOfRuns(c, runs) {
  const of = runs.flatMap((run) => Array.from({ length: c.topics }, (_, t) => run * c.topics + t));
  const offsets = new Int32Array(of.length + 1);
  of.forEach((i, k) => { offsets[k + 1] = offsets[k] + c.offsets[i + 1] - c.offsets[i]; });
  const [position, kind] = [new Int32Array(offsets.at(-1)), new Uint16Array(offsets.at(-1))];
  of.forEach((i, k) => {
    position.set(c.position.subarray(c.offsets[i], c.offsets[i + 1]), offsets[k]);
    kind.set(c.kind.subarray(c.offsets[i], c.offsets[i + 1]), offsets[k]);
  });
  return { ...c, runs: runs.length, length: Int32Array.from(of, (i) => c.length[i]), offsets, position, kind,
    absent: new Set([...of.keys()].filter((k) => c.absent.has(of[k]))), known: null };
}

// the gain of each kind of document
function gainsOf(user, c) {
  const how = KINDS[user.kind].gain;
  return c.grades.map((g) => (how === "binary" ? Number(g >= 1) : how === "scaled" ? (c.maxGrade > 0 ? g / c.maxGrade : 0) : 2 ** (g - c.maxGrade) - 2 ** -c.maxGrade));
}

// how many ranks a list has for a user
function ranksOf(user, n) {
  if (user.kind === "P" || user.kind === "SDCG") return user.depth || Math.max(n, 1);
  return Math.max(user.depth && !readsOn(user) ? Math.min(user.depth, n) : n, 1);
}

const isStatic = (user) => !["INST", "ERR", "AP"].includes(user.kind);
const overRanks = (user, n, rate) => (walksBack(user) ? walkOver(user, n, rate) : downOver(user, n));

// of every list: the score, and if `both` orders 1 and 2 and E[H]; unless `close`, E[T/H] of walks to 1e-10 only
function evaluate(user, c, { both = false, close = true } = {}) {
  const lists = c.length.length;
  const out = { score: new Float64Array(lists), one: null, two: null, depth: null };
  if (both) for (const key of ["one", "two", "depth"]) out[key] = new Float64Array(lists);
  const gain = gainsOf(user, c);
  const cut = user.depth || Infinity;
  if (user.kind === "INST") { instLists(user, c, gain, cut, both, out); return out; }
  if (!isStatic(user)) {
    for (let i = 0; i < lists; i++) {
      const found = onList(user, c, i, gain, cut);
      out.score[i] = found.score;
      if (both) { out.one[i] = found.one; out.two[i] = found.two; out.depth[i] = found.depth; }
    }
    return out;
  }
  const first = user.kind === "walk" && user.order !== 2;
  const { most, byLength } = lengthsOf(user, c);
  const same = walksBack(user) ? reachedRanks(user, ranksOf(user, most), close ? NEGLIGIBLE : 1e-11) : Infinity; // beyond, lengths do not matter
  const ranks = (n) => (readsOn(user) ? most : Math.min(n, same));
  let known = new Map();
  if (walksBack(user)) {
    const needs = new Map();
    for (const [n, at] of byLength) {
      if (n < same) needs.set(n, at);
      else if (!needs.has(same)) needs.set(same, allRanks(same));
    }
    known = walkTables(user, needs, first || both, close ? 1e-14 : 1e-11);
  } else for (const n of byLength.keys()) if (!known.has(ranks(n))) known.set(ranks(n), downOver(user, ranks(n)));
  for (let i = 0; i < lists; i++) {
    const { one, two, depth } = known.get(ranks(ranksOf(user, c.length[i])));
    const end = Math.min(cut, two.length);
    let rate = 0;
    let total = 0;
    if (first || both) for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= end; j++) rate += gain[c.kind[j]] * one[c.position[j] - 1];
    if (!first || both) for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= end; j++) total += gain[c.kind[j]] * two[c.position[j] - 1];
    out.score[i] = first ? rate : total / depth;
    if (both) { out.one[i] = rate; out.two[i] = total / depth; out.depth[i] = depth; }
  }
  return out;
}

// the ranks that a user may walk in the lists of a collection: the ranks of documents that may gain, by length
function lengthsOf(user, c) {
  if (!c.known) c.known = new Map();
  const key = `${user.depth} ${ranksOf(user, 1)} ${ranksOf(user, 1e9)} ${readsOn(user)}`;
  if (c.known.has(key)) return c.known.get(key);
  if (c.known.size > 100) c.known.clear();
  const sets = new Map();
  let most = 1;
  for (let i = 0; i < c.length.length; i++) {
    most = Math.max(most, c.length[i]);
    const n = ranksOf(user, c.length[i]);
    if (!sets.has(n)) sets.set(n, new Uint8Array(n));
    const at = sets.get(n);
    for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= n; j++) at[c.position[j] - 1] = 1;
  }
  const byLength = new Map([...sets].map(([n, at]) => [n, allRanks(n).filter((i) => at[i])]));
  c.known.set(key, { most, byLength });
  return c.known.get(key);
}

// x^2, 1 / x^2, and the sum of 1 / (x + k)^2 over k = 1, 2, …, of x = 2T - 1 + step / unit, for the steps to some rank
function inverseSquares(T, unit, rank) {
  const [square, inverse, beyond] = [0, 1, 2].map(() => new Float64Array((rank + 1) * unit));
  for (let step = beyond.length - 1; step >= 0; step--) {
    const x = 2 * T - 1 + step / unit;
    const next = step + unit;
    square[step] = Math.max(x, 0) ** 2;
    inverse[step] = 1 / (x * x);
    beyond[step] = next < beyond.length ? beyond[next] + inverse[next] : trigamma(x + 1);
  }
  return { square, inverse, beyond };
}
const MOST_UNITS = 12; // grades for which these are looked up

// at which step INST's user is at each document that may gain, and after it; the gain of a whole grade is a number of steps
function stepsOf(c, gain, unit, whole) {
  if (!c.known) c.known = new Map();
  if (c.known.has("steps")) return c.known.get("steps");
  const [to, after] = [0, 1].map(() => (whole ? new Int32Array(c.position.length) : new Float64Array(c.position.length)));
  for (let i = 0; i < c.length.length; i++) {
    let [rank, step] = [1, unit];
    for (let j = c.offsets[i]; j < c.offsets[i + 1]; j++) {
      to[j] = step + (c.position[j] - rank) * unit;
      after[j] = to[j] - (whole ? Math.round(gain[c.kind[j]] * unit) : gain[c.kind[j]]);
      [rank, step] = [c.position[j], after[j]];
    }
  }
  c.known.set("steps", { to, after });
  return c.known.get("steps");
}

// INST's user on all lists, from one document that gains to the next: of users who are at x = rank + shift, a share of
// x^2 / (x + k)^2 gets k ranks further; x is counted in steps
function instLists(user, c, gain, cut, both, out) {
  const whole = c.maxGrade <= MOST_UNITS && [c.maxGrade, ...c.grades].every(Number.isInteger);
  const unit = whole ? Math.max(c.maxGrade, 1) : 1;
  const { square, inverse, beyond } = inverseSquares(user.T, unit, whole ? lengthsOf(user, c).most : 1);
  const base = 2 * user.T - 1; // with gains that are no whole numbers of steps nothing is looked up
  const { to, after } = stepsOf(c, gain, unit, whole);
  const { offsets, position, kind } = c;
  for (let i = 0; i < c.length.length; i++) {
    let step = unit;
    let scale = square[unit]; // the share who get here, times x^2
    let depth = 1;
    let total = 0;
    let end = offsets[i + 1];
    while (end > offsets[i] && position[end - 1] > cut) end--;
    for (let j = offsets[i]; j < end; j++) {
      const at = to[j];
      const share = scale * (whole ? inverse[at] : (base + at) ** -2);
      depth += scale * (whole ? beyond[step] - beyond[at] : trigamma(base + step + 1) - trigamma(base + at + 1));
      total += share * gain[kind[j]];
      step = after[j];
      scale = share * (whole ? square[step] : Math.max(base + step, 0) ** 2);
    }
    depth += scale * (whole ? beyond[step] : trigamma(base + step + 1));
    out.score[i] = total / depth;
    if (both) { out.one[i] = instRate(user, c, i, gain, cut); out.two[i] = out.score[i]; out.depth[i] = depth; }
  }
}

// users who look at the documents, from one that gains to the next
function onList(user, c, i, gain, cut) {
  const n = Math.max(Math.min(cut, c.length[i]), 1);
  let v = 1;
  let seen = 0;
  let rank = 0;
  let score = 0;
  let total = 0;
  let depth = 0;
  const relevant = c.relevant[i % c.topics];
  for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= n; j++) {
    const at = c.position[j];
    const y = gain[c.kind[j]];
    if (y === 0) continue;
    depth += (at - rank) * v;
    if (user.kind === "AP") {
      total += v * y;
      seen += y;
      score += seen / at;
      v = Math.max(0, 1 - seen / relevant);
    } else {
      score += (v * y) / at;
      v *= 1 - y;
    }
    rank = at;
  }
  depth += (n - rank) * v;
  if (user.kind === "AP") {
    score = relevant > 0 ? score / relevant : 0;
    return { score, one: score, two: total / depth, depth };
  }
  return { score, one: NaN, two: NaN, depth };
}

// the sum of (1 / (i + c)^2 - 1 / (i + c + 1)^2) / i over the ranks from one to before another; where it is smooth, the
// integral over the middles of the ranks, corrected by the slopes at its ends (Euler and Maclaurin)
function inverseStops(from, to, c) {
  const term = (k) => { const x = (k + c) * (k + c + 1); return (2 * (k + c) + 1) / (x * x * k); };
  let sum = 0;
  let k = from;
  for (; k < to && (k < 128 || k + c < 128 || to - k < 24); k++) sum += term(k);
  if (k === to) return sum;
  const [low, high] = [1 / (to - 0.5), 1 / (k - 0.5)];
  const [z, , weight] = legendreNodes(10);
  for (let j = 0; j < z.length; j++) { const u = low + (high - low) * z[j]; sum += (weight[j] * (high - low) * term(1 / u)) / (u * u); }
  const slope = (t) => { const x = t + c; return term(t) * (2 / (2 * x + 1) - 2 / x - 2 / (x + 1) - 1 / t); };
  return sum - (slope(to - 0.5) - slope(k - 0.5)) / 24;
}

// E[T/H] of INST's user: between two documents that gain V(i) falls with 1 / (i + shift)^2
function instRate(user, c, i, gain, cut) {
  let [rate, seen, v, rank, shift] = [0, 0, 1, 1, 2 * user.T - 1]; // v: the share who get to this rank
  const walkTo = (to) => { // stops at the ranks before
    const scale = v * (rank + shift) ** 2;
    if (rank + shift <= 0) { if (to > rank) { rate += (v * seen) / rank; v = 0; } } // all stop here
    else {
      if (seen > 0) rate += seen * scale * inverseStops(rank, to, shift);
      v = scale / (to + shift) ** 2;
    }
    rank = to;
  };
  for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= Math.min(cut, c.length[i]); j++) {
    const y = gain[c.kind[j]];
    if (y === 0) continue;
    walkTo(c.position[j]);
    seen += y;
    shift = 2 * user.T - seen - 1;
  }
  if (seen === 0) return 0;
  const n = c.length[i];
  walkTo(n + 1);
  return rate + (v > 0 ? seen * inverseTail(v, n, shift) : 0);
}

// every value of the score on a list and the share of users who get it, for users who walk down; of those who read on
// for ever `tail` is told how many get beyond which rank, with what gain, and how they go on (or they, too, are told)
function forEachStop(user, c, i, visit, tail = null) {
  const gain = gainsOf(user, c);
  const [from, to] = [c.offsets[i], c.offsets[i + 1]];
  const cut = user.depth || Infinity;
  const n = ranksOf(user, c.length[i]);
  if (user.kind === "AP" || user.kind === "ERR") {
    let [left, seen] = [1, 0];
    const relevant = c.relevant[i % c.topics];
    for (let j = from; j < to && c.position[j] <= n; j++) {
      const y = gain[c.kind[j]];
      if (y === 0) continue;
      seen += y;
      const share = user.kind === "AP" ? 1 / relevant : left * y;
      visit(user.kind === "AP" ? seen / c.position[j] : 1 / c.position[j], share);
      left = user.kind === "AP" ? Math.max(0, 1 - seen / relevant) : left * (1 - y);
    }
    if (left > 1e-15) visit(0, left);
    return;
  }
  let [v, seen, j] = [1, 0, from];
  const over = user.kind === "INST" ? null : downOver(user, n);
  let shift = 2 * user.T - 1;
  for (let rank = 1; rank <= n; rank++) {
    if (j < to && c.position[j] === rank) {
      if (rank <= cut) seen += gain[c.kind[j]];
      j++;
    }
    let share;
    if (over) share = over.last[rank - 1];
    else {
      shift = 2 * user.T - seen - 1;
      const x = Math.max(rank + shift, 0);
      const on = (x / (x + 1)) ** 2;
      share = (v * (2 * x + 1)) / ((x + 1) * (x + 1));
      v *= on;
    }
    if (share > 0) visit(seen / rank, share);
  }
  if (!readsOn(user)) return;
  if (user.kind === "RBP") {
    const reach = user.p ** n;
    if (tail) { tail(reach, n, seen, null); return; }
    const count = user.p > 0 ? Math.ceil(Math.log(NEGLIGIBLE) / Math.log(user.p)) : 1;
    for (let k = 0, at = reach * (1 - user.p); k < count; k++, at *= user.p) visit(seen / (n + 1 + k), at);
    return;
  }
  const reach = over ? ((2 * user.T) / (n + 2 * user.T)) ** 2 : v;
  if (tail) { tail(reach, n, seen, shift); return; }
  const x = n + 1 + shift;
  let reached = reach;
  for (let k = 0; k < FAR_RANKS; k++) {
    const next = reach * (x / (x + k + 1)) ** 2;
    visit(seen / (n + 1 + k), reached - next);
    reached = next;
  }
  visit(seen / farRank(x + FAR_RANKS, shift), reached);
}

// one rank for all users who stop far beyond, where rank + shift is at least `far`: their harmonic mean
function farRank(far, shift) {
  let sum = 0;
  for (let k = 0, power = 1; k < 4096 && Math.abs(power) > 1e-20; k++, power *= (shift + 0.5) / far) sum += (power * 2) / (3 + k);
  return far / sum;
}

// ---- runs

// the mean over topics of every run, summed in the order of the topics
function runMeans(values, c) {
  const out = new Float64Array(c.runs);
  for (let r = 0; r < c.runs; r++) {
    let [sum, n] = [0, 0];
    for (let i = r * c.topics; i < (r + 1) * c.topics; i++) if (!c.absent.has(i)) { sum += values[i]; n++; }
    out[r] = n ? sum / n : 0;
  }
  return out;
}

const listsOf = (run, c) => Array.from({ length: c.topics }, (_, t) => run * c.topics + t).filter((i) => !c.absent.has(i));

// the share of users with at most x, for x = 0, 1/bins, …, 1, of a run under a user who walks down: exact at each x
function cdfOnGrid(user, c, run, bins) {
  const mass = new Float64Array(bins + 1);
  const lists = listsOf(run, c);
  for (const i of lists) {
    forEachStop(user, c, i, (value, share) => { mass[Math.ceil(value * bins * SAME)] += share; }, (reach, n, seen, shift) => {
      if (seen === 0 || reach < 1e-17) { mass[0] += reach; return; }
      let below = 0; // users who read so far that their score is at most k / bins
      const far = shift === null ? Infinity : farRank(n + 1 + shift + FAR_RANKS, shift);
      for (let k = 1; k <= bins; k++) {
        let rank = Math.max(Math.ceil(((seen * bins) / k) * SAME), n + 1);
        if (rank > n + FAR_RANKS) rank = seen * bins * SAME <= k * far ? n + 1 + FAR_RANKS : Infinity;
        const share = shift === null ? reach * user.p ** (rank - n - 1) : reach * ((n + 1 + shift) / (rank + shift)) ** 2;
        mass[k] += share - below;
        below = share;
        if (rank === n + 1) break;
      }
    });
  }
  let sum = 0;
  for (let k = 0; k <= bins; k++) { sum += mass[k] / lists.length; mass[k] = Math.min(sum, 1); }
  return mass;
}

// values in rising order with their probabilities, of a run under a user who walks down: exact
function exactDistribution(user, c, lists) {
  const values = [];
  const shares = [];
  for (const i of lists) forEachStop(user, c, i, (value, share) => { values.push(value); shares.push(share / lists.length); });
  const order = Uint32Array.from(values.keys());
  const at = Float64Array.from(values);
  order.sort((a, b) => at[a] - at[b]);
  const out = { values: [], probs: [] };
  let total = 0;
  for (const k of order) {
    total += shares[k];
    if (out.values.length && at[k] === out.values.at(-1)) out.probs[out.probs.length - 1] += shares[k];
    else { out.values.push(at[k]); out.probs.push(shares[k]); }
  }
  return { values: Float64Array.from(out.values), probs: Float64Array.from(out.probs, (x) => x / total) };
}

// first-order stochastic dominance of two distributions: the verdict on the first, where the lines cross, and the
// largest differences either way; differences up to `most` do not count, nor those of values by 1e-12 of their size
function dominance(a, b, most = 1e-12) {
  let [i, j, f, g, above, below, lead] = [0, 0, 0, 0, 0, 0, 0];
  const crossings = [];
  while (i < a.values.length || j < b.values.length) {
    const x = Math.min(i < a.values.length ? a.values[i] : Infinity, j < b.values.length ? b.values[j] : Infinity);
    const near = x + 1e-12 * Math.abs(x);
    while (i < a.values.length && a.values[i] <= near) f += a.probs[i++];
    while (j < b.values.length && b.values[j] <= near) g += b.probs[j++];
    above = Math.max(above, f - g);
    below = Math.max(below, g - f);
    const sign = f - g > most ? 1 : g - f > most ? -1 : 0;
    if (sign && lead && sign !== lead) crossings.push(x);
    if (sign) lead = sign;
  }
  const verdict = above > most && below > most ? "incomparable" : above > most ? "less" : below > most ? "greater" : "equal";
  return { verdict, crossings, above, below };
}

// Kendall's tau-b of two rankings; numbers that differ by 1e-12 of their size are tied
function kendall(x, y) {
  let [agree, alone, other] = [0, 0, 0];
  const sign = (a, b) => (Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : a > b ? 1 : -1);
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const s = sign(x[i], x[j]);
      const t = sign(y[i], y[j]);
      agree += s * t;
      alone += s * s;
      other += t * t;
    }
  }
  return alone && other ? agree / Math.sqrt(alone * other) : NaN;
}
