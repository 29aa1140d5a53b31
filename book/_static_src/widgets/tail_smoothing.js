// The smoothed tail average of a column of scores: the bracket whose minimum it is, over the threshold, and what
// each score counts, which is a logistic step in place of a sudden one.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, curve } = widgets, { expit, softplus } = theory;

  // The sixty normal scores that the section looks at.
  const SCORES = [
    0.345584, 0.821618, 0.330437, -1.303157, 0.905356, 0.446375, -0.536953, 0.581118, 0.364572, 0.294132, 0.028422, 0.546713,
    -0.736454, -0.16291, -0.482119, 0.598846, 0.039722, -0.292457, -0.781908, -0.257192, 0.008142, -0.275603, 1.294064, 1.006724,
    -2.711162, -1.889013, -0.174772, -0.42219, 0.213643, 0.217322, 2.117839, -1.112021, -0.377605, 2.042772, 0.646703, 0.663063,
    -0.514006, -1.648075, 0.167465, 0.109014, -1.227352, -0.683227, -0.072044, -0.944752, -0.09827, 0.095483, 0.035586, -0.506292,
    0.593748, 0.891167, 0.320848, -0.81823, 0.731652, -0.50144, 0.879161, -1.071787, 0.914467, -0.020063, -1.248749, -0.313899,
  ];

  const sum = (x, term) => x.reduce((total, value) => total + term(value), 0);
  const descending = (x) => [...x].sort((a, b) => b - a);

  // Size of the tail of m scores.
  const tailCount = (r, m) => Math.max(1, Math.ceil(r * m - 1e-9));

  function tailAverage(x, r) {
    const k = tailCount(r, x.length);
    return sum(descending(x).slice(0, k), (value) => value) / k;
  }

  // The bracket at a threshold: exact for an infinite beta.
  function bracket(x, r, beta, mu) {
    const excess = (value) => (beta === Infinity ? Math.max(value - mu, 0) : softplus(beta * (value - mu)) / beta);
    return mu + sum(x, excess) / tailCount(r, x.length);
  }

  // Where the weights sum to k. What the tail lacks of it is what the others have: both sides in logarithms, so
  // that there is one root even where all weights are one or nothing to all digits. Needs k < m.
  function threshold(x, r, beta) {
    const m = x.length, k = tailCount(r, m), sorted = descending(x);
    const share = (some, mu, sign) => theory.logSum(some.map((value) => -softplus(sign * beta * (mu - value))));
    const miss = (mu) => share(sorted.slice(k), mu, 1) - share(sorted.slice(0, k), mu, -1);
    const reach = Math.log(k / (m - k)) / beta;
    return theory.root(miss, sorted[m - 1] - reach - 1e-9, sorted[0] - reach + 1e-9);
  }

  const smoothed = (x, r, beta) => bracket(x, r, beta, threshold(x, r, beta));

  scope.tail_smoothing = { SCORES, tailCount, tailAverage, bracket, threshold, smoothed };

  widgets.widget("tail_smoothing", {
    settings: {
      beta: { label: "sharpness β", value: 3, low: 1, high: 300, log: true },
      r: { label: "tail fraction r", value: 0.15, low: 0.01, high: 0.98 },
      spread: { label: "stretch of the column", value: 1, low: 0.2, high: 5, log: true },
    },
    presets: [
      { name: "hardly smoothed", values: { beta: 100 } },
      { name: "all alike", values: { beta: 1, spread: 0.2 } },
      { name: "first place", values: { beta: 10, r: 0.01 } },
    ],
    explorer: ({ beta, r }) => ["explore_ridge", { r, beta: Math.min(100, beta) }],
    build(place) {
      const cost = place.chart({ title: "The bracket, whose minimum counts", xLabel: "threshold μ", yLabel: "value" });
      const count = place.chart({ title: "How much each score counts", xLabel: "score", yLabel: "weight" });
      return ({ beta, r, spread }) => {
        const x = descending(SCORES.map((value) => spread * value)), m = x.length, k = tailCount(r, m);
        const exact = tailAverage(x, r), mu = threshold(x, r, beta), soft = bracket(x, r, beta, mu);
        const bound = (m * Math.log(2)) / (k * beta), weight = (value) => expit(beta * (value - mu));
        const felt = x.filter((value) => Math.abs(weight(value) - 0.5) < 0.45).length;
        Object.assign(place.host.dataset, { exact, smoothed: soft, threshold: mu, felt });

        const span = [Math.min(-3 * spread, mu - spread), Math.max(3 * spread, mu + spread)];
        const size = Math.max(2.6 * spread, 1.4 * (soft - exact)), bottom = exact - 0.45 * size;
        const low = (x[k - 1] + x[k]) / 2, far = curve((t) => bracket(x, r, Infinity, t), ...span, 120);
        const ticks = `scores; long: the best ${k === 1 ? "one" : k}`;
        cost.draw({
          x: span, y: [bottom, soft + 0.75 * size],
          marks: [
            ...x.map((value, j) => ({ line: [[value, bottom], [value, bottom + (j < k ? 0.22 : 0.09) * size]], class: "am-competitor", name: j ? "" : ticks })),
            { line: far, class: "am-limit am-dashed", name: "exact" },
            { line: curve((t) => bracket(x, r, beta, t), ...span, 120), class: "am-tail-average", name: "smoothed" },
            { dots: [[x[k - 1], exact]], class: "am-limit", name: "exact minimum" },
            { dots: [[mu, soft]], class: "am-tail-average", name: "smoothed minimum" },
          ],
          text: `The exact bracket has the minimum ${say(exact)}, the smoothed one ${say(soft)}, at the threshold ${say(mu)}.`,
        });
        count.draw({
          x: span, y: [0, 1.05],
          marks: [
            { line: [[span[0], 0], [low, 0], [low, 1], [span[1], 1]], class: "am-limit am-dashed", name: "exact: all or nothing" },
            { line: curve(weight, ...span, 200), class: "am-tail-average", name: "smoothed: σ(β(s − μ))" },
            { dots: x.map((value) => [value, weight(value)]), class: "am-competitor", name: "the sixty scores" },
          ],
          text: `The weights sum to ${k}. ${felt} of the ${m} scores have a weight between 5% and 95%.`,
        });
        const best = k === 1 ? `The best of ${m} scores is ${say(exact)}` : `The best ${k} of ${m} scores have the average ${say(exact)}`;
        place.say(`${best}, and the smoothed average is ${say(soft)}. ` +
          `Smoothing adds ${say(soft - exact, 3)}, which is below the bound ${say(bound, 3)} for any column. ` +
          `${felt || "None"} of the scores ${felt === 1 ? "has" : "have"} a weight between 5% and 95%; the weights sum to ${k}.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
