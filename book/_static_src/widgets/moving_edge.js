// The load across the moving edge: below the critical load all signals are at least at an edge that the load
// alone sets; the tail average of the competitors, which the tail fraction sets, must stay below it.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, percent, curve } = widgets;
  const SPAN = [-4, 4], TOP = 0.9;

  widgets.widget("moving_edge", {
    settings: {
      load: { label: "load n/d²", value: 0.2, low: 0.02, high: 1.9 },
      r: { label: "tail fraction r", value: 0.15, low: 0.01, high: 0.98 },
    },
    presets: [{ name: "just below the critical load", values: { load: 0.29 } }, { name: "just above", values: { load: 0.3 } }],
    explorer: ({ load, r }) => ["explore_phase", { r, load }],
    build(place) {
      const scores = place.chart({ title: "Scores of one key, over ν", xLabel: "score / ν", yLabel: "density; stem: share" });
      return ({ load, r }) => {
        const { rho, kappa, edge, signal } = theory.satLaws(load, r), fits = rho > kappa;
        place.host.dataset.phase = fits ? "below" : "above";
        place.host.dataset.edge = rho;
        scores.draw({
          x: SPAN, y: [0, TOP],
          marks: [
            { line: curve(theory.density, ...SPAN), class: "am-competitor", name: "competitors" },
            { line: curve(signal.pdf, rho + 1e-9, SPAN[1]), class: "am-signal", name: "signals above the edge" },
            { stem: [rho, edge], class: "am-signal", name: `signals at the edge ρ: ${percent(edge)}` },
            { down: kappa, class: "am-tail-average am-dashed", name: "tail average κ_r of the competitors" },
          ],
          text: `The edge of the signals is at ${say(rho)}, the tail average of the competitors at ${say(kappa)}.`,
        });
        place.say(fits
          ? `The edge ${say(rho)} lies above the tail average ${say(kappa)}: every key has a positive margin.`
          : `The edge ${say(rho)} lies below the tail average ${say(kappa)}: the load is above the critical ${say(theory.criticalLoad(r))}, and no memory serves all keys.`);
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
