// The kinematic prediction: what all keys together ask for is a number that fluctuates, and a memory has d² of them.
// needs: explorer/tables.js explorer/capacity.js

(function (scope) {
  "use strict";
  const { capacity, theory, widgets } = scope, { article, curve, percent, say, whole } = widgets;
  const REACH = 5; // standard deviations that are drawn

  // Mean and standard deviation of what n keys ask for, and the probability that d² numbers are enough.
  function kinematic(n, d) {
    const [mean, variance] = capacity.pooled(n, 1), asked = n * mean, spread = Math.sqrt(n * variance);
    return { asked, spread, probability: theory.ndtr((d * d - asked) / spread) };
  }

  scope.transition = { kinematic };

  widgets.widget("transition", {
    settings: {
      n: { label: "pairs n", value: 100, low: 20, high: 1e6, log: true, integer: true },
      d: { label: "dimension d", value: 22, low: 2, high: 6000, log: true, integer: true },
    },
    presets: [
      { name: "two dimensions less", values: { d: 20 } },
      { name: "a thousand pairs", values: { n: 1000, d: 90 } },
      { name: "a million", values: { n: 1e6, d: 4427 } },
    ],
    explorer: ({ n, d }) => ["explore_capacity", { n, d, r: 0 }],
    build(place) {
      const chart = place.chart({ title: "What all keys ask for, and what there is", xLabel: "free numbers", yLabel: "density (scaled)", height: 200 });
      return ({ n, d }) => {
        const { asked, spread, probability } = kinematic(n, d), have = d * d, theorem = Math.sqrt(2 * n * Math.log(n));
        Object.assign(place.host.dataset, { asked, spread, probability });
        const law = curve((z) => Math.exp((-z * z) / 2), -REACH, REACH).map(([z, y]) => [asked + z * spread, y]);
        const paid = law.filter(([x]) => x <= have), last = paid.length - 1, share = last > 0 ? [[paid[0][0], 0], ...paid, [paid[last][0], 0]] : [];
        const from = Math.min(law[0][0], (d - 1.3) ** 2), to = Math.max(law[law.length - 1][0], (d + 1.3) ** 2);
        const words = `All ${whole(n)} keys together ask for ${say(asked)} ± ${say(spread, 2)} numbers. ` +
          `${article(d)} ${whole(d)} × ${whole(d)} matrix has ${whole(have)}.`;
        chart.draw({
          x: [from, to], y: [0, 1.08],
          marks: [
            ...(share.length ? [{ area: share, class: "am-any-memory", name: "share of instances for which d² is enough" }] : []),
            { line: law, class: "am-any-memory", name: "asked for, n E M on average" },
            { down: have, class: "am-here", name: "d² (dotted: with one dimension less, and one more)" },
            { down: (d - 1) ** 2, class: "am-limit am-dotted" }, { down: (d + 1) ** 2, class: "am-limit am-dotted" },
          ],
          text: words,
        });
        const chance = d < n
          ? `The probability that some memory retrieves all pairs is ${percent(probability)}.`
          : "With so many dimensions any scores can be had.";
        place.say(`${words} ${chance} One half is at d = ${say(Math.sqrt(asked))}; the theorem's d² = 2 n log n would be d = ${say(theorem)}.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
