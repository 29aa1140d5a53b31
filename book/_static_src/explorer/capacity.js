// How many pairs fit: what the theorems, the finite-size law, certified instances and explicit memories say.
// Numbers beyond closed forms are interpolated in tables that the Python package made (tables.js).

(function (scope) {
  "use strict";
  const { theory, tables } = scope;

  // --- interpolation ---------------------------------------------------------------------------------------

  // The polynomial through the `order` points nearest to x, of which xs is ascending.
  function lagrange(xs, ys, x, order) {
    let start = 0;
    while (start + order < xs.length && xs[start + order / 2] < x) start++;
    let total = 0;
    for (let i = start; i < Math.min(start + order, xs.length); i++) {
      let weight = 1;
      for (let j = start; j < Math.min(start + order, xs.length); j++) if (j !== i) weight *= (x - xs[j]) / (xs[i] - xs[j]);
      total += weight * ys[i];
    }
    return total;
  }

  function linear(xs, ys, x) {
    let i = 1;
    while (i < xs.length - 1 && xs[i] < x) i++;
    const t = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    return ys[i - 1] + Math.min(1, Math.max(0, t)) * (ys[i] - ys[i - 1]);
  }

  // A row of the table as it is interpolated along k: what the mean lacks, variance over mean, skewness.
  function prepared(row) {
    if (!row.prepared) {
      const m = row.n - 1, places = row.k.map((j) => Math.log(j) / Math.log(m));
      const lack = row.mean.map((mean, i) => row.k[i] * (1 - mean * theory.criticalLoad(row.k[i] / m)));
      const skew = row.third.map((third, i) => third / row.variance[i] ** 1.5);
      row.prepared = { places, columns: [lack, row.variance.map((v, i) => v / row.mean[i]), skew] };
    }
    return row.prepared;
  }

  // Mean, variance and third moment of the number M of competitors that are pooled with a signal.
  // For k > 1 relative to the limit 1 / alpha_c(k / (n - 1)), along k on a logarithmic scale from 1 to n - 1.
  function pooled(n, k) {
    const { rows } = tables.pooled;
    const exact = rows.find((row) => row.n === n), index = exact ? exact.k.indexOf(k) : -1;
    if (index >= 0) return ["mean", "variance", "third"].map((name) => exact[name][index]);
    if (k === n - 1) return [0.5, 0.25, 0];
    const logs = rows.map((row) => Math.log(row.n));
    if (k === 1) return ["mean", "variance", "third"].map((name) => lagrange(logs, rows.map((row) => row[name][0]), Math.log(n), 6));
    const place = Math.log(k) / Math.log(n - 1);
    const at = (row) => {
      const { places, columns } = prepared(row);
      return columns.map((values) => linear(places, values, place));
    };
    let i = rows.findIndex((row) => row.n >= n);
    i = Math.min(Math.max(i, 1), rows.length - 1);
    const t = (Math.log(n) - logs[i - 1]) / (logs[i] - logs[i - 1]);
    const before = at(rows[i - 1]), after = at(rows[i]);
    const [lack, ratio, skewness] = before.map((x, j) => x + t * (after[j] - x));
    const mean = (1 - lack / k) / theory.criticalLoad(k / (n - 1)), variance = ratio * mean;
    return [mean, variance, skewness * variance ** 1.5];
  }

  // Probability that some memory satisfies n pairs in dimension d, the transition moved by `shift` in d^2/n.
  function retrieval(n, d, k, shift = 0) {
    if (d >= n) return 1; // any matrix of scores can be had
    const [mean, variance, third] = pooled(n, k);
    const z = (d * d - n * (mean + shift)) / Math.sqrt(n * variance), skewness = third / variance ** 1.5 / Math.sqrt(n);
    return theory.ndtr(z - (skewness / 6) * (Math.min(z * z, 9) - 1));
  }

  // Logarithm of the probability that the sum of outer products does not retrieve one given key.
  function outerFailure(n, d) {
    const { n: sizes, ratio, log_failure } = tables.outer_products;
    const root = d / Math.sqrt(n * Math.log(n)), roots = ratio.map(Math.sqrt);
    const clamped = Math.min(Math.max(root, roots[0]), roots[roots.length - 1]);
    const logs = sizes.map(Math.log), along = log_failure.map((row) => lagrange(roots, row, clamped, 4));
    return Math.min(0, lagrange(logs, along, Math.log(n), 4));
  }

  // The dimension at which the sum of outer products loses no key half of the time.
  const outerHalf = (n) => Math.exp(theory.root((log) => Math.log(n) + outerFailure(n, Math.exp(log)) - Math.log(Math.log(2)), Math.log(n) / 2 - 1, Math.log(60 * n * Math.log(n)) / 2));

  // How far below the kinematic value half of the certified instances are solvable, in d^2/n, from and to.
  function shifts(n, k) {
    const { sizes, shift, error, largest_share } = tables.certified_shift;
    if (k > 1 || n < sizes[0] || n > sizes[sizes.length - 1]) return [-largest_share * pooled(n, k)[0], 0];
    const logs = sizes.map(Math.log), middle = linear(logs, shift, Math.log(n)), spread = 2 * linear(logs, error, Math.log(n));
    return [middle - spread, middle + spread];
  }

  // Everything the page says about n pairs in dimension d with tails of k.
  function capacity(n, d, k) {
    const [mean] = pooled(n, k), [from, to] = shifts(n, k);
    const failure = k === 1 ? outerFailure(n, d) : NaN;
    return {
      load: n / d ** 2, ratio: d ** 2 / (n * Math.log(n)), r: k / (n - 1), critical: theory.criticalLoad(k / (n - 1)),
      mean, half: Math.sqrt(n * mean), halves: [from, to].map((shift) => Math.sqrt(n * (mean + shift))),
      kinematic: retrieval(n, d, k), chances: [retrieval(n, d, k, to), retrieval(n, d, k, from)],
      conjecture: Math.sqrt(n * Math.max(0, 2 * Math.log(n) - 3 * Math.log(Math.log(n)))),
      failing: n * Math.exp(failure),
    };
  }

  // The number of pairs at which half of the instances in dimension d are solvable (k = 1 or a fraction r).
  function pairsThatFit(d, tail) {
    const surplus = (logN) => {
      const n = Math.max(20, Math.round(Math.exp(logN))), k = tail(n);
      return d * d - n * (pooled(n, k)[0] + shifts(n, k).reduce((a, b) => a + b) / 2);
    };
    let low = Math.log(20), high = Math.log(1e12);
    if (surplus(low) < 0 || surplus(high) > 0) return NaN;
    for (let i = 0; i < 50; i++) {
      const middle = 0.5 * (low + high);
      if (surplus(middle) > 0) low = middle;
      else high = middle;
    }
    return Math.floor(Math.exp(low) * (1 + 1e-9));
  }

  scope.capacity = { lagrange, pooled, retrieval, outerFailure, outerHalf, shifts, capacity, pairsThatFit };

  // --- the page --------------------------------------------------------------------------------------------

  const host = typeof document === "undefined" ? null : document.getElementById("capacity-explorer");
  if (!host) return;
  const { element, say, whole, article, percent, between, curve } = scope.widgets;

  const controls = scope.widgets.settings(host, {
    n: { label: "pairs n", value: 100, low: 20, high: 1e12, log: true, integer: true },
    d: { label: "dimension d", value: 24, low: 2, high: 1e7, log: true, integer: true },
    r: { label: "tail fraction r (0: first place)", value: 0, low: 0, high: 1 },
  }, scope.widgets.soon(update), [
    { name: "100 pairs, where about half of the instances fit", values: { n: 100, d: 21, r: 0 } },
    { name: "a million pairs at the limit 2", values: { n: 1e6, d: 5257, r: 0 } },
    { name: "the same at the limit 8", values: { n: 1e6, d: 10513, r: 0 } },
    { name: "the paper's Figure 3", values: { n: 100800, d: 600, r: 0.15 } },
  ]);
  const answer = element("p", { class: "am-answer", role: "status" });
  const charts = element("div", { class: "am-charts" }), wide = element("div", { class: "am-wide" });
  host.append(answer, charts);
  charts.append(wide);
  const chart = scope.widgets.chart(wide, { id: "capacity-chart", title: "Probability that all pairs are retrieved", xLabel: "dimension d", yLabel: "probability", height: 300 });
  const table = scope.widgets.readings(host, "In numbers");

  const tailOf = (r) => (n) => Math.max(1, Math.min(n - 1, Math.ceil(r * (n - 1) - 1e-9)));

  function nearest(n, k, r) {
    const same = tables.certified.filter((row) => (k === 1 ? row.r === 0 : row.r === r));
    return same.sort((a, b) => Math.abs(Math.log(a.n / n)) - Math.abs(Math.log(b.n / n)))[0];
  }

  function update() {
    const { n, d, r } = controls.values, k = tailOf(r)(n), top1 = k === 1;
    const found = scope.capacity.capacity(n, d, k);
    const [low, high] = found.chances, word = top1 ? "first" : `above the average of its ${whole(k)} best competitors`;
    const sure = low > 0.99 ? "almost certainly can" : high < 0.01 ? "almost certainly cannot" : `can, with a probability of ${between(low, high)},`;
    answer.textContent = `${article(d)} ${whole(d)} × ${whole(d)} matrix ${sure} put each of ${whole(n)} targets ${word}. ` +
      `Half of all instances would need d ≈ ${say(found.halves[0])}${say(found.halves[0]) === say(found.halves[1]) ? "" : ` to ${say(found.halves[1])}`}.` + (d < 10 && d < n ? " (In so few dimensions all this is a guess.)" : "");
    host.dataset.verdict = low > 0.99 ? "yes" : high < 0.01 ? "no" : "open";

    // the chart: a stretch of dimensions that has all transitions and the one asked for
    const { memories } = tables, digits = Math.log10(n);
    const needs = Object.entries(memories.ratio).map(([name, ratios]) => [name, digits < memories.digits[0] ? NaN : Math.sqrt(lagrange(memories.digits, ratios, digits, 4) * n * Math.log(n))]);
    needs.unshift(["sum of outer products", outerHalf(n)]);
    const places = [d, found.half, top1 ? Math.sqrt(9 * n * Math.log(n)) : found.half].filter(Number.isFinite);
    const x = [Math.max(1, 0.7 * Math.min(...places)), 1.4 * Math.max(...places)];
    const across = (f) => curve(f, ...x, 300);
    const [from, to] = scope.capacity.shifts(n, k);
    const marks = [
      { area: [...across((y) => scope.capacity.retrieval(n, y, k, to)), ...across((y) => scope.capacity.retrieval(n, y, k, from)).reverse()], class: "am-any-memory", name: "some memory, as certified instances have it" },
      { line: across((y) => scope.capacity.retrieval(n, y, k)), class: "am-any-memory am-dashed", name: "some memory, for independent score directions" },
    ];
    if (top1) {
      marks.push({ line: across((y) => Math.exp(-n * Math.exp(scope.capacity.outerFailure(n, y)))), class: "am-outer-products", name: "sum of outer products" });
      marks.push({ down: Math.sqrt(2 * n * Math.log(n)), class: "am-any-memory am-dotted", name: "d² = 2 n log n, and 8 n log n" }, { down: Math.sqrt(8 * n * Math.log(n)), class: "am-outer-products am-dotted" });
    } else {
      marks.push({ down: Math.sqrt(n / found.critical), class: "am-any-memory am-dotted", name: "d² = n / α_c(r)" });
    }
    const counts = nearest(n, k, r);
    if (counts && counts.n === n) marks.push({ dots: counts.d.map((y, i) => [y, counts.share[i], counts.low[i], counts.high[i]]), class: "am-any-memory", name: "certified shares, with 95% intervals" });
    marks.push({ down: d, class: "am-here", name: "the dimension asked for" });
    chart.draw({ x, y: [0, 1.02], marks, text: answer.textContent });

    const rows = [
      ["load n/d²", say(found.load, 6), found.load],
      ["competitors to beat on average, k", whole(k), k],
    ];
    if (top1) {
      rows.push(["d² / (n log n)", say(found.ratio, 6), found.ratio]);
      rows.push(["Theorem 1, for n → ∞", found.ratio > 2 ? `above 2: some memory works${found.ratio > 8 ? "; above 8: outer products do" : ""}` : low > 0.01 ? "below 2: no memory works once n is large enough, which it is not yet here" : "below 2: no memory works", found.ratio > 2 ? "above" : "below"]);
      rows.push(["Conjecture 1: d from n (2 log n − 3 log log n)", say(found.conjecture, 6), found.conjecture]);
    } else {
      rows.push(["critical load α_c(k/(n−1))", say(found.critical, 6), found.critical]);
      rows.push(["Theorem of the critical load, for n → ∞", found.load < found.critical ? "below: the loss can vanish" : "above: the loss stays positive", found.load < found.critical ? "below" : "above"]);
    }
    rows.push(["Dimension for half of the instances, independent score directions", say(found.half, 6), found.half]);
    rows.push(["Dimension for half of the instances, with the measured shift", `${say(found.halves[0], 5)} to ${say(found.halves[1], 5)}`, found.halves[0]]);
    rows.push(["Probability at d, independent score directions", percent(found.kinematic), found.kinematic]);
    rows.push(["Probability at d, with the measured shift", between(low, high), low]);
    if (counts) {
      const i = counts.d.indexOf(d), words = counts.n === n && i >= 0 ? `${counts.yes[i]} of ${counts.decided[i]} instances retrievable, each proved` : `nearest: n = ${counts.n}, half at d = ${say(counts.half, 4)} ± ${say(counts.error, 2)}`;
      rows.push([`Certified instances${top1 ? "" : ` (r = ${r})`}`, words, counts.n === n && i >= 0 ? counts.yes[i] : counts.half]);
    }
    if (top1) {
      rows.push(["Sum of outer products: keys lost, on average", say(found.failing, 3), found.failing]);
      rows.push(["Sum of outer products: probability that none is", percent(Math.exp(-found.failing)), Math.exp(-found.failing)]);
      for (const [name, needed] of needs) if (Number.isFinite(needed)) rows.push([`Dimension for half of the instances, ${name}`, say(needed, 4), needed]);
    }
    const fit = scope.capacity.pairsThatFit(d, tailOf(r));
    if (Number.isFinite(fit)) rows.push([`Pairs that fit into d = ${whole(d)} half of the time`, `about ${fit < 1e6 ? whole(fit) : say(fit, 3)}`, fit]);
    table(rows);
  }

  update();
})((globalThis.assocmem = globalThis.assocmem || {}));
