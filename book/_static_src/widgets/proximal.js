// The proximal map of the logistic loss, and the law of margins that it makes of a normal one. Size and
// susceptibility are free here: the two equations, read backwards, tell the load and the ridge that they belong to.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, percent, curve } = widgets, { density, ndtr, ndtri, prox } = theory;
  const CLIPPED = 6; // how often the highest density before the push fits into the chart
  const within = (x, low, high) => Math.min(high, Math.max(low, x));

  // Load and ridge of a memory with these two numbers: both equations are explicit in them.
  function origin(nu, chi, r, beta) {
    const { c, slope } = theory.scalarTailAverage(nu, r, beta), at = theory.channel(nu, c, chi);
    const load = nu ** 2 / (chi ** 2 * at.mean((i) => at.A[i] ** 2));
    const ridge = 1 / (load * chi) - (at.mean((i) => at.A[i]) * slope - at.mean((i) => at.A[i] * at.G[i])) / nu;
    return { c, load, ridge };
  }

  // Shares of the keys with a margin below zero, without the push and with it.
  const failing = (nu, chi, c) => [ndtr(c / nu), ndtr((c - chi / 2) / nu)];

  scope.proximal = { origin, failing };

  widgets.widget("proximal", {
    settings: {
      chi: { label: "susceptibility χ", value: 1.284482, low: 0.01, high: 1e6, log: true },
      nu: { label: "size ν", value: 0.6345007, low: 0.05, high: 50, log: true },
      r: { label: "tail fraction r", value: 0.15, low: 0.01, high: 0.98 },
      beta: { label: "sharpness β", value: 3, low: 0.1, high: 100, log: true },
    },
    presets: [
      { name: "load 0.6, ridge 0.01", values: {} },
      { name: "load 0.28, ridge 0.01", values: { chi: 16.13713, nu: 3.596928 } },
      { name: "load 0.2, ridge 0.001", values: { chi: 920.9882, nu: 8.605721 } },
    ],
    explorer({ chi, nu, r, beta }) {
      const { load, ridge } = origin(nu, chi, r, beta);
      return ["explore_ridge", { load: within(load, 0.01, 3), ridge: within(ridge, 1e-12, 10), r, beta }];
    },
    build(place) {
      const map = place.chart({ title: "The map", xLabel: "fresh margin x", yLabel: "margin y" });
      const laws = place.chart({ title: "The law of the margins", xLabel: "margin", yLabel: "density" });
      return ({ chi, nu, r, beta }) => {
        const { c, load, ridge } = origin(nu, chi, r, beta), law = theory.saddleLaws(nu, chi, c).margin;
        const [before, after] = failing(nu, chi, c), y = (x) => prox(x, chi);
        Object.assign(place.host.dataset, { c, load, ridge, before, after });

        const from = [-c - 3.2 * nu, -c + 3.2 * nu], to = from.map(y);
        const pushes = [0.1, 0.5, 0.9].map((p) => nu * ndtri(p) - c).map((x) => [x, y(x)]);
        map.draw({
          x: from, y: [from[0], to[1] + 0.05 * (to[1] - from[0])],
          marks: [
            { line: [[from[0], from[0]], [from[1], from[1]]], class: "am-limit am-dashed", name: "no push" },
            { line: [[from[0], 0], [from[1], 0]], class: "am-tail-average am-dotted", name: "tail average: margin 0" },
            ...pushes.map(([x, up]) => ({ line: [[x, x], [x, up]], class: "am-signal" })),
            { dots: pushes, class: "am-signal", name: "three keys: the mean, and 1.28 standard deviations on either side" },
            { line: curve(y, ...from, 120), class: "am-signal", name: "with the push" },
          ],
          text: pushes.map(([x, up]) => `A fresh margin of ${say(x, 3)} becomes ${say(up, 3)}.`).join(" "),
        });

        const span = [from[0], Math.max(from[1], to[1])], normal = (x) => density((x + c) / nu) / nu;
        const made = [...curve(law.pdf, ...span, 160), ...curve(law.pdf, ...to, 160)].sort((a, b) => a[0] - b[0]);
        const peak = Math.max(...made.map((p) => p[1])), highest = Math.max(normal(-c), Math.min(CLIPPED * normal(-c), peak));
        laws.draw({
          x: span, y: [0, 1.08 * highest],
          marks: [
            { down: 0, class: "am-tail-average am-dotted", name: "tail average: margin 0" },
            { line: curve(normal, ...span, 240), class: "am-limit am-dashed", name: "no push: normal" },
            { area: [[span[0], 0], ...made, [span[1], 0]], class: "am-signal" },
            { line: made, class: "am-signal", name: `with the push${peak > 1.08 * highest ? " (its peak is above the chart)" : ""}` },
          ],
          text: `Below zero are ${percent(before)} of the margins without the push, and ${percent(after)} with it.`,
        });

        const [x, up] = pushes[1], owner = `load ${say(load, 3)}`;
        place.say(`The key in the middle, at the mean, is pushed from ${say(x, 3)} to ${say(up, 3)}, with the force ${say((up - x) / chi, 3)}. ` +
          `Without the push ${percent(before)} of the keys fail, with it ${percent(after)}. ` +
          (ridge > 0 ? `These numbers are those of a memory at ${owner} with the ridge ${say(ridge, 3)}.`
            : `No memory has these numbers: at ${owner} it would take a ridge below zero, ${say(ridge, 3)}.`));
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
