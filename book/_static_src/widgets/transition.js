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

  // A number and its standard deviation, which is told in two digits.
  function within(x, spread) {
    const unit = 10 ** (Math.floor(Math.log10(spread)) - 1), told = (value) => (unit < 1 ? value.toFixed(1) : whole(Math.round(value / unit) * unit));
    return `${told(x)} ± ${told(spread)}`;
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
      const title = "What all keys ask for, and what there is", xLabel = "free numbers, less the n E M asked for on average";
      const chart = place.chart({ title, xLabel, yLabel: "density (scaled)", height: 200 });
      return ({ n, d }) => {
        const { asked, spread, probability } = kinematic(n, d), have = d * d, theorem = Math.sqrt(2 * n * Math.log(n));
        Object.assign(place.host.dataset, { asked, spread, probability });
        const law = curve((z) => Math.exp((-z * z) / 2), -REACH, REACH).map(([z, y]) => [z * spread, y]);
        const paid = law.filter(([x]) => asked + x <= have), last = paid.length - 1, share = last > 0 ? [[paid[0][0], 0], ...paid, [paid[last][0], 0]] : [];
        const beyond = (x) => x ** 2 - asked, from = Math.min(law[0][0], beyond(d - 1.3)), to = Math.max(law[law.length - 1][0], beyond(d + 1.3));
        const words = `All ${whole(n)} keys together ask for ${within(asked, spread)} numbers (mean and standard deviation). ` +
          `${article(d)} ${whole(d)} × ${whole(d)} matrix has ${whole(have)}.`;
        chart.draw({
          x: [from, to], y: [0, 1.08],
          marks: [
            ...(share.length ? [{ area: share, class: "am-any-memory", name: "share of instances for which d² is enough" }] : []),
            { line: law, class: "am-any-memory", name: "asked for by all keys; M: the size of the pool of one key" },
            { down: beyond(d), class: "am-here", name: "d² (dotted: with one dimension less, and one more)" },
            { down: beyond(d - 1), class: "am-limit am-dotted" }, { down: beyond(d + 1), class: "am-limit am-dotted" },
          ],
          text: words,
        });
        const chance = d < n
          ? `By the kinematic prediction the probability that some memory retrieves all pairs is ${percent(probability)}.`
          : "With so many dimensions any scores can be had.";
        place.say(`${words} ${chance} One half is at d = ${Math.sqrt(asked).toFixed(1)}; the theorem's d² = 2 n log n would be d = ${say(theorem)}.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
