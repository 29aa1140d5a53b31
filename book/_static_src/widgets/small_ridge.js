// What smoothing and ridge do: loss and norm along the load, on both sides of the critical load, for one ridge and
// one sharpness, beside what is left without a ridge. The curves can take seconds, and are
// computed in pieces: a few points of each first.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope, { say } = widgets;
  const SPAN = [0.5, 1.5], PIECE = 10; // of the load over the critical one; milliseconds of work at a time
  const OFFSETS = [0.002, 0.006, 0.015, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3, 0.4, 0.5];
  const LOADS = [...OFFSETS.map((x) => 1 - x).reverse(), 1, ...OFFSETS.map((x) => 1 + x)]; // close where the loss bends
  const FEW = LOADS.filter((_, i) => i % 3 === 0), ORDER = [...FEW, ...LOADS.filter((_, i) => i % 3)];

  // Loss and norm scale at a load that is given over the critical one; without a ridge both have limits.
  function point(over, r, beta, ridge) {
    if (!(ridge > 0) && over <= 1) return { loss: 0, nu: Infinity };
    const { loss, nu } = theory.solveScalar(over * theory.criticalLoad(r), r, beta, ridge);
    return { loss, nu };
  }

  scope.small_ridge = { point, LOADS };

  widgets.widget("small_ridge", {
    settings: {
      ridge: { label: "ridge λ", value: 1e-2, low: 1e-8, high: 1, log: true },
      beta: { label: "sharpness β", value: 3, low: 0.3, high: 100, log: true },
      over: { label: "load / critical load", value: 0.9, low: SPAN[0], high: SPAN[1] },
      r: { label: "tail fraction r", value: 0.15, low: 0.02, high: 0.9 },
    },
    presets: [
      { name: "a hundredth of that ridge", values: { ridge: 1e-4 } },
      { name: "the paper's Figure 2", values: { ridge: 1e-6, beta: 30 } },
      { name: "little smoothing", values: { beta: 30 } },
      { name: "much smoothing", values: { beta: 0.3 } },
    ],
    explorer: ({ ridge, beta, over, r }) => ["explore_ridge", { ridge, load: over * theory.criticalLoad(r), r, beta }],
    build(place) {
      const axis = "load / critical load";
      const losses = place.chart({ title: "Loss", xLabel: axis, yLabel: "mean loss" });
      const norms = place.chart({ title: "Norm scale", xLabel: axis, yLabel: "norm scale ν", yLog: true });
      const ends = new Map(), walks = new Map(); // what has been computed, without a ridge and with one
      let now = null, here = null, limit = null, pale = [], turn = 0, whole = null;
      const first = new Promise((done) => (whole = done));

      const known = (at, name) => at.get(name) || at.set(name, []).get(name);
      const of = ({ r, beta, ridge }) => [known(walks, `${r} ${beta} ${ridge}`), known(ends, `${r} ${beta}`)];

      function draw() {
        const { over, ridge } = now, [found, end] = of(now), ascending = (list) => list.sort((p, q) => p.x - q.x);
        const walk = ascending([...found, { x: over, ...here }]), above = ascending(end.filter(({ x }) => x >= 1));
        const done = found.length === LOADS.length && end.length === LOADS.length, begun = found.length >= FEW.length;
        if (done) (pale = walk, whole());
        place.host.dataset.state = done ? "done" : "on its way";
        const curves = (part, started) => [
          ...(done ? [] : [{ line: pale.map((p) => [p.x, p[part]]), class: "am-tail-average am-pale", name: pale.length && "for the settings before" }]),
          { line: [...(started ? [[SPAN[0], 0], [1, 0]] : []), ...above.map((p) => [p.x, p[part]])], class: "am-any-memory am-dashed", name: "without a ridge" },
          { line: walk.map((p) => [p.x, p[part]]), class: "am-tail-average", name: `ridge ${say(ridge, 2)}${done ? "" : ", computing …"}` },
          { down: 1, class: "am-limit am-dotted", name: "critical load" },
          ...(begun ? [{ dots: [[over, here[part]]], class: "am-here", big: true, name: "the load of the settings" }] : []),
        ];
        const seen = [here, ...walk, ...(done ? [] : pale)];
        const top = Math.max(0.7, ...seen.map((p) => p.loss), ...above.map((p) => p.loss));
        losses.draw({
          x: SPAN, y: [0, 1.05 * top], marks: curves("loss", true),
          text: `With this ridge the loss is ${say(here.loss, 3)} at the load of the settings; without one it is ${say(limit.loss, 3)}.`,
        });
        const sizes = [...seen, limit].map((p) => p.nu).filter(Number.isFinite);
        const decade = (round, x) => 10 ** round(Math.log10(x));
        norms.draw({
          x: SPAN, y: [decade(Math.floor, Math.min(...sizes) / 1.1), decade(Math.ceil, 1.1 * Math.max(...sizes))],
          marks: curves("nu", false),
          text: `With this ridge the norm scale is ${say(here.nu, 3)} at the load of the settings; ` +
            `without one it is ${Number.isFinite(limit.nu) ? say(limit.nu, 3) : "infinite"}.`,
        });
      }

      // One more point of the curve or of its limit, until all are there or something else is asked for.
      function go(mine, rough = false) {
        if (mine !== turn) return;
        const until = performance.now() + PIECE, { r, beta, ridge } = now, [walk, end] = of(now);
        const next = () => [[walk, ridge, FEW], [end, 0, FEW], [walk, ridge, LOADS], [end, 0, LOADS]].find(([list, , all]) => list.length < all.length);
        for (let step = next(); step && performance.now() < until; step = next()) {
          const [list, size] = step, x = ORDER[list.length];
          list.push({ x, ...point(x, r, beta, size) });
        }
        const few = walk.length >= FEW.length && end.length >= FEW.length;
        if (!next() || (few && !rough)) draw();
        if (next()) setTimeout(go, 0, mine, few);
      }

      return (values) => {
        now = { ...values };
        for (const kept of [walks, ends]) if (kept.size > 200) kept.clear(); // a slider that is drawn along leaves many
        const { over, r, beta, ridge } = now;
        here = point(over, r, beta, ridge);
        limit = point(over, r, beta, 0);
        Object.assign(place.host.dataset, { loss: here.loss, nu: here.nu, limit: limit.loss });
        draw();
        place.say(over <= 1
          ? `This load is ${over < 1 ? "below the critical one" : "the critical one"}: without a ridge the loss would be zero and the norm without bound. ` +
            `The ridge keeps the norm scale at ${say(here.nu, 3)}, and that leaves a loss of ${say(here.loss, 3)}.`
          : `This load is above the critical one. Without a ridge the norm scale would be ${say(limit.nu, 3)} and the loss ${say(limit.loss, 3)}. ` +
            `With it they are ${say(here.nu, 3)} and ${say(here.loss, 3)}.`);
        setTimeout(go, 0, ++turn);
        return first;
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
