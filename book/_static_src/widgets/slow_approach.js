// How slowly the ratio at which outer products succeed approaches 8: the exact law of one column where there is a
// table of it, the Gaussian picture as far as a hundred digits, and its first terms.
// needs: explorer/tables.js explorer/capacity.js explorer/gaussian_picture.js

(function (scope) {
  "use strict";
  const { gaussianPicture: picture, capacity, theory, widgets } = scope, { say, percent } = widgets;
  const EXACT = 12, MOST = 100, POINTS = 30;

  // The ratio at which a share of all memories of n pairs succeeds, by the exact law of one column; n up to 1e12.
  function exactRatio(n, share) {
    const miss = (c) => Math.log(n) + capacity.outerFailure(n, Math.sqrt(c * n * Math.log(n))) - Math.log(Math.log(1 / share));
    return theory.root(miss, 0.5, 50);
  }

  scope.slow_approach = { exactRatio };

  widgets.widget("slow_approach", {
    settings: {
      digits: { label: "log₁₀ n", value: 6, low: 2, high: MOST, log: true },
      share: { label: "share of memories that succeed", value: 0.5, low: 0.01, high: 0.99 },
    },
    presets: [
      { name: "a thousand pairs", values: { digits: 3 } },
      { name: "10¹² pairs", values: { digits: 12 } },
      { name: "10¹⁰⁰ pairs", values: { digits: 100 } },
    ],
    explorer: ({ digits, share }) => {
      const n = Math.round(10 ** Math.min(digits, 11)); // the explorer's dimensions end at ten million
      return ["explore_capacity", { n, d: Math.round(Math.sqrt(exactRatio(n, share) * n * Math.log(n))), r: 0 }];
    },
    build(place) {
      const chart = (title) => place.chart({ title, xLabel: "number of pairs n", yLabel: "ratio d²/(n log n)", xLog: true, height: 270 });
      const near = chart("Sizes that exist"), far = chart("And as far as ten to the hundredth");
      const stretchOf = (end, count) => Array.from({ length: count + 1 }, (_, i) => 2 * (end / 2) ** (i / count));
      const logOf = (digits) => digits * Math.log(10);
      let drawn = {};
      const curves = (share) => {
        if (drawn.share === share) return drawn;
        const line = (f, end) => stretchOf(end, POINTS).map((x) => [10 ** x, f(x)]);
        drawn = {
          share,
          exact: line((x) => exactRatio(10 ** x, share), EXACT),
          gauss: line((x) => picture.ratioAt(logOf(x), share), MOST),
          terms: line((x) => picture.expansion(logOf(x), share), MOST),
        };
        return drawn;
      };
      return ({ digits, share }) => {
        const { exact, gauss, terms } = curves(share), n = 10 ** digits, logN = logOf(digits), known = digits <= EXACT;
        const [ratio, first] = [picture.ratioAt(logN, share), picture.expansion(logN, share)], law = known ? exactRatio(n, share) : ratio;
        const stretch = picture.ratioAt(logN, 0.95) - picture.ratioAt(logN, 0.05);
        Object.assign(place.host.dataset, { exact: known ? law : "", picture: ratio, expansion: first });
        const marks = [
          { across: 8, class: "am-limit", name: "the limit 8" },
          { line: terms, class: "am-dotted", name: "first terms" },
          { line: gauss, class: "am-dashed", name: "Gaussian picture" },
          { line: exact, class: "am-outer-products", name: "exact law, up to 10¹²" },
          { dots: [[n, law]], class: "am-outer-products", big: true },
        ];
        const within = (end) => [exact, gauss, terms].flat().filter(([x]) => x <= end).map(([, y]) => y);
        const range = (end, top) => [Math.floor(Math.min(5, ...within(end))), top || Math.ceil(Math.max(8.5, ...within(end)))];
        const text = `At n = ${say(n, 3)} the ratio is ${say(law, 3)}; the limit is 8.`;
        near.draw({
          x: [1e2, 1e12], y: range(1e12), marks: known ? marks : marks.slice(0, -1),
          text: known ? text : `The point of n = ${say(n, 3)} lies beyond this chart.`,
        });
        far.draw({ x: [1e2, 1e100], y: range(1e100, 9), marks, text });
        const gap = Math.abs(8 - law);
        place.say(`Of all memories of n = ${say(n, 3)} pairs, ${percent(share)} succeed at the ratio ${say(law, 4)}, ` +
          `which is ${say(gap, 2)} ${law < 8 ? "below" : "above"} the limit 8, by ` +
          (known ? `the exact law of one column. The Gaussian picture says ${say(ratio, 4)}, and its first terms say ${say(first, 4)}. `
            : `the Gaussian picture. Its first terms say ${say(first, 4)}. The exact law is computed up to 10¹², where the first chart ends. `) +
          `Success turns from 5% to 95% over a stretch of ${say(stretch, 2)}, in the picture.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
