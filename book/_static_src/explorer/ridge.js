// A ridge that goes to zero: the trained memory at any ridge, and the limit that it walks into.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope;
  const host = document.getElementById("ridge-explorer");
  if (!host) return;
  const { element, say, percent, apart, curve } = widgets;
  const RIDGES = [1e-12, 10], POINTS = 53;

  const controls = widgets.settings(host, {
    ridge: { label: "ridge λ", value: 1e-2, low: RIDGES[0], high: RIDGES[1], log: true },
    load: { label: "load n/d²", value: 0.28, low: 0.01, high: 3 },
    r: { label: "tail fraction r", value: 0.15, low: 0.002, high: 0.998 },
    beta: { label: "sharpness β", value: 3, low: 0.1, high: 100, log: true },
  }, widgets.soon(update), [
    { name: "the paper's Figure 3", values: { ridge: 1e-7, load: 0.28, r: 0.15, beta: 30 } },
    { name: "the same, above the critical load", values: { ridge: 1e-7, load: 0.4, r: 0.15, beta: 30 } },
    { name: "just below the critical load", values: { ridge: 1e-4, load: 0.294, r: 0.15, beta: 3 } },
    { name: "just above it", values: { ridge: 1e-4, load: 0.295, r: 0.15, beta: 3 } },
  ]);
  const answer = element("p", { class: "am-answer", role: "status" });
  const charts = element("div", { class: "am-charts" });
  host.append(answer, charts);
  const norms = widgets.chart(charts, { id: "ridge-norm", title: "Norm scale", xLabel: "ridge λ", yLabel: "ν", xLog: true });
  const losses = widgets.chart(charts, { id: "ridge-loss", title: "Loss", xLabel: "ridge λ", yLabel: "mean loss", xLog: true, yLog: true });
  const scores = widgets.chart(charts, { id: "ridge-scores", title: "Scores of one key, over ν", xLabel: "score / ν", yLabel: "density; stem: share" });
  const ranks = widgets.chart(charts, { id: "ridge-percentiles", title: "Share of competitors below the signal", xLabel: "percentile w", yLabel: "share of keys up to w" });
  const table = widgets.readings(host, "At this ridge, and in the limit");

  // The whole walk, for one load, tail and sharpness. It takes half a second: a piece at a time. Until it is
  // there the last whole one stays in view, pale.
  let path = { key: "", points: [], limit: null, old: [], was: true };
  const ridges = Array.from({ length: POINTS }, (_, i) => RIDGES[1] * (RIDGES[0] / RIDGES[1]) ** (i / (POINTS - 1)));

  function follow({ load, r, beta }) {
    const key = `${load} ${r} ${beta}`;
    if (path.key === key) return;
    const below = load < theory.criticalLoad(r), at = Math.abs(load / theory.criticalLoad(r) - 1) < 1e-9;
    const whole = path.points.length === POINTS, old = whole ? path.points : path.old, was = whole ? path.below : path.was;
    path = { key, points: [], old, was, below, limit: at ? null : below ? theory.satLaws(load, r) : theory.solveScalar(load, r, beta, 0) };
    host.dataset.walk = "on its way";
    const mine = path;
    let drawn = performance.now();
    (function piece() {
      if (path !== mine) return;
      const until = performance.now() + 12;
      while (mine.points.length < POINTS && performance.now() < until) mine.points.push(theory.solveScalar(load, r, beta, ridges[mine.points.length]));
      if (mine.points.length < POINTS) {
        if (here && performance.now() > drawn + 150) (show(), drawn = performance.now()); // it grows
        return void setTimeout(piece, 0);
      }
      host.dataset.walk = "done";
      show();
    })();
  }

  let here = null;
  function update() {
    const { load, r, beta, ridge } = controls.values;
    here = theory.solveScalar(load, r, beta, ridge);
    follow(controls.values);
    show();
  }

  function show() {
    const { load, r, ridge } = controls.values, { points, old, was, below, limit } = path;
    const whole = points.length === POINTS, shown = whole ? points : [...old, ...points];
    const colour = (under) => (under ? "am-below" : "am-above"); // as in the figures of the critical load
    const walk = (of) => [...(whole || !old.length ? [] : [{ line: old.map((p) => [p.ridge, of(p)]), class: `${colour(was)} am-pale`, name: "for the settings before" }]), { line: points.map((p) => [p.ridge, of(p)]), class: colour(below), name: "along the ridge" }];
    const critical = theory.criticalLoad(r), { nu, chi, c, loss } = here;
    const lost = here.margin.cdf(0), middle = here.percentile.quantile(0.5);
    host.dataset.phase = limit === null ? "critical" : below ? "below" : "above";

    const span = RIDGES, largest = Math.max(nu, ...shown.map((p) => p.nu), below || !limit ? 0 : limit.nu);
    const end = below || !limit ? [] : [{ across: limit.nu, class: "am-limit am-dashed", name: "limit" }];
    norms.draw({
      x: span, y: [0, 1.1 * largest],
      marks: [...end, ...walk((p) => p.nu), { dots: [[ridge, nu]], class: "am-here", big: true, name: "here" }],
      text: below ? "Towards small ridges the norm grows like the logarithm of one over the ridge." : limit ? `Towards small ridges the norm tends to ${say(limit.nu)}.` : "",
    });
    const lowest = Math.min(loss, ...shown.map((p) => p.loss)), highest = Math.max(loss, ...shown.map((p) => p.loss));
    const decade = (value, round) => 10 ** round(Math.log10(value));
    losses.draw({
      x: span, y: [decade(0.5 * lowest, Math.floor), decade(2 * highest, Math.ceil)],
      marks: [...(below || !limit ? [] : [{ across: limit.loss, class: "am-limit am-dashed", name: "limit" }]),
        ...walk((p) => p.loss), { dots: [[ridge, loss]], class: "am-here", big: true, name: "here" }],
      text: below ? "Towards small ridges the loss vanishes almost in proportion." : limit ? `Towards small ridges the loss tends to ${say(limit.loss)}.` : "",
    });

    const left = -4, right = limit && below ? Math.max(5, limit.rho + 2) : 5;
    const signal = curve((x) => nu * here.signal.pdf(nu * x), left, right, 600);
    const after = limit && !below ? curve((x) => limit.nu * limit.signal.pdf(limit.nu * x), left, right, 600) : [];
    const top = Math.min(3, Math.max(0.5, 1.08 * Math.max(...[...signal, ...after].map((p) => p[1]))));
    const goal = !limit ? [] : below
      ? [{ line: curve(limit.signal.pdf, limit.rho + 1e-9, right), class: "am-limit am-dashed", name: "limit of the signals" }, { stem: [limit.rho, Math.min(limit.edge, top)], class: "am-limit" }]
      : [{ line: after, class: "am-limit am-dashed", name: "limit of the signals" }];
    scores.draw({
      x: [left, right], y: [0, top],
      marks: [{ line: curve(theory.density, left, right), class: "am-competitor", name: "competitors" }, ...goal, { line: signal, class: "am-signal", name: "signals" }],
      text: `Half of the signals lie below ${say(here.signal.quantile(0.5) / nu)}.`,
    });
    const aim = !limit ? [] : below
      ? [{ line: [[0, 0], [limit.edge, 0], [limit.edge, limit.edge], [1, 1]], class: "am-limit am-dashed", name: "limit" }]
      : [{ line: curve(limit.percentile.cdf, 0, 1), class: "am-limit am-dashed", name: "limit" }];
    ranks.draw({
      x: [0, 1], y: [0, 1],
      marks: [...aim, { line: curve(here.percentile.cdf, 0, 1), class: "am-signal", name: "keys" }],
      text: `Half of the keys have a percentile of at most ${say(middle)}.`,
    });

    answer.textContent = limit === null
      ? "Exactly at the critical load the norm diverges and the loss vanishes, slower than on either side: move a little."
      : below
        ? `Load ${apart(load, critical)[0]} is below the critical ${apart(load, critical)[1]}: as the ridge goes to zero the loss vanishes, the norm grows without bound, and the signals over ν pile up at ${say(limit.rho)}. ` +
          `At λ = ${say(ridge)} the loss is ${say(loss)}, and ${percent(lost)} of the keys still fail.`
        : `Load ${apart(load, critical)[0]} is above the critical ${apart(load, critical)[1]}: the norm tends to ${say(limit.nu)} and the loss to ${say(limit.loss)}. ` +
          `At λ = ${say(ridge)} they are ${say(nu)} and ${say(loss)}, and ${percent(lost)} of the keys fail.`;
    const both = (x, end) => `${say(x, 6)}${limit ? ` → ${end}` : ""}`;
    const far = limit && !below;
    table([
      ["critical load α_c(r)", say(critical, 6), critical],
      ["norm scale ν", both(nu, far ? say(limit.nu, 6) : "∞"), nu],
      ["susceptibility χ", both(chi, far ? say(limit.chi, 6) : "∞"), chi],
      ["tail average of the competitors, c / ν", both(c / nu, far ? say(limit.c / limit.nu, 6) : say(theory.tailMean(r), 6)), c / nu],
      ["loss", both(loss, far ? say(limit.loss, 6) : "0"), loss],
      ["share of keys with a negative margin", `${percent(lost)}${limit ? ` → ${far ? percent(limit.margin.cdf(0)) : "0"}` : ""}`, lost],
      ["median percentile", both(middle, limit ? say(limit.percentile.quantile(0.5), 6) : ""), middle],
      ["error of the two equations", say(here.residual, 2), here.residual],
    ]);
  }

  update();
})(globalThis.assocmem);
