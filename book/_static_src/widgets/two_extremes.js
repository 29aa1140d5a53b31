// Unlucky signals and lucky competitors: which pairs of a dip and a rise occur, and which of them fail.
// needs: explorer/gaussian_picture.js

(function (scope) {
  "use strict";
  const { gaussianPicture: picture, widgets } = scope, { say, curve } = widgets;
  const ROOT = Math.SQRT2, X = [-1.6, 2.4], Y = [0, 3.4];

  // Where pairs occur as n grows: the upper half of the disc x^2 + y^2 <= 4, cut off at |x| = sqrt 2.
  const REGION = [[-ROOT, 0], ...curve((x) => Math.sqrt(4 - x * x), -ROOT, ROOT, 80), [ROOT, 0]];

  // The part of the region with x + y >= level.
  function beyond(level) {
    const over = ([x, y]) => x + y - level, points = [];
    REGION.forEach((p, i) => {
      const q = REGION[(i + 1) % REGION.length], a = over(p), b = over(q);
      if (a >= 0) points.push(p);
      if (a * b < 0) points.push([p[0] + ((q[0] - p[0]) * a) / (a - b), p[1] + ((q[1] - p[1]) * a) / (a - b)]);
    });
    return points;
  }

  // Power of n in the number of failing keys, as n grows: leading_power of assocmem.theory.failing_counts.
  const power = (c) => (c <= 2 ? 1 : c < 8 ? 1 - (Math.sqrt(c) - ROOT) ** 2 / 2 : 2 - c / 4);

  // Numbers of keys for a unit of dip around x, all of them and those that fail, as powers of n.
  function powers(x, logN, c) {
    const unit = logN + 0.5 * Math.log(logN), z = -x * Math.sqrt(logN);
    const all = unit - 0.5 * z * z - 0.5 * Math.log(2 * Math.PI);
    return [all / logN, (unit + picture.logFailureDensity(z, z + Math.sqrt(c * logN), logN)) / logN];
  }

  scope.two_extremes = { beyond, power, powers };

  widgets.widget("two_extremes", {
    settings: {
      ratio: { label: "ratio d²/(n log n)", value: 5, low: 1, high: 12 },
      digits: { label: "log₁₀ n", value: 6, low: 2, high: 100, log: true },
    },
    presets: [
      { name: "c = 2, 10¹⁰⁰ pairs", values: { ratio: 2, digits: 100 } },
      { name: "c = 8, 10¹⁰⁰ pairs", values: { ratio: 8, digits: 100 } },
      { name: "c = 8, a thousand pairs", values: { ratio: 8, digits: 3 } },
    ],
    explorer: ({ ratio, digits }) => {
      const n = Math.round(10 ** Math.min(digits, 11)); // the explorer's dimensions end at ten million
      return ["explore_capacity", { n, d: Math.round(Math.sqrt(ratio * n * Math.log(n))), r: 0 }];
    },
    build(place) {
      const plane = place.chart({ title: "Dip of a signal, rise of a competitor", xLabel: "dip x", yLabel: "rise y", height: 300 });
      const numbers = place.chart({ title: "Keys by their dip, and failures", xLabel: "dip x", yLabel: "keys per unit of dip, power of n", height: 300 });
      return ({ ratio, digits }) => {
        const logN = digits * Math.log(10), level = Math.sqrt(ratio), rise = picture.rise(logN), failing = picture.logOuterFailures(logN, ratio);
        const all = curve((x) => powers(x, logN, ratio)[0], ...X), failed = curve((x) => powers(x, logN, ratio)[1], ...X);
        const [most, height] = failed.reduce((a, b) => (b[1] > a[1] ? b : a)), theta = power(ratio);
        Object.assign(place.host.dataset, { failing, rise, power: theta });
        const part = beyond(level), n = say(10 ** digits, 3);
        plane.draw({
          x: X, y: Y,
          marks: [
            { area: REGION, class: "am-limit", name: "pairs that occur as n → ∞" },
            ...(part.length > 2 ? [{ area: part, class: "am-signal", name: "those that fail" }] : []),
            { line: [[X[0], level - X[0]], [X[1], level - X[1]]], class: "am-outer-products", name: "x + y = √c" },
            // where less than one key is expected to fail, there are none to show
            ...(failing > 0 ? [{ dots: [[most, level - most]], class: "am-signal", name: "most of the failing keys" }] : []),
            { dots: [[0, rise], [rise, rise]] },
            { label: [0, rise + 0.13, "typical key"] }, { label: [rise, rise + 0.13, "worst key"] },
          ],
          text: `The line of ratio ${say(ratio)} ${part.length > 2 ? "cuts" : "leaves"} the region of pairs that occur. ` +
            `The typical key is at dip 0 and rise ${say(rise, 3)}, the worst at dip and rise ${say(rise, 3)}.`,
        });
        numbers.draw({
          x: X, y: [-1, 1.15],
          marks: [
            { line: all, class: "am-limit", name: "keys per unit of dip" },
            { area: [[X[0], -2], ...failed, [X[1], -2]], class: "am-signal" }, { line: failed, class: "am-signal", name: "those that fail" },
            { across: 0, class: "am-dashed", name: "one key per unit" },
          ],
          text: `The curve of failing keys per unit of dip is highest at dip ${say(most, 2)}, where it is n to the power ${say(height, 2)}.`,
        });
        const passes = (sum) => (sum < level ? "passes" : "fails"), count = say(Math.exp(failing), 3);
        place.say(`Among n = ${n} keys an ordinary best competitor rises by ${say(rise, 3)}, and the lowest signal dips as far. ` +
          `The line is at √c = ${say(level, 3)}: the typical key ${passes(rise)}, and the worst key, at ${say(2 * rise, 3)}, ${passes(2 * rise)}. ` +
          `In the Gaussian picture ${count} ${count === "1" ? "key is" : "keys are"} expected to fail. ` +
          (ratio === 2 ? "As n → ∞ the typical key comes to lie on the line, and half of the keys fail."
            : theta === 1 ? "As n → ∞ nearly every key fails."
            : Math.abs(theta) < 1e-9 ? "This ratio is the limit: as n → ∞ the number is no power of n."
            : `As n → ∞ that number ${theta > 0 ? "grows" : "falls"} like n to the power ${say(theta, 2)}, up to logarithms.`));
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
