// The reduced potential over the size of a memory: the least mean loss at each size, and the ridge's share. Its
// minimum is the size of the trained memory. Beside it the potential over the susceptibility, at that size.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say, apart } = widgets, { softplus } = theory;
  const SIZES = [0.03, 300], POINTS = 72;
  const GONE = 1e-14; // a mean loss below all pictures
  const GRID = Array.from({ length: POINTS + 1 }, (_, i) => SIZES[0] * (SIZES[1] / SIZES[0]) ** (i / POINTS));

  // The potential with the ridge left out. At the best chi it is the mean loss alone.
  function potential(nu, chi, load, r, beta) {
    const { c } = theory.scalarTailAverage(nu, r, beta), at = theory.channel(nu, c, chi);
    return at.mean((i) => 0.5 * chi * at.A[i] ** 2 + softplus(-at.y[i])) - nu ** 2 / (2 * load * chi);
  }

  // The least mean loss at a size, and the chi of it; the search starts from a chi.
  function leastLoss(nu, load, r, beta, start = nu) {
    const { c } = theory.scalarTailAverage(nu, r, beta), chi = theory.susceptibility(nu, c, load, start);
    const at = theory.channel(nu, c, chi);
    return { chi, loss: at.mean((i) => softplus(-at.y[i])) };
  }

  // What no memory at all costs, W = 0: all scores are equal then, and the weights of competitors are r.
  const idle = (r, beta) => softplus(-(r * Math.log(r) + (1 - r) * Math.log1p(-r)) / (r * beta));

  scope.scalar_potential = { potential, leastLoss, idle };

  widgets.widget("scalar_potential", {
    settings: {
      ridge: { label: "ridge λ", value: 0.01, low: 1e-9, high: 10, log: true },
      load: { label: "load n/d²", value: 0.2, low: 0.02, high: 2 },
      r: { label: "tail fraction r", value: 0.15, low: 0.01, high: 0.98 },
      beta: { label: "sharpness β", value: 3, low: 0.1, high: 100, log: true },
    },
    presets: [
      { name: "hardly any ridge", values: { ridge: 1e-7 } },
      { name: "the same, at load 0.6", values: { ridge: 1e-7, load: 0.6 } },
      { name: "a strong ridge", values: { ridge: 1 } },
    ],
    explorer: ({ load, ridge, r, beta }) => ["explore_ridge", { load, ridge, r, beta }],
    build(place) {
      const sizes = place.chart({ title: "Over the size, at the best χ", xLabel: "size ν", yLabel: "potential", xLog: true, yLog: true });
      const pushes = place.chart({ title: "Over the susceptibility, at the best ν", xLabel: "susceptibility χ", yLabel: "potential / maximum", xLog: true });
      let path = { key: "" }, here = null;

      // What does not depend on the ridge: the mean losses, a few at a time, and the best size without a ridge.
      function follow({ load, r, beta }) {
        const key = `${load} ${r} ${beta}`;
        if (path.key === key) return;
        const critical = theory.criticalLoad(r), top = idle(r, beta);
        const limit = load > 1.001 * critical ? theory.solveScalar(load, r, beta, 0).nu : 0;
        const mine = path = { key, critical, top, limit, points: [], width: 1, done: false };
        (function piece() {
          if (path !== mine) return;
          const until = performance.now() + 10;
          while (!mine.done && performance.now() < until) {
            const nu = GRID[mine.points.length], { chi, loss } = leastLoss(nu, load, r, beta, mine.width * nu);
            mine.points.push([nu, loss]);
            mine.width = chi / nu;
            if (loss < GONE) while (mine.points.length < GRID.length) mine.points.push([GRID[mine.points.length], 0]);
            mine.done = mine.points.length === GRID.length || (loss > 2 * top && mine.points.length > 2);
          }
          if (here) overSizes();
          if (!mine.done) setTimeout(piece, 0);
        })();
      }

      function overSizes() {
        const { s, cost, value } = here, { top, points } = path;
        place.host.dataset.curve = path.done ? "done" : "on its way";
        sizes.draw({
          x: SIZES, y: [10 ** Math.floor(Math.log10(value / 4)), 2 * top],
          marks: [
            { across: top, class: "am-limit am-dotted", name: "potential at W = 0" },
            { line: points.map(([nu, loss]) => [nu, loss + cost(nu)]), class: "am-tail-average", name: "potential" },
            { line: GRID.map((nu) => [nu, cost(nu)]).filter(([, y]) => y < 3 * top), class: "am-limit am-dashed", name: "its part for the ridge" },
            { line: points, class: "am-signal am-dashed", name: "its part for the mean loss" },
            { dots: [[s.nu, value]], class: "am-tail-average", big: true, name: "minimum" },
          ],
          text: `The potential is least at the size ${say(s.nu)}, where it is ${say(value)}.`,
        });
      }

      function overPushes({ load, r, beta }) {
        const { s, cost, value } = here, span = [s.chi / 8, s.chi * 40], over = [];
        for (let i = 0; i <= 32; i++) {
          const chi = span[0] * (span[1] / span[0]) ** (i / 32);
          over.push([chi, (cost(s.nu) + potential(s.nu, chi, load, r, beta)) / value]);
        }
        const drop = Math.max(1 - over.at(-1)[1], 1e-3);
        pushes.draw({
          x: span, y: [1 - 1.6 * drop, 1 + 0.4 * drop],
          marks: [
            { line: over, class: "am-tail-average", name: "potential" },
            { dots: [[s.chi, 1]], class: "am-tail-average", big: true, name: "maximum" },
          ],
          text: `At that size the potential is largest at the susceptibility ${say(s.chi)}.`,
        });
      }

      return (values) => {
        const { load, ridge, r, beta } = values, s = theory.solveScalar(load, r, beta, ridge);
        const cost = (nu) => 0.5 * ridge * nu * nu;
        here = { s, cost, value: s.loss + cost(s.nu) };
        follow(values);
        overSizes();
        overPushes(values);
        const { critical, limit } = path;
        Object.assign(place.host.dataset, { nu: s.nu, chi: s.chi, limit });
        const [mine, other] = apart(load, critical), outside = s.nu > SIZES[1] ? ", beyond the chart" : "";
        place.say(`The best size is ${say(s.nu)}${outside}: it costs a mean loss of ${say(s.loss, 3)}, and ${say(cost(s.nu), 3)} for the ridge. ` +
          (load < critical ? `The load ${mine} is below the critical ${other}: larger memories always lose less, and only the ridge holds the size.`
            : limit ? `The load ${mine} is above the critical ${other}: with no ridge at all the best size would be ${say(limit)}.`
              : `The load ${mine} is at the critical one.`));
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
