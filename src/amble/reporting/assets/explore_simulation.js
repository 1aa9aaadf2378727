// Simulated users: the counter-based draws of amble.native (SplitMix64 of seed, user and step), so that the same users
// walk here and in Python, on every list. And what a worker answers.

// numbers of 64 bits as two of 32: of the last operation, the high and the low half
let high = 0;
let low = 0;
function multiply(aHigh, aLow, bHigh, bLow) {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  const p = Math.imul(a0, b0) >>> 0;
  const middle = (Math.imul(a1, b0) >>> 0) + (p >>> 16);
  const other = (Math.imul(a0, b1) >>> 0) + (middle & 0xffff);
  low = ((other << 16) | (p & 0xffff)) >>> 0;
  high = (Math.imul(a1, b1) + (middle >>> 16) + (other >>> 16) + Math.imul(aLow, bHigh) + Math.imul(aHigh, bLow)) >>> 0;
}
function add(aHigh, aLow, bHigh, bLow) {
  const sum = aLow + bLow;
  low = sum >>> 0;
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}
function fold(bits) { // x ^ x >> bits, for bits below 32
  low = (low ^ ((low >>> bits) | (high << (32 - bits)))) >>> 0;
  high = (high ^ (high >>> bits)) >>> 0;
}
function mix() {
  fold(30);
  multiply(high, low, 0xbf58476d, 0x1ce4e5b9);
  fold(27);
  multiply(high, low, 0x94d049bb, 0x133111eb);
  fold(31);
}

// the draws of a user, one after another: uniform in [0, 1)
function drawsOf(seed, number) {
  add(Math.floor(seed / 4294967296), seed >>> 0, 0x9e3779b9, 0x7f4a7c15);
  mix();
  const [seedHigh, seedLow] = [high, low];
  multiply(0, (number + 1) >>> 0, 0xd1b54a32, 0xd192ed03);
  add(seedHigh, seedLow, high, low);
  mix();
  let [keyHigh, keyLow] = [high, low];
  return () => {
    add(keyHigh, keyLow, 0x9e3779b9, 0x7f4a7c15);
    keyHigh = high;
    keyLow = low;
    mix();
    return (high * 2097152 + (low >>> 11)) / 9007199254740992;
  };
}

// the walk of one user, visit by visit: next(rank or -1) is where the user goes, -1 for a stop; `looks` are the
// probabilities of going on at each rank of one who walks down
function pathOf(user, n, number, seed, looks) {
  const draw = drawsOf(seed, number);
  draw(); // where to start: rank 1
  const steps = walksBack(user) ? walkSteps(user, n) : null;
  const path = [1];
  for (let at = 0; path.length < 100000; ) {
    const x = draw();
    if (steps) {
      const turn = steps.stop[at] === 0 ? 1 : Math.min(steps.forward[at] + steps.back[at], 1);
      if (x >= turn) break;
      at += x < steps.forward[at] ? 1 : -1;
      if (at < 0 || at >= n) break;
    } else {
      if (!(x < looks(at))) break;
      at += 1;
    }
    path.push(at + 1);
  }
  return path;
}

// the scores T/H of users `first`, `first + 1`, … who walk back and forth: of each list, those of all users
function simulatedScores(user, c, lists, seed, first, count) {
  const out = lists.map(() => new Float64Array(count));
  const gain = gainsOf(user, c);
  const worth = new Float64Array(user.loss > 0 && user.loss < 1 ? Math.min(Math.ceil(Math.log(1e-17) / Math.log(1 - user.loss)) + 1, 20000) : 2);
  for (let k = 0; k < worth.length; k++) worth[k] = (1 - user.loss) ** k;
  const together = new Map(); // lists of a length share the walk
  lists.forEach((i, place) => {
    const n = ranksOf(user, c.length[i]);
    if (!together.has(n)) together.set(n, []);
    together.get(n).push(place);
  });
  for (const [n, places] of together) {
    const { forward, back, stop } = walkSteps(user, n);
    const turn = forward.map((x, i) => (stop[i] === 0 ? 1 : Math.min(x + back[i], 1)));
    const at = Array.from({ length: n }, () => []);
    for (const place of places) {
      const i = lists[place];
      for (let j = c.offsets[i]; j < c.offsets[i + 1] && c.position[j] <= n; j++) if (gain[c.kind[j]] > 0) at[c.position[j] - 1].push(place, gain[c.kind[j]]);
    }
    const found = at.map((of) => Float64Array.from(of));
    const total = new Float64Array(lists.length);
    const [seen, mark] = [new Int32Array(n), new Int32Array(n).fill(-1)];
    for (let u = 0; u < count; u++) {
      const draw = drawsOf(seed, first + u);
      draw();
      for (const place of places) total[place] = 0;
      let [rank, visits] = [0, 0];
      for (;;) {
        visits++;
        const here = found[rank];
        if (here.length) {
          if (mark[rank] !== u) { mark[rank] = u; seen[rank] = 0; }
          const share = worth[Math.min(seen[rank]++, worth.length - 1)];
          for (let k = 0; k < here.length; k += 2) total[here[k]] += here[k + 1] * share;
        }
        const x = draw();
        if (x >= turn[rank]) break;
        rank += x < forward[rank] ? 1 : -1;
        if (rank < 0 || rank >= n) break;
      }
      for (const place of places) out[place][u] = total[place] / visits;
    }
  }
  return out;
}

