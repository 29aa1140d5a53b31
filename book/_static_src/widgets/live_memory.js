// needs: widgets/data/live_memory.js explorer/memories.js
// A memory of the opening page: its scores, which keys it retrieves, and what any memory could do with the same
// vectors. The memory and the proof of the last choice were found and verified by assocmem.book.live_instances.

(function (scope) {
  "use strict";
  const { LEVEL, DONE, instance, scores, margins, failing, range, outerProducts, clipped, training, anyMemory } = scope.memories;
  const { element, say, widget } = scope.widgets;
  const MEMORIES = ["outer products", "equal signals", "clipped", "trained", "any memory"];
  const [OUTER, EQUAL, CLIPPED, TRAINED, ANY] = [1, 2, 3, 4, 5];
  const LEVELS = 24, LEFT = 20, MARKS = 15, BARS = 84, FOOT = 20;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // A square of cells and a bar a key below, as wide as its place, at most 460.
  function picture(host, redraw) {
    const svg = element("svg:svg", { role: "img", class: "am-chart", id: "widget-live_memory-chart" });
    const legend = element("ul", { class: "am-legend" }), note = element("p", { class: "am-live-note" });
    const figure = element("figure", { class: "am-figure am-live-figure" }, svg, note, legend);
    host.append(figure);
    let width = 0;
    new ResizeObserver(() => width && Math.abs(width - figure.clientWidth) > 1 && redraw()).observe(figure);

    // shown: {n, values (a cell each, -1 to 1), outlined: [[j, i]], discs: [[j, i, share]], within, bars, crosses, bar, text, legend}
    return { note, draw({ n, values, outlined = [], discs = [], within = n, bars, crosses = [], name, text, keys }) {
      width = figure.clientWidth || 400;
      const side = Math.min(width, 460) - LEFT - 1, height = side + MARKS + BARS + FOOT;
      const edge = (k) => Math.round((k * side) / n), gap = side / n > 11 ? 1 : 0;
      const box = (j, i, inset = 0) => `M${LEFT + edge(i) + inset} ${edge(j) + inset}H${LEFT + edge(i + 1) - gap - inset}V${edge(j + 1) - gap - inset}H${LEFT + edge(i) + inset}Z`;
      const parts = [];
      const path = (d, look) => d && parts.push(element("svg:path", { d, ...look }));
      const levels = {};
      for (let j = 0; j < n; j++) {
        for (let i = 0; i < n; i++) {
          const level = values ? Math.round(LEVELS * values[j * n + i]) : j < within && i < within ? "none" : "out";
          levels[level] = (levels[level] || "") + box(j, i);
        }
      }
      for (const [level, d] of Object.entries(levels)) {
        const x = Number(level);
        path(d, Number.isNaN(x) ? { class: `am-cell-${level}` } : { class: x > 0 ? "am-cell-high" : "am-cell-low", "fill-opacity": (Math.abs(x) / LEVELS).toFixed(3) });
      }
      const thick = side / n > 16 ? 2 : side / n > 9 ? 1.5 : 1.1;
      path(range(within).map((i) => box(i, i, thick / 2)).join(""), { class: "am-cell-own", "stroke-width": thick });
      path(outlined.map(([j, i]) => box(j, i, thick / 2)).join(""), { class: "am-cell-rival", "stroke-width": thick + 0.5 });
      const largest = Math.max(...discs.map(([, , share]) => share)), full = (0.5 * side) / n - 0.5;
      for (const [j, i, share] of discs) {
        const centre = (k) => (edge(k) + edge(k + 1) - gap) / 2;
        parts.push(element("svg:circle", { class: "am-mark am-dot am-any-memory", cx: LEFT + centre(i), cy: centre(j), r: Math.max(1.1, full * Math.sqrt(share / largest)).toFixed(1) }));
      }
      const label = (words, x, y, more) => parts.push(element("svg:text", { x, y, "text-anchor": "middle", ...more }, words));
      const upright = (words, y) => label(words, 0, 0, { transform: `translate(11 ${y}) rotate(-90)` });
      upright("targets", side / 2);
      label("keys", LEFT + side / 2, height - 4);
      if (bars) {
        const top = Math.max(0, ...bars), low = Math.min(0, ...bars), scale = BARS / (top - low || 1), zero = side + MARKS + top * scale;
        upright(name, side + MARKS + BARS / 2);
        const bar = (i) => {
          const from = LEFT + edge(i), to = LEFT + edge(i + 1) - Math.max(1, gap), end = zero - bars[i] * scale;
          return `M${from} ${zero.toFixed(1)}H${to}V${end.toFixed(1)}H${from}Z`;
        };
        const those = (sign) => range(n).filter((i) => sign(bars[i])).map(bar).join("");
        path(those((x) => x > 0), { class: values ? "am-bar-up" : "am-bar-proof" });
        path(those((x) => x < 0), { class: "am-bar-down" });
        parts.push(element("svg:line", { class: "am-live-zero", x1: LEFT, x2: LEFT + side, y1: zero, y2: zero }));
        const r = Math.min(4, (0.38 * side) / n);
        path(crosses.map((i) => {
          const x = LEFT + (edge(i) + edge(i + 1) - gap) / 2, y = side + MARKS / 2 - 0.5;
          return `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
        }).join(""), { class: "am-live-cross" });
      }
      svg.setAttribute("viewBox", `0 0 ${LEFT + side + 1} ${height}`);
      svg.setAttribute("width", LEFT + side + 1);
      svg.setAttribute("height", height);
      svg.setAttribute("aria-label", text);
      svg.replaceChildren(...parts);
      const swatch = {
        high: () => element("svg:path", { d: "M2 2H12V12H2Z", class: "am-cell-high" }), low: () => element("svg:path", { d: "M2 2H12V12H2Z", class: "am-cell-low" }),
        own: () => element("svg:path", { d: "M2 2H12V12H2Z", class: "am-cell-own", "stroke-width": 2 }),
        rival: () => element("svg:path", { d: "M2 2H12V12H2Z", class: "am-cell-rival", "stroke-width": 2.5 }),
        cross: () => element("svg:path", { d: "M3 3L11 11M3 11L11 3", class: "am-live-cross" }),
        disc: () => element("svg:circle", { cx: 7, cy: 7, r: 5, class: "am-mark am-dot am-any-memory" }),
      };
      legend.replaceChildren(...keys.map(([kind, words]) => element("li", {}, element("svg:svg", { width: 14, height: 14, "aria-hidden": "true" }, swatch[kind]()), " ", words)));
    } };
  }

  widget("live_memory", {
    settings: {
      n: { label: "pairs n", value: 23, low: 2, high: 40, integer: true },
      d: { label: "dimension d", value: 10, low: 2, high: 12, integer: true },
      memory: { label: "memory", value: OUTER, low: OUTER, high: ANY, integer: true },
      draw: { label: "vectors", value: 1, low: 1, high: 3, integer: true },
    },
    presets: [
      { name: "watch it train", values: { memory: TRAINED } },
      { name: "as many as fit", values: { n: 31, memory: ANY } },
      { name: "one pair too many", values: { n: 32, memory: ANY } },
    ],
    explorer: ({ n, d }) => ["explore_capacity", { n: Math.max(n, 20), d, r: 0 }],
    build(place) {
      const { host, body } = place;
      body.classList.add("am-live");
      for (const name of ["memory", "draw"]) { // set by the choices below
        const row = host.querySelector(`#set-live_memory-${name}`).closest(".am-setting");
        row.classList.add("visually-hidden");
        row.setAttribute("aria-hidden", "true");
        for (const input of row.querySelectorAll("input")) input.setAttribute("tabindex", "-1");
      }
      const choices = MEMORIES.map((name, at) => {
        const input = element("input", { type: "radio", name: "live_memory-choice", value: at + 1 });
        const count = element("span", { class: "am-live-count" }), share = element("span", { class: "am-live-share" });
        input.addEventListener("change", () => place.set({ memory: at + 1 }));
        return { input, count, share, label: element("label", { class: "am-live-choice" }, input, element("span", {}, name), count, share) };
      });
      const again = element("button", { type: "button", class: "am-live-again" });
      const list = element("fieldset", { class: "am-live-choices" }, element("legend", {}, "Memory, and how many keys it retrieves"), ...choices.map(({ label }) => label));
      body.append(element("div", { class: "am-live-side" }, list, again));
      let now = null, run = 0, redraw = () => {};
      again.addEventListener("click", () => place.set({ draw: (now.draw % 3) + 1 }));
      const chart = picture(body, () => redraw());

      const counted = (memory, kept) => {
        const { count, share } = choices[memory - 1], { n } = now;
        count.textContent = kept === null ? "does not exist" : kept === undefined ? "…" : `${kept} of ${n}`;
        share.style.setProperty("--share", `${(100 * (kept || 0)) / n}%`);
      };

      // What the scores of a memory are divided by: nothing, or their mean signal where they have no scale of their own.
      const show = (S, unit = 1) => {
        const { n } = now, found = margins(S, n), kept = n - failing(found), reach = Math.max(...S.map(Math.abs)) || 1;
        const lost = range(n).filter((i) => found[i].margin <= 0), untouched = !S.some((x) => x);
        redraw = () => chart.draw({
          n, values: S.map((x) => x / reach), bars: found.map(({ margin }) => margin / unit), name: "margin",
          outlined: untouched ? [] : lost.map((i) => [found[i].rival, i]), crosses: lost,
          text: `Scores of ${n} targets for ${n} keys, and below the margin of each key: ${kept} keys have their own target in first place, ${n - kept} do not.`,
          keys: [["high", "high score"], ["low", "low score"], ["own", "signal"], ["rival", "competitor that beats it"], ["cross", "key not retrieved"]],
        });
        redraw();
        host.dataset.retrieved = kept;
        host.dataset.margin = Math.min(...found.map(({ margin }) => margin)) / unit;
        return kept;
      };
      const nothing = () => {
        redraw = () => chart.draw({ n: now.n, text: "An empty square: there is no such memory.", keys: [] });
        redraw();
      };
      const meanSignal = (S, n) => range(n).reduce((sum, i) => sum + S[i * n + i] / n, 0);

      // Training, watched or not: a step a frame at first, then more; one after another where nobody watches.
      const train = (pairs, watched) => {
        const state = training(pairs), mine = ++run;
        const picture = () => {
          const S = scores(pairs, state.W), unit = meanSignal(S, pairs.n);
          const kept = show(S, unit > 0 ? unit : 1);
          chart.note.textContent = `Step ${state.steps}, loss ${say(state.loss, 2)}`;
          Object.assign(host.dataset, { loss: state.loss, steps: state.steps });
          return kept;
        };
        const end = () => {
          const kept = pairs.n - failing(margins(scores(pairs, state.W), pairs.n));
          counted(TRAINED, kept);
          host.dataset.trained = kept;
          if (!watched) return;
          picture();
          place.say(state.loss < DONE
            ? `Gradient descent on the cross-entropy loss, from a matrix of zeros: after ${state.steps} steps the loss is below ${DONE}, and all ${kept} keys are retrieved.`
            : `Gradient descent on the cross-entropy loss, from a matrix of zeros: after ${state.steps} steps the loss is ${say(state.loss, 2)}, and ${kept} of ${pairs.n} keys are retrieved.`, ...ratio());
        };
        const seen = watched && !still.matches;
        const go = () => {
          if (mine !== run) return;
          const began = performance.now();
          for (let k = 0; !state.done && (seen ? k < (state.steps < 40 ? 1 : 5) : performance.now() - began < 8); k++) state.step();
          if (state.done) return end();
          if (seen) picture();
          (seen ? requestAnimationFrame : setTimeout)(go);
        };
        finish = () => {
          run++;
          while (!state.done) state.step();
          end();
        };
        if (seen) (picture(), place.say("Gradient descent on the cross-entropy loss is running."), requestAnimationFrame(go));
        else setTimeout(go, watched ? 0 : 200);
      };
      let finish = () => {};
      window.addEventListener("beforeprint", () => finish());

      const ratio = () => [` The ratio d²/(n log n) is ${say(now.d ** 2 / (now.n * Math.log(now.n)), 3)}.`];
      const all = (kept) => (kept === now.n ? `all ${kept} keys` : `${kept} of ${now.n} keys`);

      return (values) => {
        now = { ...values };
        const { n, d, memory, draw } = now, pairs = instance(n, d, draw);
        choices.forEach(({ input }, at) => { input.checked = at + 1 === memory; });
        again.textContent = `Other vectors (now ${draw} of 3)`;
        chart.note.textContent = "";
        for (const name of ["loss", "steps", "trained", "retrieved", "margin", "rest"]) delete host.dataset[name];
        const W = { [OUTER]: outerProducts(pairs), [EQUAL]: clipped(pairs, 0), [CLIPPED]: clipped(pairs) };
        const S = {};
        for (const at of [OUTER, EQUAL, CLIPPED]) {
          const found = at === OUTER ? W[at] : W[at] && W[at].W;
          if (found) S[at] = scores(pairs, found);
          counted(at, found ? n - failing(margins(S[at], n)) : null);
        }
        counted(TRAINED);
        const any = anyMemory(pairs);
        host.dataset.verdict = any.proof ? "impossible" : "possible";
        counted(ANY, any.proof ? 0 : n);
        if (any.proof) choices[ANY - 1].count.textContent = `never all ${n}`;
        train(pairs, memory === TRAINED);
        if (memory < TRAINED && !S[memory]) {
          nothing();
          place.say(`There are ${n} keys and the matrix has only d² = ${d * d} numbers: no matrix gives all signals the value 1.`, ...ratio());
        } else if (memory < TRAINED) {
          const kept = show(S[memory]), { rounds } = W[memory];
          const many = n <= d ? "With no more pairs than dimensions some matrix makes all signals 1 and all other scores 0. " : "";
          place.say(memory === OUTER ? `The sum of the outer products of targets and keys retrieves ${all(kept)}.`
            : memory === EQUAL ? `${many}${many ? "It retrieves" : "All signals are 1, and of the matrices that do so this one has the least sum of squared scores. It retrieves"} ${all(kept)}.`
            : `${many}${many ? "It retrieves" : rounds ? `Signals stay 1, and competitors above ${LEVEL} are pulled down towards it, ${rounds === 1 ? "once" : "twice"}. This retrieves` : failing(margins(S[memory], n)) ? `More than d² competitors are above ${LEVEL}, too many to be pulled down. Equal signals alone retrieve` : "Equal signals leave nothing to clip and retrieve"} ${all(kept)}.`, ...ratio());
        } else if (memory === ANY && !any.proof) {
          const unit = meanSignal(any.scores, n);
          show(any.scores, unit);
          place.say(`Some memory retrieves all ${n} keys, and here is one: its smallest margin is ${say(Number(host.dataset.margin), 2)} of its mean signal. All its numbers are integers, so that nothing is rounded. With these vectors in ${d} dimensions it can be done for the first ${any.most} pairs and not for more.`, ...ratio());
        } else if (memory === ANY) {
          const bars = zeros(n), { proof, weights, most, rest } = any;
          proof.forEach(([, i], a) => { bars[i] += weights[a]; });
          const alone = proof.every(([, i]) => i === proof[0][1]);
          redraw = () => chart.draw({
            n, discs: proof.map(([j, i], a) => [j, i, weights[a]]), within: most + 1, bars: [...bars], name: "weight",
            text: `A proof that no matrix retrieves all keys: ${proof.length} discs on the cells of the comparisons that it combines, and below the weight of each key.`,
            keys: [["disc", "comparison of the proof; its area is the weight"], ["own", "the key's own target"]],
          });
          redraw();
          host.dataset.rest = rest;
          host.dataset.least = Math.min(...weights);
          place.say(`No matrix retrieves all ${n} keys. Each disc, in row j and column i, compares target i with its competitor j. Weighted by the discs, the matrices (uᵢ − uⱼ)vᵢ′ sum to zero (largest entry here: ${say(rest, 2)}, which is rounding). A matrix W that retrieves would make every comparison uᵢ′Wvᵢ − uⱼ′Wvᵢ positive, and their weighted sum would not be zero.`,
            alone ? ` All of these are about one key: its target is an average of other targets, so it never scores highest.` : "",
            most + 1 < n ? ` The first ${most + 1} pairs are enough for this proof.` : ` Without the last pair it can be done.`, ...ratio());
        }
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
