// The load across the moving edge: below the critical load all signals are at least at an edge that the load
// alone sets; the tail average of the competitors, which the tail fraction sets, must stay below it. What it takes
// to lift all keys to the edge is a mean square: one over the load.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, percent, curve } = widgets;

  // A key whose score without training is G, over ν: how far it is lifted to a level, and what that adds to the price.
  const lift = (level, G) => Math.max(level - G, 0);
  const price = (level, G) => lift(level, G) ** 2 * theory.density(G);

  scope.moving_edge = { lift, price };

  widgets.widget("moving_edge", {
    settings: {
      load: { label: "load n/d²", value: 0.2, low: 0.02, high: 1.9 },
      r: { label: "tail fraction r", value: 0.15, low: 0.01, high: 0.98 },
    },
    presets: [
      { name: "nearer the critical load", values: { load: 0.25 } },
      { name: "above it", values: { load: 0.35 } },
      { name: "half of the competitors", values: { load: 0.6, r: 0.5 } },
    ],
    explorer: ({ load, r }) => ["explore_phase", { r, load }],
    build(place) {
      const scores = place.chart({ title: "Scores of one key, over ν", xLabel: "score / ν", yLabel: "density; stem: share" });
      const lifts = place.chart({
        title: "What lifts the keys, and what it takes", xLabel: "score G of a key without training, over ν", yLabel: "lift; areas: lift² × density",
      });
      return ({ load, r }) => {
        const { rho, kappa, edge, signal } = theory.satLaws(load, r), fits = rho > kappa;
        const [have, need] = [1 / load, 1 / theory.criticalLoad(r)], span = [-4, Math.max(4, rho + 1, kappa + 1)];
        const [wanted, room] = widgets.apart(need, have);
        Object.assign(place.host.dataset, { phase: fits ? "below" : "above", edge: rho, kappa, atom: edge, have, need });
        scores.draw({
          x: span, y: [0, 1.05],
          marks: [
            { line: curve(theory.density, ...span), class: "am-competitor", name: "competitors" },
            { line: curve(signal.pdf, rho + 1e-9, span[1]), class: "am-signal", name: "signals above the edge" },
            { stem: [rho, edge], class: "am-signal", name: `signals at the edge ρ: ${percent(edge)}` },
            { down: kappa, class: "am-tail-average am-dashed", name: "tail average κ_r of the competitors" },
          ],
          text: `The edge of the signals is at ${say(rho)}, the tail average of the competitors at ${say(kappa)}.`,
        });
        const areas = [rho, kappa].map((level) => curve((G) => price(level, G), ...span));
        const top = 1.08 * Math.max(rho + 3, kappa + 3, 1, ...areas.flat().map(([, y]) => y));
        lifts.draw({
          x: span, y: [0, top],
          marks: [
            { area: areas[0], class: "am-signal am-outlined", name: `price of the edge, area 1/α = ${say(have, 3)}` },
            { area: areas[1], class: "am-tail-average am-outlined am-dashed", name: `price of the tail average, area ${say(need, 3)}` },
            { line: curve((G) => lift(rho, G), ...span), class: "am-signal", name: "lift to the edge" },
            { line: curve((G) => lift(kappa, G), ...span), class: "am-tail-average am-dashed", name: "lift that is needed" },
          ],
          text: `The mean square of the lifts to the edge is ${room}; that of the lifts to the tail average is ${wanted}.`,
        });
        const budget = `There are ${room} entries of the memory for each key, and a key needs ${wanted}. `;
        place.say(budget + (fits
          ? `The edge ${say(rho)} lies above the tail average ${say(kappa)}: every key has a positive margin, and the same one for ${percent(edge)} of them.`
          : `The edge ${say(rho)} lies below the tail average ${say(kappa)}: ` +
            `the load is above the critical ${say(theory.criticalLoad(r))}, and no memory serves all keys.`));
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