// half the width of the 95 % band around the CDF of simulated users on some lists (Dvoretzky, Kiefer, Wolfowitz)
const bandOf = (users, lists) => (users ? Math.sqrt(Math.log((2 * lists) / 0.05) / (2 * users)) : 0);

// of distributions by run: CDFs at 0, 1/bins, …, 1, and how each pair stands
function compared(distributions, runs, bins, band) {
  const lines = distributions.map(({ values, probs }) => {
    const line = new Float64Array(bins + 1);
    let [sum, k] = [0, 0];
    for (let b = 0; b <= bins; b++) {
      while (k < values.length && values[k] * bins * SAME <= b) sum += probs[k++];
      line[b] = Math.min(sum, 1);
    }
    return line;
  });
  const pairs = [];
  for (let a = 0; a < runs.length; a++) for (let b = a + 1; b < runs.length; b++) pairs.push({ a: runs[a], b: runs[b], ...dominance(distributions[a], distributions[b], 1e-12 + 2 * band) });
  return { lines, pairs };
}

// ---- a worker: exact distributions of users who walk down, simulated ones of those who walk back, ever more of them
const MOST_SCORES = 1e6; // that are kept
function answer(request, c, post, later) {
  const { id, user, runs, bins, seed } = request;
  const lists = runs.map((run) => listsOf(run, c));
  const fewest = Math.max(1, Math.max(...lists.map((of) => of.length)));
  if (!walksBack(user)) {
    const found = lists.map((of) => exactDistribution(user, c, of));
    post({ id, users: 0, band: 0, done: true, ...compared(found, runs, bins, 0) });
    return;
  }
  const all = lists.flat();
  const most = Math.max(100, Math.min(request.users, Math.floor(MOST_SCORES / Math.max(all.length, 1))));
  const known = lists.map(() => []);
  let users = 0;
  const more = () => {
    if (!later.wanted(id)) return;
    const count = Math.min(Math.max(users, 100), most - users, 4000);
    const scores = simulatedScores(user, c, all, seed, users, count);
    let k = 0;
    lists.forEach((of, r) => of.forEach(() => known[r].push(scores[k++])));
    users += count;
    if (users >= most || Number.isInteger(Math.log2(users / 100)) || users % 8000 === 0) {
      const found = known.map((of) => {
        const values = new Float64Array(of.reduce((n, part) => n + part.length, 0));
        let n = 0;
        for (const part of of) { values.set(part, n); n += part.length; }
        values.sort();
        return { values, probs: new Float64Array(n).fill(1 / n) };
      });
      const band = bandOf(users, fewest);
      post({ id, users, band, done: users >= most, ...compared(found, runs, bins, band) });
    }
    if (users < most) later.soon(more);
  };
  more();
}

if (typeof document === "undefined" && typeof self !== "undefined") { // in the worker: it holds the lists, and answers the last question
  let held = null;
  let newest = -1;
  self.onmessage = ({ data: request }) => {
    if (request.lists) { held = request.lists; return; }
    newest = request.id;
    const later = { wanted: (id) => id === newest, soon: (more) => setTimeout(more, 0) };
    later.soon(() => { if (later.wanted(request.id)) answer(request, held, (found) => self.postMessage(found), later); });
  };
}
