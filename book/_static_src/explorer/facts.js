// How many facts fit: n keys in d_in dimensions, each with one of m targets in d_out dimensions as its answer.
// One calculation for all of them, with the moments that pairs use as well (capacity.js), and Cover's count.

(function (scope) {
  "use strict";
  const { theory, tables } = scope;
  const { pooled, lagrange } = scope.capacity;

  const LISTS = 0.08; // share of the facts that instances were seen to lack with k > 1, at most
  const UNEVEN = 0.2; // share up to which the cost of unequally frequent answers, an expansion, is believed
  const FEW = 10; // dimensions below which all this is a guess
  const MANY = 1e6; // facts from which Cover's count is a normal law

  const free = (d_in, d_out, m) => d_in * Math.min(d_out, m - 1);

  // Probability that n sums of comparisons leave a space of this dimension a solution.
  function leaves(n, dimension, [mean, variance, third]) {
    const z = (dimension - n * mean) / Math.sqrt(n * variance), skewness = third / variance ** 1.5 / Math.sqrt(n);
    return theory.ndtr(z - (skewness / 6) * (Math.min(z * z, 9) - 1));
  }

  // Probability that some matrix retrieves n facts. Keys that are independent can have any scores.
  function retrieval({ n, d_in, d_out, m, k }) {
    if (n <= d_in && d_out >= m - 1) return 1;
    return leaves(n, free(d_in, d_out, m), pooled(m, k));
  }

  const half = ({ d_in, d_out, m, k }) => free(d_in, d_out, m) / pooled(m, k)[0];

  // The number of facts that fit with a probability p, which falls as facts are added.
  function factsAt(p, about) {
    const dimension = free(about.d_in, about.d_out, about.m), moments = pooled(about.m, about.k), middle = Math.log(half(about));
    let low = middle - 8, high = middle + 8;
    for (let i = 0; i < 60; i++) {
      const log = 0.5 * (low + high);
      if (leaves(Math.exp(log), dimension, moments) > p) low = log;
      else high = log;
    }
    return Math.exp(low);
  }

  // log Gamma(x) for x >= 1, by Stirling's series.
  function logGamma(x) {
    if (x < 10) return logGamma(x + 1) - Math.log(x);
    const y = 1 / (x * x);
    return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x;
  }

  // Cover's count: the share of all ways to say yes or no to n keys in general position that are linear,
  // which is the probability of fewer than d_in heads among n - 1 coins.
  function cover(n, d_in) {
    const coins = n - 1, most = d_in - 1;
    if (most >= coins) return 1;
    if (n > MANY) return theory.ndtr((2 * most + 1 - coins) / Math.sqrt(coins));
    if (2 * most >= coins) return 1 - cover(n, n - d_in);
    if (most < 0) return 0;
    let term = Math.exp(logGamma(n) - logGamma(most + 1) - logGamma(n - most) - coins * Math.log(2)), sum = term;
    for (let j = most; j > 0 && term > 1e-18 * sum; j--) sum += term *= j / (n - j);
    return sum;
  }

  // Share of the targets that come first for some key: those that are not hidden inside the hull of the others.
  const inSight = (d_out, m) => (d_out >= m - 1 ? 1 : leaves(1, d_out, pooled(m, 1)));

  // By how many facts instances fall short of theory at most, as far as is known. Up to m = d_out + 1 that is
  // what answers cost that are drawn at random, c(m) (m - 1) facts, as some are given more often than others;
  // it was seen a little beyond as well. With more targets the long ones are strong competitors of all keys.
  function missing({ d_in, d_out, m, k }) {
    if (m === 2) return 0;
    const fit = half({ d_in, d_out, m, k }), corner = d_out + 1, logs = tables.facts.m.map(Math.log);
    if (k > 1) return LISTS * fit;
    const at = (name, size) => lagrange(logs, tables.facts[name], Math.log(size), 4);
    const free = Math.min(m, corner), share = m > corner ? at("lengths", m) / d_out : 0;
    const uneven = free > 2 && m <= 2 * corner ? Math.min(at("uneven", free) * (free - 1), UNEVEN * fit) : 0;
    return Math.max(uneven, (fit * share) / (1 + share));
  }

  // Everything the page says about n facts.
  function facts(asked) {
    const { n, d_in, d_out, m } = asked, k = Math.min(asked.k, m - 1), about = { n, d_in, d_out, m, k };
    const [mean, variance] = pooled(m, k), fit = half(about), lost = missing(about);
    const seen = k === 1 ? inSight(d_out, m) : 1, kinematic = retrieval(about);
    const exact = m === 2 ? cover(n, d_in) : NaN;
    const surely = seen ** Math.min(n, m); // no answer is hidden
    const least = n <= d_in && d_out >= m - 1 ? 1 : leaves(n + lost, free(d_in, d_out, m), pooled(m, k));
    return {
      k, mean, variance, half: fit, halves: [fit - lost, fit], spread: Math.sqrt((fit * variance) / mean ** 2),
      ends: [factsAt(0.9, about), factsAt(0.1, about)], dimension: free(d_in, d_out, m), parameters: d_in * d_out,
      bits: (Math.log2(m) * fit) / (d_in * d_out), free: Math.log2(m) / mean, asked: (Math.log2(m) * n) / (d_in * d_out),
      kinematic, chances: m === 2 ? [exact, exact] : [Math.min(least, surely), Math.min(kinematic, surely)],
      cover: exact, seen, lost, guess: m > 2 && (d_in < FEW || (d_out < FEW && d_out < m - 1)) && !(n <= d_in && d_out >= m - 1),
    };
  }

  scope.facts = { retrieval, half, factsAt, cover, inSight, missing, facts };

  // --- the page --------------------------------------------------------------------------------------------

  const host = typeof document === "undefined" ? null : document.getElementById("facts-explorer");
  if (!host) return;
  const { element, say, whole, article, percent, between, curve } = scope.widgets;

  // Which of the two the page shows: the address has of=facts where it is facts.
  const panels = { pairs: document.getElementById("capacity-explorer"), facts: host };
  const words = { pairs: "pairs: each key has a target of its own", facts: "facts: each key has one of m targets as its answer" };
  function asks({ hash, search }) {
    const names = new URLSearchParams(hash.includes("=") ? hash.slice(1) : search);
    if (names.has("of")) return names.get("of") === "facts" ? "facts" : "pairs";
    return ["n", "d", "r"].every((name) => !names.has(name)) && [...names.keys()].some((name) => name.startsWith("facts.")) ? "facts" : "pairs";
  }
  const inputs = Object.keys(panels).map((name) => element("input", { type: "radio", name: "capacity-of", id: `set-of-${name}`, value: name }));
  function choose(name) {
    const link = new URL(location.href);
    if (name === "facts") link.searchParams.set("of", name);
    else link.searchParams.delete("of");
    if (link.href !== location.href) history.replaceState(history.state, "", link);
    for (const input of inputs) input.checked = input.value === name;
    for (const [key, panel] of Object.entries(panels)) panel.hidden = key !== name;
  }
  for (const input of inputs) input.addEventListener("change", () => choose(input.value));
  const labels = inputs.map((input) => element("label", {}, input, ` ${words[input.value]}`));
  panels.pairs.before(element("fieldset", { class: "am-choices am-explorer" }, element("legend", {}, "What is stored"), ...labels));
  choose(asks(location)); // before the settings move what stands after "#"
  window.addEventListener("hashchange", ({ newURL }) => new URL(newURL).hash.includes("=") && choose(asks(new URL(newURL))));

  const controls = scope.widgets.settings(host, {
    n: { label: "facts n", value: 1000, low: 1, high: 1e12, log: true, integer: true },
    m: { label: "targets to choose from, m", value: 1000, low: 2, high: 1e12, log: true, integer: true },
    d_in: { label: "dimension of keys d_in", value: 100, low: 1, high: 1e7, log: true, integer: true },
    d_out: { label: "dimension of targets d_out", value: 100, low: 1, high: 1e7, log: true, integer: true },
    k: { label: "competitors to beat on average, k (1: first place)", value: 1, low: 1, high: 1e12, log: true, integer: true },
  }, scope.widgets.soon(update), [
    { name: "yes or no: Cover's count", values: { n: 200, m: 2 } },
    { name: "as many targets as the cusp has", values: { n: 2000, m: 101 } },
    { name: "50 257 words in 768 dimensions", values: { n: 40000, m: 50257, d_in: 768, d_out: 768 } },
    { name: "100 pairs in 21 dimensions", values: { n: 100, m: 100, d_in: 21, d_out: 21 } },
  ], { prefix: "facts", label: "Settings for facts" });
  const answer = element("p", { class: "am-answer", role: "status" });
  const charts = element("div", { class: "am-charts" });
  host.append(answer, charts);
  const chances = scope.widgets.chart(charts, { id: "facts-chances", title: "Probability that all facts are retrieved", xLabel: "facts n", yLabel: "probability", height: 300 });
  const sizes = scope.widgets.chart(charts, { id: "facts-sizes", title: "Facts that fit, by number of targets", xLabel: "targets m", yLabel: "facts", xLog: true, height: 300 });
  const table = scope.widgets.readings(host, "In numbers");

  const many = (x) => (x < 1e6 ? whole(Math.round(x)) : say(x, 4));
  const range = ([from, to]) => (many(from) === many(to) ? many(to) : `${many(from)} to ${many(to)}`);

  function drawChances(about, found) {
    const { n, d_in, d_out, m } = about, { k, lost } = found;
    const places = [n, ...found.ends, found.halves[0]];
    const x = [Math.max(1, 0.8 * Math.min(...places)), 1.2 * Math.max(...places, 2)];
    const moments = pooled(m, k), dimension = free(d_in, d_out, m);
    const across = (f) => curve(f, ...x, 300), sure = (y) => y <= d_in && d_out >= m - 1;
    const marks = [];
    if (lost > 0) {
      const lower = across((y) => (sure(y) ? 1 : leaves(y + lost, dimension, moments)));
      marks.push({ area: [...across((y) => retrieval({ ...about, n: y, k })), ...lower.reverse()], class: "am-any-memory", name: "where instances are, as far as is known" });
    }
    marks.push({ line: across((y) => retrieval({ ...about, n: y, k })), class: "am-any-memory am-dashed", name: "theory, for independent score directions" });
    if (m === 2) marks.push({ line: across((y) => cover(Math.round(y), d_in)), class: "am-any-memory", name: "Cover's count, which is exact" });
    marks.push({ down: n, class: "am-here", name: "the number asked for" });
    chances.draw({ x, y: [0, 1.02], marks, text: answer.textContent });
  }

  function drawSizes(about, found) {
    const { n, d_in, d_out, m } = about, { k } = found;
    const least = k + 1, most = Math.min(1e12, Math.max(1000, 10 * m, 10 * d_out)), x = [Math.min(least, most / 10), most];
    const inside = (size) => size >= least && size <= most;
    const some = curve((y) => y, Math.log(least), Math.log(most), 160).map(([log]) => Math.round(Math.exp(log)));
    const ms = [...new Set([least, ...some.filter(inside), ...[d_out + 1].filter(inside)])].sort((a, b) => a - b);
    const at = ms.map((size) => [size, half({ d_in, d_out, m: size, k })]);
    const top = Math.max(...at.map(([, y]) => y));
    const marks = [{ line: at, class: "am-any-memory am-dashed", name: "half of the instances, by theory" }];
    if (inside(d_out + 1)) marks.push({ down: d_out + 1, class: "am-limit am-dotted", name: "m = d_out + 1, the cusp" });
    if (n < 1.3 * top) marks.push({ across: n, class: "am-here", name: "the facts asked for" });
    marks.push({ dots: [[m, found.half]], class: "am-here", big: true, name: "the number of targets asked for" });
    const text = `With ${whole(m)} targets ${many(found.half)} facts fit half of the time; the most, ${many(top)}, fit at ${many(at.find(([, y]) => y === top)[0])} targets.`;
    sizes.draw({ x, y: [0, 1.1 * top], marks, text });
  }

  function update() {
    const about = { ...controls.values }, { n, m, d_in, d_out } = about, found = facts(about), { k } = found;
    const [low, high] = found.chances, first = k === 1, place = first ? "first" : `above the average of its ${whole(k)} best competitors`;
    const sure = low > 0.99 ? "almost certainly can" : high < 0.01 ? "almost certainly cannot" : `can, with a probability of ${between(low, high)},`;
    const keys = n === 1 ? "answer to one key" : `answers to ${whole(n)} keys`;
    const hidden = first ? m * (1 - found.seen) : 0, remarks = [];
    if (about.k > k) remarks.push(`There are only ${whole(k)} competitors, so k is ${whole(k)}.`);
    if (hidden > 0.5) remarks.push(`In so few dimensions about ${many(hidden)} of the targets are hidden by the others and first for no key: only facts with other answers fit.`);
    if (found.guess) remarks.push("(In so few dimensions all this is a guess.)");
    else if (found.lost > 0.01 * found.half) remarks.push(`Instances hold up to about ${say((100 * found.lost) / found.half, 1)}% fewer.`);
    answer.textContent = [
      `${article(d_out)} ${whole(d_out)} × ${whole(d_in)} matrix ${sure} put the ${keys} ${place} among ${whole(m)} targets.`,
      `${m === 2 ? "" : "By theory "}${many(found.half)} ${many(found.half) === "1" ? "fact fits" : "facts fit"} half of the time.`, ...remarks,
    ].join(" ");
    host.dataset.verdict = low > 0.99 ? "yes" : high < 0.01 ? "no" : "open";
    drawChances(about, found);
    drawSizes(about, found);

    const rows = [
      ["Facts that fit half of the time, independent score directions", many(found.half), found.half],
      ["Facts that fit in 90% and in 10% of all instances, independent score directions", range(found.ends), found.ends[0]],
      ["Spread of the largest number that fits", `± ${say(found.spread, 3)}`, found.spread],
      ["Probability at n, independent score directions", percent(found.kinematic), found.kinematic],
    ];
    if (m === 2) rows.push(["Probability at n by Cover's count, exactly", percent(found.cover), found.cover], ["Cover's count: n = 2 d_in", whole(2 * d_in), 2 * d_in]);
    else {
      rows.push(["Facts that fit half of the time, with what is known to be missing", range(found.halves), found.halves[0]]);
      rows.push(["Probability at n, with what is known to be missing", between(low, high), low]);
    }
    rows.push(["Degrees of freedom d_in · min(d_out, m − 1)", many(found.dimension), found.dimension]);
    rows.push(["Degrees of freedom that a fact takes, δ(m, k)", say(found.mean, 6), found.mean]);
    if (first) {
      rows.push(["Bits in a parameter when half of the instances fit, log₂ m · n / (d_in d_out)", say(found.bits, 4), found.bits]);
      if (m - 1 < d_out) rows.push(["The same in a degree of freedom, log₂ m / δ(m, 1)", say(found.free, 4), found.free]);
      rows.push(["Bits in a parameter with n facts", say(found.asked, 4), found.asked]);
      if (d_out < m - 1) rows.push(["Targets that are first for some key", found.seen > 0.9995 ? "nearly all" : percent(found.seen), found.seen]);
    }
    rows.push(["Targets less one, over the dimensions of targets (cusp: 1)", say((m - 1) / d_out, 4), (m - 1) / d_out]);
    table(rows);
  }

  update();
})((globalThis.assocmem = globalThis.assocmem || {}));
