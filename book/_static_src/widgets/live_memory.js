// needs: widgets/data/live_memory.js explorer/linear.js explorer/memories.js
// A memory of the opening page: its scores, which keys it retrieves, and what any memory could do with the same
// vectors. The memory and the proof of the last choice were found and verified by assocmem.book.live_instances.

(function (scope) {
  "use strict";
  const { LEVEL, DONE, instance, scores, margins, failing, range, outerProducts, clipped, training, anyMemory } = scope.memories;
  const { widgets } = scope, { element, say } = widgets;
  const MEMORIES = ["outer products", "equal signals", "clipped", "trained", "any memory"];
  const [OUTER, EQUAL, CLIPPED, TRAINED, ANY] = [1, 2, 3, 4, 5], DRAWS = scope.liveInstances.draws.length;
  const WIDEST = 460, LEFT = 20, MARKS = 15, BARS = 84, FOOT = 20; // pixels of the picture
  const LEVELS = 24, BRIGHTEST = 0.75; // shades, and the share of the largest score that has the full colour
  const SLOW = 40; // steps of training that are shown one by one
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const SHAPES = {
    high: ["path", { class: "am-cell-high" }],
    low: ["path", { class: "am-cell-low" }],
    own: ["path", { class: "am-cell-own", "stroke-width": 2 }],
    rival: ["path", { class: "am-cell-rival", "stroke-width": 2.5 }],
    cross: ["path", { class: "am-live-cross", d: "M3 3L11 11M3 11L11 3" }],
    disc: ["circle", { class: "am-mark am-dot am-any-memory", cx: 7, cy: 7, r: 5 }],
  };
  const SCORES = [["high", "high score"], ["low", "low score"], ["own", "signal"], ["rival", "best competitor, where it beats the signal"], ["cross", "key not retrieved"]];
  const PROOF = [["disc", "comparison, its area the weight"], ["own", "the key's own target"]];

  // A square of cells, and a bar a key below it, as wide as its place.
  function picture(host, redraw) {
    const svg = element("svg:svg", { role: "img", class: "am-chart", id: "widget-live_memory-chart" });
    const legend = element("ul", { class: "am-legend am-live-legend" }), figure = element("figure", { class: "am-figure am-live-figure" }, svg);
    host.append(figure, legend);
    let width = 0;
    new ResizeObserver(() => width && Math.abs(width - figure.clientWidth) > 1 && redraw()).observe(figure);

    // `values` of the cells from -1 to 1; `outlined` cells [j, i]; `discs` [j, i, share], within the first keys;
    // `bars` called `name`; `crosses` over some of them; a `note`, or what `at(j, i)` says of the cell that is pointed
    // at; `text` for those who do not see it; and `keys` to the signs.
    return ({ n, values, outlined = [], discs = [], within = n, bars, crosses = [], name, note = "", at, text, keys }) => {
      width = figure.clientWidth || 400;
      const side = Math.min(width, WIDEST) - LEFT - 1, pitch = side / n, gap = pitch > 6 ? 1 : 0, foot = side + MARKS + BARS;
      const edge = (k) => LEFT + Math.round(k * pitch), middle = (k) => (edge(k) + edge(k + 1) - gap) / 2;
      const box = (j, i, inset = 0) => {
        const [left, right, top, low] = [edge(i) + inset, edge(i + 1) - gap - inset, edge(j) - LEFT + inset, edge(j + 1) - LEFT - gap - inset];
        return `M${left} ${top}H${right}V${low}H${left}Z`;
      };
      const parts = [];
      const path = (d, look) => d && parts.push(element("svg:path", { d, ...look }));
      const label = (words, more) => parts.push(element("svg:text", { "text-anchor": "middle", ...more }, words));
      const upright = (words, y) => label(words, { transform: `translate(11 ${y}) rotate(-90)` });

      const shades = {}; // one path for all cells of a shade
      for (let j = 0; j < n; j++) {
        for (let i = 0; i < n; i++) {
          const shade = values ? Math.round(LEVELS * values[j * n + i]) : j < within && i < within ? "none" : "out";
          shades[shade] = (shades[shade] || "") + box(j, i);
        }
      }
      for (const [shade, d] of Object.entries(shades)) {
        const x = Number(shade), kind = x > 0 ? "high" : x <= 0 ? "low" : shade;
        path(d, { class: `am-cell-${kind}`, "fill-opacity": values && (Math.abs(x) / LEVELS).toFixed(3) });
      }
      const thick = pitch > 16 ? 2 : pitch > 9 ? 1.5 : 1.1;
      path(range(within).map((i) => box(i, i, thick / 2)).join(""), { class: "am-cell-own", "stroke-width": thick });
      path(outlined.map(([j, i]) => box(j, i, thick / 2)).join(""), { class: "am-cell-rival", "stroke-width": thick + 0.5 });
      const largest = Math.max(...discs.map(([, , share]) => share));
      for (const [j, i, share] of discs) {
        const r = Math.max(1.1, 0.8 * pitch * Math.sqrt(share / largest)).toFixed(1);
        parts.push(element("svg:circle", { class: "am-mark am-dot am-any-memory", cx: middle(i), cy: middle(j) - LEFT, r }));
      }

      if (bars) {
        const high = Math.max(0, ...bars), scale = BARS / (high - Math.min(0, ...bars) || 1), zero = side + MARKS + high * scale;
        const bar = (i) => `M${edge(i)} ${zero.toFixed(1)}H${edge(i + 1) - 1}V${(zero - bars[i] * scale).toFixed(1)}H${edge(i)}Z`;
        path(range(n).filter((i) => bars[i] > 0).map(bar).join(""), { class: values ? "am-bar-up" : "am-bar-proof" });
        path(range(n).filter((i) => bars[i] < 0).map(bar).join(""), { class: "am-bar-down" });
        parts.push(element("svg:line", { class: "am-live-zero", x1: LEFT, x2: LEFT + side, y1: zero, y2: zero }));
        const r = Math.min(4, 0.38 * pitch), y = side + MARKS / 2 - 0.5;
        const cross = (x) => `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
        path(crosses.map(middle).map(cross).join(""), { class: "am-live-cross" });
        upright(name, side + MARKS + BARS / 2);
      }
      upright("targets", side / 2);
      label("keys", { x: LEFT, y: foot + FOOT - 4, "text-anchor": "start" });
      const hint = element("svg:text", { class: "am-live-hint", x: LEFT + side, y: foot + FOOT - 4, "text-anchor": "end" }, note);
      parts.push(hint);
      svg.onpointermove = svg.onpointerdown = (event) => {
        const { left, top, width: seen } = svg.getBoundingClientRect(), scale = (LEFT + side + 1) / seen;
        const [i, j] = [((event.clientX - left) * scale - LEFT) / pitch, ((event.clientY - top) * scale) / pitch].map(Math.floor);
        hint.textContent = (i >= 0 && j >= 0 && i < n && j < n && at && at(j, i)) || note;
      };
      svg.onpointerleave = () => { hint.textContent = note; };

      const about = { viewBox: `0 0 ${LEFT + side + 1} ${foot + FOOT}`, width: LEFT + side + 1, height: foot + FOOT, "aria-label": text };
      for (const [key, x] of Object.entries(about)) svg.setAttribute(key, x);
      svg.replaceChildren(...parts);
      legend.replaceChildren(...keys.map(([kind, words]) => {
        const [shape, look] = SHAPES[kind], sign = element(`svg:${shape}`, { d: shape === "path" && "M2 2H12V12H2Z", ...look });
        return widgets.explained(sign, words, 14, 14);
      }));
    };
  }

  // --- what is said --------------------------------------------------------------------------------------------

  const whole = (n, kept) => (kept < n ? `${kept} of ${n} keys` : n === 2 ? "both keys" : `all ${n} keys`);
  const ratio = (n, d) => ` With d\u00a0=\u00a0${d} the ratio d²/(n\u00a0log\u00a0n) is ${say(d ** 2 / (n * Math.log(n)), 3)}.`;

  function ofWritten(memory, n, d, kept, rounds) {
    if (memory === OUTER) return `The sum of the outer products of targets and keys retrieves ${whole(n, kept)}.`;
    if (n <= d) return `With no more pairs than dimensions some matrix makes all signals 1 and all other scores 0. It retrieves ${whole(n, kept)}.`;
    if (memory === EQUAL) return `All signals are 1, and of the matrices that do so this one has the least sum of squared scores. It retrieves ${whole(n, kept)}.`;
    if (rounds) return `Signals stay 1, and competitors above ${LEVEL} are pulled down towards ${LEVEL}, ${["once", "twice"][rounds - 1]}. This retrieves ${whole(n, kept)}.`;
    if (kept === n) return `Equal signals leave nothing to clip and retrieve ${whole(n, kept)}.`;
    return `More competitors are above ${LEVEL} than the matrix has numbers, too many to be pulled down. Equal signals alone retrieve ${whole(n, kept)}.`;
  }

  function ofTrained({ steps, loss }, n, kept) {
    const found = `${loss < DONE ? `below ${DONE}` : say(loss, 2)}, and ${whole(n, kept)} ${kept === 1 ? "is" : "are"} retrieved.`;
    return `Gradient descent on the cross-entropy loss, from a matrix of zeros: after ${steps} steps the loss is ${found}`;
  }

  function ofFound(n, d, most, margin) {
    return `Some memory retrieves all ${n} keys, and here is one: its smallest margin is ${say(margin, 2)} of its mean signal. `
      + "All its numbers are integers, so that nothing is rounded. "
      + `In ${d} dimensions the first ${most} of these pairs fit, and no more.`;
  }

  function ofProof(n, { proof, rest, most }) {
    const alone = proof.every(([, i]) => i === proof[0][1]);
    return `No matrix retrieves all ${n} keys. A disc in row j and column i compares target i with its competitor j. `
      + `With the discs as weights, the matrices (uᵢ − uⱼ)vᵢᵀ add up to zero, here to ${say(rest, 1).replaceAll(" ", "\u00a0")} by rounding. `
      + "But a W that retrieves would make every difference uᵢᵀWvᵢ − uⱼᵀWvᵢ positive, and with them their weighted sum. "
      + (alone ? "All discs are of one key: its target is an average of other targets, and an average never scores above all of them. " : "")
      + (most + 1 < n ? `The proof needs the first ${most + 1} pairs; ${most} fit.` : `The first ${most} fit.`);
  }

  // --- the widget ----------------------------------------------------------------------------------------------

  // Radio buttons for the memories, each with a count, in place of the sliders of two settings.
  function choices(place) {
    for (const name of ["memory", "draw"]) place.instead(name);
    const rows = MEMORIES.map((name, at) => {
      const input = element("input", { type: "radio", name: "live_memory-choice", value: at + 1 });
      const count = element("span", { class: "am-live-count" }), share = element("span", { class: "am-live-share" });
      input.addEventListener("change", () => place.set({ memory: at + 1 }));
      return { input, count, share, label: element("label", { class: "am-live-choice" }, input, element("span", {}, name), count, share) };
    });
    const again = element("button", { type: "button", class: "am-live-again" });
    const list = element("fieldset", { class: "am-live-choices" }, element("legend", {}, "Memory, and how many keys it retrieves"));
    list.append(...rows.map(({ label }) => label));
    place.body.classList.add("am-live");
    place.body.append(element("div", { class: "am-live-side" }, list, again));
    let draw = 1;
    again.addEventListener("click", () => place.set({ draw: (draw % DRAWS) + 1 }));
    return {
      choose(memory, drawn) {
        draw = drawn;
        rows.forEach(({ input }, at) => { input.checked = at + 1 === memory; });
        again.textContent = `Other vectors (now ${draw} of ${DRAWS})`;
      },
      count(memory, words, share) {
        rows[memory - 1].count.textContent = words;
        rows[memory - 1].share.style.setProperty("--share", `${100 * share}%`);
      },
    };
  }

  widgets.widget("live_memory", {
    settings: {
      n: { label: "pairs n", value: 23, low: 2, high: 40, integer: true },
      d: { label: "dimension d", value: 10, low: 2, high: 12, integer: true },
      memory: { label: "memory", value: OUTER, low: OUTER, high: ANY, integer: true },
      draw: { label: "vectors", value: 1, low: 1, high: DRAWS, integer: true },
    },
    presets: [
      { name: "train it", values: { memory: TRAINED } },
      { name: "most that fit", values: { n: 31, memory: ANY } },
      { name: "one too many", values: { n: 32, memory: ANY } },
    ],
    explorer: ({ n, d }) => ["explore_capacity", { n: Math.max(n, 20), d, r: 0 }],
    build(place) {
      const { host } = place, list = choices(place);
      let drawn = null, current = 0, finish = () => {};
      const chart = picture(place.body, () => drawn && chart(drawn));
      const draw = (content) => chart(drawn = content);
      window.addEventListener("beforeprint", () => finish());

      // The scores of a memory, over a unit: one, or the mean signal of a memory that has no scale of its own.
      function show(S, n, unit, note) {
        const found = margins(S, n), lost = range(n).filter((i) => found[i].margin <= 0), kept = n - lost.length;
        const reach = BRIGHTEST * Math.max(...S.map(Math.abs)) || 1, bars = found.map(({ margin }) => margin / unit);
        draw({
          n, values: S.map((x) => Math.max(-1, Math.min(1, x / reach))), bars, name: "margin", note, keys: SCORES, crosses: lost,
          at: (j, i) => `target ${j + 1} for key ${i + 1}: ${say(S[j * n + i] / unit, 3)}${i === j ? ", its signal" : ""}`,
          outlined: S.some((x) => x) ? lost.map((i) => [found[i].rival, i]) : [],
          text: `Scores of ${n} targets for ${n} keys, and below them the margin of each key: ${whole(n, kept)} have their own target in first place.`,
        });
        Object.assign(host.dataset, { retrieved: kept, margin: Math.min(...bars) });
        return kept;
      }
      const meanSignal = (S, n) => range(n).reduce((sum, i) => sum + S[i * n + i] / n, 0);

      // Training, watched or not: in pieces of a few milliseconds, and in pictures where somebody may see it move.
      function train(pairs, watched, answer) {
        const state = training(pairs), mine = ++current, { n } = pairs, moving = watched && !still.matches;
        const frame = () => {
          const S = scores(pairs, state.W), unit = meanSignal(S, n);
          show(S, n, unit > 0 ? unit : 1, `step ${state.steps}, loss ${say(state.loss, 2)}`);
          Object.assign(host.dataset, { loss: state.loss, steps: state.steps });
        };
        const end = () => {
          const kept = n - failing(margins(scores(pairs, state.W), n));
          list.count(TRAINED, `${kept} of ${n}`, kept / n);
          host.dataset.trained = kept;
          if (watched) (frame(), answer(ofTrained(state, n, kept)));
        };
        const go = () => {
          if (mine !== current) return;
          const began = performance.now(), steps = state.steps < SLOW ? 1 : 5;
          for (let k = 0; !state.done && (moving ? k < steps : performance.now() - began < 8); k++) state.step();
          if (state.done) return end();
          if (moving) frame();
          (moving ? requestAnimationFrame : setTimeout)(go);
        };
        finish = () => {
          current++;
          while (!state.done) state.step();
          end();
        };
        if (moving) frame();
        if (watched) place.say("Gradient descent on the cross-entropy loss is running.");
        (moving ? requestAnimationFrame : setTimeout)(go, watched ? 0 : 200);
      }

      return ({ n, d, memory, draw: number }) => {
        const pairs = instance(n, d, number), equal = clipped(pairs), any = anyMemory(pairs), S = {};
        const answer = (words) => place.say(words + ratio(n, d));
        for (const name of ["loss", "steps", "trained", "retrieved", "margin", "rest", "least"]) delete host.dataset[name];
        list.choose(memory, number);
        for (const [at, W] of [[OUTER, outerProducts(pairs)], [EQUAL, equal && equal.equal], [CLIPPED, equal && equal.W]]) {
          S[at] = W && scores(pairs, W);
          const kept = W ? n - failing(margins(S[at], n)) : 0;
          list.count(at, W ? `${kept} of ${n}` : "does not exist", kept / n);
        }
        list.count(TRAINED, "…", 0);
        list.count(ANY, any.proof ? `never all ${n}` : `${n} of ${n}`, any.proof ? 0 : 1);
        host.dataset.verdict = any.proof ? "impossible" : "possible";
        train(pairs, memory === TRAINED, answer);
        if (memory === ANY && any.proof) {
          const bars = range(n).map((i) => any.proof.reduce((sum, [, key], a) => sum + (key === i ? any.weights[a] : 0), 0));
          draw({
            n, discs: any.proof.map(([j, i], a) => [j, i, any.weights[a]]), within: any.most + 1, bars, name: "weight", keys: PROOF,
            at: (j, i) => {
              const a = any.proof.findIndex(([row, column]) => row === j && column === i);
              return a < 0 ? "" : `target ${i + 1} against ${j + 1} for key ${i + 1}: weight ${say(any.weights[a], 2)}`;
            },
            text: `A proof that no matrix retrieves all keys: ${any.proof.length} discs on the comparisons that it combines, and the weight of each key.`,
          });
          Object.assign(host.dataset, { rest: any.rest, least: Math.min(...any.weights) });
          answer(ofProof(n, any));
        } else if (memory === ANY) {
          show(any.scores, n, meanSignal(any.scores, n));
          answer(ofFound(n, d, any.most, Number(host.dataset.margin)));
        } else if (memory < TRAINED && S[memory]) {
          answer(ofWritten(memory, n, d, show(S[memory], n, 1), equal ? equal.rounds : 0));
        } else if (memory < TRAINED) {
          draw({ n, within: 0, text: "A square of empty cells, since such a memory does not exist.", keys: [] });
          answer(`There are ${n} keys, and the matrix has only d² = ${d * d} numbers: no matrix gives all signals the value 1.`);
        }
      };
    },
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
