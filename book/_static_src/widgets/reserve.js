// How much to reserve: sparse repair in the Gaussian picture, along the share of the coordinates that is reserved.
// needs: explorer/gaussian_picture.js

(function (scope) {
  "use strict";
  const { gaussianPicture: picture, widgets } = scope, { say, percent } = widgets;
  const SHARES = [0.005, 0.95], POINTS = 36, FLOOR = 1e-4, PIECE = 15;

  // The share with the fewest expected failures near the lowest of a curve, [log share, log failures]; the three
  // points around it are refined by golden section.
  function lowest(points, f) {
    const at = points.reduce((best, p, i) => (p[1] < points[best][1] ? i : best), 0);
    let [a, b] = [points[Math.max(at - 1, 0)][0], points[Math.min(at + 1, points.length - 1)][0]];
    if (!Number.isFinite(points[at][1])) return points[at]; // nothing fails over a stretch of shares
    const golden = (Math.sqrt(5) - 1) / 2;
    let [x, y] = [b - golden * (b - a), a + golden * (b - a)], [fx, fy] = [f(x), f(y)];
    for (let i = 0; i < 7; i++) {
      if (fx < fy) {
        [b, y, fy, x] = [y, x, fx, y - golden * (y - a)];
        fx = f(x);
      } else {
        [a, x, fx, y] = [x, y, fy, x + golden * (b - x)];
        fy = f(y);
      }
    }
    return fx < fy ? [x, fx] : [y, fy];
  }

  // An expected number in words, of its logarithm.
  const expected = (log) => (log < Math.log(FLOOR) ? `less than ${say(FLOOR)}` : say(Math.exp(log), log < Math.log(9.95) ? 2 : 3));

  scope.reserve = { lowest };

  widgets.widget("reserve", {
    settings: {
      share: { label: "share reserved, d₁/d", value: 0.14, low: SHARES[0], high: SHARES[1], log: true },
      gamma: { label: "margin γ", value: 0.1, low: 0.01, high: 0.49 },
      ratio: { label: "ratio d²/(n log n)", value: 9, low: 1, high: 60, log: true },
      digits: { label: "log₁₀ n", value: 3, low: 2, high: 100, log: true },
    },
    presets: [
      { name: "the proof's share", values: { share: 0.785 } },
      { name: "a million pairs", values: { digits: 6, ratio: 5.5, gamma: 0.036, share: 0.065 } },
      { name: "10³⁰ pairs", values: { digits: 30, ratio: 3.8, gamma: 0.018, share: 0.032 } },
    ],
    explorer: ({ ratio, digits }) => {
      const n = Math.round(10 ** Math.min(digits, 10)); // the explorer's dimensions end at ten million
      return ["explore_capacity", { n, d: Math.min(1e7, Math.round(Math.sqrt(ratio * n * Math.log(n)))), r: 0 }];
    },
    build(place) {
      const chart = (title, yLabel) => place.chart({ title, xLabel: "share reserved", yLabel, xLog: true, yLog: true, height: 270 });
      const failures = chart("Keys that are not retrieved", "expected number"), losses = chart("The two losses", "share; multiple of γ");
      const along = (points) => Array.from({ length: points + 1 }, (_, i) => Math.log(SHARES[0]) + (i / points) * Math.log(SHARES[1] / SHARES[0]));
      const places = along(POINTS), dense = along(100).map(Math.exp); // the losses take no time
      const kept = new Map();
      let waiting = null, before = [], whole = null;
      const first = new Promise((done) => (whole = done));

      // The curve over all shares takes a while and is computed in pieces.
      function grow({ gamma, ratio, digits }, piece) {
        const key = [gamma, ratio, digits].join(), logN = digits * Math.log(10), start = performance.now();
        if (!kept.has(key)) kept.set(key, { points: [], best: null });
        const curve = kept.get(key), f = (x) => picture.repair(logN, ratio, Math.exp(x), gamma, 2).logFailures;
        while (!curve.best && performance.now() - start < piece) {
          const x = places[curve.points.length];
          if (x === undefined) curve.best = lowest(curve.points, f);
          else curve.points.push([x, f(x)]);
        }
        return curve;
      }

      return function show(values) {
        clearTimeout(waiting);
        const { gamma, ratio, digits } = values, logN = digits * Math.log(10), n = 10 ** digits;
        const { points, best } = grow(values, 0), paper = picture.paperShare(logN);
        const share = values.share.toPrecision(3) === paper.toPrecision(3) ? paper : values.share; // in three digits it is set
        const later = () => (waiting = setTimeout(() => (grow(values, PIECE).best ? show(values) : later()), 0));
        if (best) (whole(), (before = points)); // until then the curve before is shown, pale
        else later();
        const here = picture.repair(logN, ratio, share, gamma), proof = picture.repair(logN, ratio, paper, gamma, 2);
        const plain = picture.logPlain(logN, ratio), few = (best ? points : []).filter(([, y]) => y < Math.log(FLOOR)).map(([x]) => say(Math.exp(x), 2));
        const over = (noise) => (Math.sqrt(2 * logN) * noise) / gamma, number = (log) => Math.exp(Math.max(log, Math.log(FLOOR) - 9));
        const { logFailures, deficient, noise } = here, better = best && best[1] < plain;
        Object.assign(place.host.dataset, { failures: logFailures, deficient, noise, plain });
        Object.assign(place.host.dataset, { best: best ? Math.exp(best[0]) : "", curve: best ? "done" : "under way" });
        const downs = [
          ...(best && few.length < 2 ? [{ down: Math.exp(best[0]), class: "am-any-memory am-dashed", name: "best share" }] : []),
          { down: paper, class: "am-limit am-dotted", name: "share in the proof, (log n)^(−1/8)" },
        ];
        failures.draw({
          x: SHARES, y: [FLOOR, 2 * n],
          marks: [
            { line: before.map(([x, y]) => [Math.exp(x), number(y)]), class: `am-signal ${best ? "" : "am-pale"}`, name: "after the repair" },
            { across: number(plain), class: "am-outer-products am-dashed", name: "without any repair" }, ...downs,
            { dots: [[share, Math.max(FLOOR, number(logFailures))]], class: "am-signal", big: true, name: "at the share set" },
          ],
          text: `At the share ${say(share, 3)} it is ${expected(logFailures)}, without any repair ${expected(plain)}.`,
        });
        const parts = dense.map((x) => [x, picture.repair(logN, ratio, x, gamma, 0)]);
        losses.draw({
          x: SHARES, y: [10 * FLOOR, 10],
          marks: [
            { line: parts.map(([x, p]) => [x, Math.max(p.deficient, FLOOR / 10)]), class: "am-competitor", name: "deficient keys, as a share" },
            { line: parts.map(([x, p]) => [x, Math.max(over(p.noise), FLOOR / 10)]), class: "am-tail-average", name: "largest noise over γ" },
            { across: 1, class: "am-dashed", name: "noise as large as γ" }, { down: share, class: "am-signal", name: "share set" }, ...downs,
          ],
          text: `At the share ${say(share, 3)}, ${percent(deficient)} of the keys are deficient, and the largest noise is ${say(over(noise), 2)} times γ.`,
        });
        place.say(`Of n = ${say(n, 3)} keys, ${percent(deficient)} are deficient, and the largest noise is ${say(over(noise), 2)} times γ. ` +
          `The expected number of keys that fail is ${expected(logFailures)}; without any repair it is ${expected(plain)}. ` +
          (few.length > 1 ? `For this γ next to none fail at shares from ${few[0]} to ${few[few.length - 1]}. `
            : best ? `For this γ the best share is ${say(Math.exp(best[0]), 2)}; there the number is ${expected(best[1])}` +
              `${better ? "" : ", so here it is better not to repair"}. ` : "") +
          `The share in the proof, ${say(paper, 3)}, leaves the base the ratio ${say(ratio * (1 - paper) ** 2, 3)}, ` +
          `and the number is ${expected(proof.logFailures)}.`);
        return first;
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
