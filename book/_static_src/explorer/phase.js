// The plane of tail fractions and loads: pick a point, see the laws that hold there as the ridge vanishes.

(function (scope) {
  "use strict";
  const { theory, widgets } = scope;
  const host = document.getElementById("phase-explorer");
  if (!host) return;
  const { element, say, percent, apart, curve } = widgets;
  const FRACTION = [0.002, 0.998], TOP = 2.2;

  const charts = element("div", { class: "am-charts" });
  const answer = element("p", { class: "am-answer", role: "status" });
  const wide = element("div", { class: "am-wide" });
  const controls = widgets.settings(host, {
    r: { label: "tail fraction r", value: 0.15, low: FRACTION[0], high: FRACTION[1] },
    load: { label: "load n/d²", value: 0.28, low: 0.005, high: TOP },
    beta: { label: "sharpness β (above the critical load)", value: 3, low: 0.1, high: 100, log: true },
  }, widgets.soon(update), [
    { name: "the paper's Figure 3, below", values: { r: 0.15, load: 0.28, beta: 30 } },
    { name: "the same, above", values: { r: 0.15, load: 0.4, beta: 30 } },
    { name: "half of the competitors", values: { r: 0.5, load: 0.6, beta: 3 } },
    { name: "almost first place", values: { r: 0.01, load: 0.04, beta: 3 } },
  ]);
  host.append(answer, charts);
  charts.append(wide);
  const map = widgets.chart(wide, { id: "phase-map", title: "Pick a point", xLabel: "tail fraction r", yLabel: "load n/d²", height: 340 });
  const scores = widgets.chart(charts, { id: "phase-scores", title: "Scores of one key, over ν", xLabel: "score / ν", yLabel: "density; stem: share" });
  const margins = widgets.chart(charts, { id: "phase-margins", title: "Margins of all keys, over ν", xLabel: "margin / ν", yLabel: "density; stem: share" });
  const ranks = widgets.chart(charts, { id: "phase-percentiles", title: "Share of competitors below the signal", xLabel: "percentile w", yLabel: "share of keys up to w" });
  const table = widgets.readings(host, "At this point");

  // The map is driven by mouse, touch and keys.
  map.svg.classList.add("am-map");
  map.svg.setAttribute("tabindex", "0");
  map.svg.setAttribute("aria-roledescription", "map; arrow keys move the point");
  const move = (event) => {
    const at = map.at(event);
    if (at) controls.set({ r: at[0], load: at[1] });
  };
  // A finger moves the point by a tap, or sideways; one that goes up or down scrolls the page.
  let touch = null;
  map.svg.addEventListener("pointerdown", (event) => {
    touch = event.pointerType === "touch" ? { x: event.clientX, y: event.clientY, sideways: false } : null;
    if (touch) return;
    map.svg.setPointerCapture(event.pointerId);
    move(event);
  });
  map.svg.addEventListener("pointermove", (event) => {
    if (touch && !touch.sideways) {
      const across = Math.abs(event.clientX - touch.x), along = Math.abs(event.clientY - touch.y);
      touch.sideways = across > 6 && across > along;
      if (!touch.sideways) return;
    }
    if (event.buttons) move(event);
  });
  map.svg.addEventListener("click", move);
  map.svg.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.1 : 0.01, { r, load } = controls.values;
    const to = { ArrowLeft: { r: r - step }, ArrowRight: { r: r + step }, ArrowUp: { load: load + step }, ArrowDown: { load: load - step } }[event.key];
    if (!to) return;
    event.preventDefault();
    controls.set(to);
  });

  const fractions = [...curve((x) => x, 0.0005, 0.02, 20), ...curve((x) => x, 0.021, 0.999, 150)].map(([r]) => r);
  const boundary = fractions.map((r) => [r, theory.criticalLoad(r)]);
  // Up to where every signal can be among its top r: for lists, which are shares of at most one half.
  const lists = [[0, 0], ...fractions.filter((r) => r < 0.5).map((r) => [r, theory.listCapacity(r)]), [0.5, theory.listCapacity(0.5)]];
  // Where every margin is at least m times nu: the edge is kappa + m, whose load has a closed form.
  const levels = [0.5, 1, 2].map((m) => ({ m, line: fractions.map((r) => [r, 1 / theory.hingeMoments(theory.tailMean(r) + m)[1]]) }));

  function update() {
    const { r, load, beta } = controls.values;
    const critical = theory.criticalLoad(r);
    const below = load < critical, at = Math.abs(load / critical - 1) < 1e-9;
    const laws = below ? theory.satLaws(load, r) : at ? null : theory.solveScalar(load, r, beta, 0);
    host.dataset.phase = at ? "critical" : below ? "below" : "above";

    map.draw({
      x: [0, 1], y: [0, TOP],
      marks: [
        { area: [[0, 0], ...boundary, [1, 0]], class: "am-below" },
        { area: [[0, TOP], [0, 0], ...boundary, [1, TOP]], class: "am-above" },
        ...levels.map(({ m, line }, i) => ({ line, class: "am-below am-dotted", name: i ? "" : "every margin at least 2, 1, ½ times ν (from below)" })),
        { line: lists, class: "am-any-memory am-dashed", name: "list capacity: every key in the top r" },
        { line: boundary, class: "am-critical", name: "critical load" },
        { label: [0.7, 0.7, "loss can vanish"] }, { label: [0.6, 1.45, "loss stays positive"] },
        { dots: [[r, load]], class: "am-here", big: true, name: "the point shown" },
      ],
      text: `The critical load rises from 0 at r = 0 to 2 at r = 1. The point is at r = ${say(r)}, load ${say(load)}, ${below ? "below" : "above"} the critical load ${say(critical)}. ` +
        `The list capacity, up to which every key can be in the top r, rises from 0 to 2 at r = ½${r <= 0.5 ? `; here it is ${say(theory.listCapacity(r))}` : ""}.`,
    });
    if (!laws) {
      answer.textContent = "Exactly at the critical load the norm diverges and the loss vanishes, slower than on either side: move a little.";
      return;
    }
    below ? showBelow(r, load, critical, laws) : showAbove(r, load, critical, laws);
  }

  const rival = (low, high) => ({ line: curve(theory.density, low, high), class: "am-competitor", name: "competitors" });

  // What is said of lists at a point, whatever its side.
  function listRows(r, load) {
    const rows = [];
    if (r <= 0.5) {
      const tail = theory.equivalentTail(r), most = theory.listCapacity(r);
      rows.push([`every key in the top ${percent(r)}: up to the load`, `${say(most, 6)}, by the tail average of the r′ = ${say(tail, 4)}`, most]);
      rows.push(["longer tail r′, whose critical load that is", say(tail, 6), tail]);
    }
    if (load <= 2) {
      const share = theory.bestShare(load);
      rows.push(["smallest share in which every key can be at this load, Φ(−ρ_α)", percent(share), share]);
    }
    return rows;
  }

  function showBelow(r, load, critical, laws) {
    const { rho, kappa, edge } = laws, delta = rho - kappa;
    answer.textContent = `Below the critical load ${apart(critical, load)[0]}: the loss vanishes with the ridge. Every key beats the average of its top ${percent(r)} of competitors, ` +
      `and ${percent(edge)} of the keys do so by exactly the same margin, ${say(delta)} ν.`;
    const top = Math.max(0.45, 1.15 * edge);
    scores.draw({
      x: [-4, Math.max(4, rho + 1)], y: [0, top],
      marks: [rival(-4, Math.max(4, rho + 1)), { line: curve(laws.signal.pdf, rho + 1e-9, Math.max(4, rho + 1)), class: "am-signal", name: "signals" },
        { stem: [rho, edge], class: "am-signal", name: `a share ${percent(edge)} of the signals, at the edge ρ` }, { down: kappa, class: "am-tail-average am-dashed", name: "tail average of the competitors" }],
      text: `Competitors are standard normal. Signals never lie below ${say(rho)}, where ${percent(edge)} of them are.`,
    });
    const right = Math.max(2, delta + 2);
    margins.draw({
      x: [Math.min(-0.5, delta - 0.5), right], y: [0, top],
      marks: [{ down: 0, class: "am-tail-average am-dashed", name: "zero" }, { line: curve(laws.margin.pdf, delta + 1e-9, right), class: "am-signal", name: "margins" }, { stem: [delta, edge], class: "am-signal" }],
      text: `No margin is smaller than ${say(delta)}; ${percent(edge)} of the keys have exactly that one.`,
    });
    ranks.draw({
      x: [0, 1], y: [0, 1],
      marks: [{ line: [[0, 0], [edge, 0], [edge, edge], [1, 1]], class: "am-signal", name: "keys" }, { down: 1 - r, class: "am-limit am-dashed", name: "1 − r" }],
      text: `No percentile is below ${say(edge)}; above it they are spread evenly.`,
    });
    table([
      ["phase", "below the critical load: the loss vanishes", "below"],
      ["critical load α_c(r)", say(critical, 6), critical],
      ["tail average of the competitors, κ_r (over ν)", say(kappa, 6), kappa],
      ["edge of the signals, ρ_α (over ν)", say(rho, 6), rho],
      ["share of keys exactly at the edge, Φ(ρ_α)", percent(edge), edge],
      ["smallest margin, ρ_α − κ_r (over ν)", say(delta, 6), delta],
      ["lowest percentile", say(edge, 6), edge],
      ["norm scale ν as the ridge λ vanishes", `∞, like log(1/λ) / (${say(delta, 3)})`, Infinity],
      ["loss", "0", 0],
      ...listRows(r, load),
    ]);
  }

  function showAbove(r, load, critical, laws) {
    const { nu, chi, c, loss } = laws, lost = laws.margin.cdf(0), middle = laws.percentile.quantile(0.5);
    answer.textContent = `Above the critical load ${apart(critical, load)[0]}: without any ridge the norm stays at ν = ${say(nu)} and the loss at ${say(loss)}. ` +
      `${percent(lost)} of the keys do not beat the average of their top ${percent(r)} of competitors.`;
    const signal = curve((x) => nu * laws.signal.pdf(nu * x), -4, 5, 400), ends = [0.0005, 0.9995].map((p) => laws.margin.quantile(p) / nu);
    const window = [Math.min(-4, ends[0]), Math.max(4, ends[1])], margin = curve((x) => nu * laws.margin.pdf(nu * x), ...window, 400);
    const top = (points) => Math.max(0.45, 1.1 * Math.max(...points.map((p) => p[1])));
    scores.draw({
      x: [-4, 5], y: [0, top(signal)],
      marks: [rival(-4, 5), { line: signal, class: "am-signal", name: "signals" }, { down: c / nu, class: "am-tail-average am-dashed", name: "tail average of the competitors" }],
      text: `Competitors are standard normal; half of the signals lie below ${say(laws.signal.quantile(0.5) / nu)}.`,
    });
    margins.draw({
      x: window, y: [0, top(margin)],
      marks: [{ down: 0, class: "am-tail-average am-dashed", name: "zero" }, { line: margin, class: "am-signal", name: "margins" }],
      text: `${percent(lost)} of the margins are negative.`,
    });
    ranks.draw({
      x: [0, 1], y: [0, 1],
      marks: [{ line: curve(laws.percentile.cdf, 0, 1), class: "am-signal", name: "keys" }, { down: 1 - r, class: "am-limit am-dashed", name: "1 − r" }],
      text: `Half of the keys have a percentile of at most ${say(middle)}.`,
    });
    table([
      ["phase", "above the critical load: the loss stays positive", "above"],
      ["critical load α_c(r)", say(critical, 6), critical],
      ["norm scale ν", say(nu, 6), nu],
      ["susceptibility χ", say(chi, 6), chi],
      ["tail average of the competitors, c / ν (κ_r as β → ∞)", say(c / nu, 6), c / nu],
      ["loss", say(loss, 6), loss],
      ["share of keys with a negative margin", percent(lost), lost],
      ["median percentile", say(middle, 6), middle],
      ["error of the two equations", say(laws.residual, 2), laws.residual],
      ...listRows(r, load),
    ]);
  }

  update();
})(globalThis.assocmem);
