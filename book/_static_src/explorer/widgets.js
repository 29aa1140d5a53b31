// What the explorer pages are made of: labelled numbers with sliders, charts, and tables of readings.

(function (scope) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  function element(name, attributes = {}, ...children) {
    const node = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== false) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // A number in a few digits, as a reader would write it.
  function say(x, digits = 4) {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e6 || size < 1e-3) {
      const [digit, power] = x.toExponential(digits - 1).split("e");
      const mantissa = String(Number(digit));
      const raised = String(Number(power)).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻");
      return `${mantissa === "1" ? "" : mantissa === "-1" ? "−" : `${mantissa} · `}10${raised}`.replace("-", "−");
    }
    const text = Number(x.toPrecision(digits)).toString().replace("-", "−");
    return size >= 1e4 ? text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") : text;
  }

  // Words with subscripts: α_c becomes α with a small c, and d_out d with a small word.
  const rich = (words) => words.split(/_(in|out|[\p{L}\d])/u).map((part, i) => (i % 2 ? element("sub", {}, part) : part));

  // The same without them, for places that have no markup.
  const plain = (words) => words.replaceAll("_", "");

  // An integer, all of it.
  const whole = (n) => (Math.abs(n) >= 1e4 ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f") : String(n));

  // "An" before eight, eleven and eighteen, however many thousands of them; "A" before all other integers.
  const article = (n) => {
    const leading = Math.floor(n / 1000 ** Math.floor(Math.log10(n) / 3 + 1e-9)); // of the group that is said first
    return String(leading).startsWith("8") || leading === 11 || leading === 18 ? "An" : "A";
  };

  const percent = (p) => (p > 0.9995 ? "more than 99.9%" : p < 0.0005 ? "less than 0.1%" : `${say(100 * p, 3)}%`);

  // Two probabilities in ascending order, as one range.
  function between(p, q) {
    if (percent(p) === percent(q)) return percent(p);
    if (p < 0.0005 && q > 0.9995) return "anything";
    if (p < 0.0005) return `at most ${percent(q)}`;
    return q > 0.9995 ? `at least ${percent(p)}` : `${percent(p)} to ${percent(q)}`;
  }

  // Two numbers that differ, in as many digits as it takes to see it.
  function apart(x, y) {
    let digits = 4;
    while (digits < 15 && say(x, digits) === say(y, digits)) digits++;
    return [say(x, digits), say(y, digits)];
  }

  // --- numbers with sliders --------------------------------------------------------------------------------

  // The settings of a page: one row each of a name, a number and a slider; kept in the address after "?", so
  // that the page's own anchors do not lose them. An address that has them after "#" is understood as well.
  // A setting is {label, value, low, high, log, integer}; `changed` is told all values whenever one changes.
  // A number that is out of range is refused in words, and the last good one stays in force.
  // `presets` are named settings, [{name, values, keep}], each with a button: what it does not name goes back to
  // where it began, but for the settings that it keeps. `about` is for places that share a page:
  // a `prefix` of the names in the address, an `anchor` for links, and a `label`.
  function settings(host, specs, changed, presets = [], about = {}) {
    const { prefix = "", anchor = "", label = "Settings" } = about;
    const values = {}, rows = {}, key = (name) => (prefix ? `${prefix}.${name}` : name);
    const inHash = () => (location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : new URLSearchParams());
    const asked = new URLSearchParams([...new URLSearchParams(location.search), ...inHash()]);
    const form = element("form", { class: "am-settings", "aria-label": label });
    form.addEventListener("submit", (event) => event.preventDefault());

    const address = () => {
      const query = new URLSearchParams(location.search);
      for (const [name, x] of Object.entries(values)) query.set(key(name), Number(x.toPrecision(12)));
      return `${location.pathname}?${query}${location.hash.includes("=") ? "" : location.hash}`;
    };
    const remember = () => {
      pressed();
      history.replaceState(history.state, "", address());
    };
    const fits = (spec, x) => Number.isFinite(x) && x >= spec.low && x <= spec.high && (!spec.integer || Number.isInteger(x));
    const rounded = (spec, x) => {
      const near = spec.integer ? Math.round(x) : Number(x.toPrecision(4));
      return Math.min(spec.high, Math.max(spec.low, near));
    };

    function set(name, x, from) {
      const { spec, number, slider, trouble } = rows[name];
      const ok = fits(spec, x);
      trouble.textContent = ok ? "" : `${plain(spec.label)}: ${spec.integer ? "an integer" : "a number"} from ${say(spec.low)} to ${say(spec.high)}`;
      number.setAttribute("aria-invalid", String(!ok));
      if (!ok) return;
      values[name] = x;
      if (from !== number) number.value = Number(x.toPrecision(12));
      if (from !== slider) slider.value = spec.log ? Math.log10(x) : x;
      slider.setAttribute("aria-valuetext", say(x));
    }

    // One press of a key is one step of the slider, and never less than what its number can show.
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    function press(name, event) {
      const { spec, slider } = rows[name], step = steps[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const size = Number(slider.step) * step, x = values[name];
      let next = Number.isFinite(step) ? rounded(spec, spec.log ? x * 10 ** size : x + size) : step > 0 ? spec.high : spec.low;
      if (spec.integer && Number.isFinite(step) && Math.abs(next - x) < Math.abs(step)) next = Math.min(spec.high, Math.max(spec.low, x + step));
      set(name, next);
      remember();
      changed(values, name);
    }

    for (const [name, spec] of Object.entries(specs)) {
      const id = prefix ? `set-${prefix}-${name}` : `set-${name}`;
      const number = element("input", { id, type: "number", min: spec.low, max: spec.high, step: spec.integer ? 1 : "any", "aria-describedby": `${id}-note`, inputmode: "decimal" });
      const ends = spec.log ? [Math.log10(spec.low), Math.log10(spec.high)] : [spec.low, spec.high];
      const slider = element("input", { id: `${id}-slider`, type: "range", min: ends[0], max: ends[1], step: (ends[1] - ends[0]) / 1000, "aria-label": `${plain(spec.label)}, slider` });
      slider.value = ends[1];
      const top = slider.value; // which rounding may put one step below the end
      const pulled = () => (slider.value === top ? spec.high : spec.log ? 10 ** Number(slider.value) : Number(slider.value));
      const trouble = element("span", { class: "am-trouble", id: `${id}-note`, role: "status" });
      rows[name] = { spec, number, slider, trouble };
      const start = asked.has(key(name)) ? Number(asked.get(key(name))) : spec.value;
      values[name] = spec.value;
      number.addEventListener("input", () => (set(name, number.value === "" ? NaN : Number(number.value), number), remember(), changed(values, name)));
      slider.addEventListener("input", () => (set(name, rounded(spec, pulled()), slider), remember(), changed(values, name)));
      slider.addEventListener("keydown", (event) => press(name, event));
      form.append(element("div", { class: "am-setting" }, element("label", { for: id }, ...rich(spec.label)), number, slider, trouble));
      set(name, spec.value);
      if (asked.has(key(name))) set(name, start); // or say what is wrong with it
    }

    // Named settings, the way back to the first ones, and a link to those in force.
    const defaults = Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, spec.value]));
    const put = (changes) => {
      for (const [name, x] of Object.entries(changes)) set(name, x);
      remember();
      changed(values);
    };
    const button = (words, act, more = {}) => {
      const made = element("button", { type: "button", ...more }, words);
      made.addEventListener("click", act);
      return made;
    };
    const wanted = ({ values: some, keep = [] }) => ({ ...defaults, ...Object.fromEntries(keep.map((name) => [name, values[name]])), ...some });
    const named = presets.map((preset) => ({ preset, button: button(preset.name, () => put(wanted(preset)), { class: "am-preset" }) }));
    function pressed() {
      for (const { preset, button: made } of named) {
        made.setAttribute("aria-pressed", String(Object.entries(wanted(preset)).every(([name, x]) => values[name] === x)));
      }
    }
    const copied = element("span", { class: "am-copied", role: "status" });
    const copy = button("Copy link", async () => {
      remember();
      const link = new URL(location.href);
      if (anchor) link.hash = anchor;
      copied.textContent = (await scope.toClipboard(link.href)) ? "Copied." : "The link is in the address line.";
    }, { class: "am-copy" });
    const reset = button("Reset", () => (copied.replaceChildren(), put(defaults)), { class: "am-reset" });
    const tools = element("div", { class: "am-tools", role: "group", "aria-label": anchor ? `${label}: links` : "Named settings" });
    if (named.length) tools.append(element("span", { class: "am-tools-name" }, "Try"), ...named.map((preset) => preset.button));
    tools.append(reset, copy, copied);
    pressed();

    host.append(form, tools);
    if (Object.keys(specs).some((name) => inHash().has(key(name)))) remember(); // from now on after "?"
    window.addEventListener("hashchange", () => {
      const wanted = inHash(), known = Object.keys(specs).filter((name) => wanted.has(key(name)));
      for (const name of known) set(name, Number(wanted.get(key(name))));
      if (known.length) (remember(), changed(values));
    });
    return {
      values, tools,
      set(changes) {
        for (const [name, x] of Object.entries(changes)) set(name, rounded(specs[name], x));
        remember();
        changed(values);
      },
    };
  }

  // --- readings --------------------------------------------------------------------------------------------

  // A table of what is computed: rows of [name, words, number behind the words].
  function readings(host, caption) {
    const body = element("tbody");
    host.append(element("table", { class: "am-readings" }, element("caption", {}, caption), body));
    return (rows) =>
      body.replaceChildren(...rows.map(([name, words, value]) => element("tr", {},
        element("th", { scope: "row" }, ...rich(name)), element("td", value === undefined ? {} : { "data-value": String(value) }, words))));
  }

  // --- charts ----------------------------------------------------------------------------------------------

  function ticks(low, high, log, count) {
    if (log) {
      [low, high] = [Math.min(low, high), Math.max(low, high)];
      const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
      const every = Math.max(1, Math.ceil((last - first + 1) / count));
      return Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((i) => i % every === 0).map((i) => 10 ** i);
    }
    const rough = (high - low) / count, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough * 0.999);
    const marks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) marks.push(Number((i * step).toPrecision(12)));
    return marks;
  }

  // An entry of a legend: a sign of 24 by 12, or of another size, and what it stands for.
  const explained = (sign, words, width = 24, height = 12) =>
    element("li", {}, element("svg:svg", { width, height, "aria-hidden": "true" }, sign), " ", ...rich(words));

  // A chart that draws itself as wide as its place. `draw({x, y, marks, text})` takes the two ranges, the
  // marks and a description for those who do not see it. A mark is one of
  //   {line: [[x, y], ...]}, {area: [[x, y], ...]}, {stem: [x, y]}, {dots: [[x, y, low, high], ...]},
  //   {across: y}, {down: x}, {label: [x, y, words]}
  // with a class for its colour, and a name where it belongs into the legend.
  function chart(host, { title, xLabel, yLabel, xLog = false, yLog = false, height = 260, id }) {
    const svg = element("svg:svg", { role: "img", class: "am-chart", id });
    const legend = element("ul", { class: "am-legend" });
    const figure = element("figure", { class: "am-figure" }, element("figcaption", {}, title), svg, legend);
    host.append(figure);
    let last = null, frame = null;

    function draw(content) {
      last = content;
      const W = Math.max(220, figure.clientWidth || 460), H = height;
      const box = { left: 52, right: 20, top: 10, bottom: 40 };
      const scale = (range, log, from, to) => {
        const f = log ? Math.log10 : (v) => v;
        const [a, b] = range.map(f);
        const forth = (v) => from + ((f(v) - a) / (b - a)) * (to - from);
        forth.back = (p) => { const v = a + ((p - from) / (to - from)) * (b - a); return log ? 10 ** v : v; };
        return forth;
      };
      const X = scale(content.x, xLog, box.left, W - box.right), Y = scale(content.y, yLog, H - box.bottom, box.top);
      frame = { X, Y, W, H, box };
      svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
      svg.setAttribute("height", H);
      svg.setAttribute("aria-label", `${title}. ${content.text}`);
      const number = (x) => x.toFixed(1);
      const clampY = (y) => Math.min(1e5, Math.max(-1e5, Y(y))); // far beyond the frame, so that lines keep their slopes
      const path = (points) => points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)).map(([x, y], i) => `${i ? "L" : "M"}${number(X(x))} ${number(clampY(y))}`).join("");
      const inner = element("svg:g", { "clip-path": `url(#${id}-clip)` }), outer = element("svg:g", { class: "am-axes" });
      for (const v of ticks(...content.x, xLog, Math.max(3, W / 60))) {
        outer.append(element("svg:line", { class: "am-grid", x1: X(v), x2: X(v), y1: box.top, y2: H - box.bottom }));
        outer.append(element("svg:text", { x: X(v), y: H - box.bottom + 16, "text-anchor": "middle" }, say(v, 3)));
      }
      for (const v of ticks(...content.y, yLog, 5)) {
        outer.append(element("svg:line", { class: "am-grid", y1: Y(v), y2: Y(v), x1: box.left, x2: W - box.right }));
        outer.append(element("svg:text", { x: box.left - 6, y: Y(v) + 4, "text-anchor": "end" }, say(v, 3)));
      }
      outer.append(element("svg:text", { x: (box.left + W - box.right) / 2, y: H - 6, "text-anchor": "middle" }, xLabel));
      outer.append(element("svg:text", { transform: `translate(12 ${(box.top + H - box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel));
      for (const mark of content.marks) {
        const style = `am-mark ${mark.class || ""}`;
        if (mark.area) inner.append(element("svg:path", { class: `${style} am-area`, d: `${path(mark.area)}Z` }));
        if (mark.line) inner.append(element("svg:path", { class: `${style} am-line`, d: path(mark.line) }));
        if (mark.across !== undefined) inner.append(element("svg:line", { class: `${style} am-line`, x1: box.left, x2: W - box.right, y1: Y(mark.across), y2: Y(mark.across) }));
        if (mark.down !== undefined) inner.append(element("svg:line", { class: `${style} am-line`, x1: X(mark.down), x2: X(mark.down), y1: box.top, y2: H - box.bottom }));
        if (mark.stem) {
          inner.append(element("svg:line", { class: `${style} am-stem`, x1: X(mark.stem[0]), x2: X(mark.stem[0]), y1: Y(content.y[0]), y2: clampY(mark.stem[1]) }));
          inner.append(element("svg:circle", { class: `${style} am-dot`, cx: X(mark.stem[0]), cy: clampY(mark.stem[1]), r: 4.5 }));
        }
        const layer = mark.big ? outer : inner; // the point shown is not cut at the edge
        for (const [x, y, low, high] of mark.dots || []) {
          if (low !== undefined) inner.append(element("svg:line", { class: `${style} am-bar`, x1: X(x), x2: X(x), y1: Y(low), y2: Y(high) }));
          layer.append(element("svg:circle", { class: `${style} am-dot`, cx: X(x), cy: Y(y), r: mark.big ? 6 : 3.5 }));
        }
        if (mark.label) inner.append(element("svg:text", { class: `${style} am-label`, x: X(mark.label[0]), y: Y(mark.label[1]), "text-anchor": mark.anchor || "middle" }, mark.label[2]));
      }
      const clip = element("svg:clipPath", { id: `${id}-clip` }, element("svg:rect", { x: box.left, y: box.top, width: W - box.left - box.right, height: H - box.top - box.bottom }));
      svg.replaceChildren(clip, inner, outer);
      legend.replaceChildren(...content.marks.filter((mark) => mark.name).map((mark) => {
        const kind = mark.line || mark.across !== undefined || mark.down !== undefined ? "am-line" : mark.area ? "am-area" : "am-dot";
        const shape = kind === "am-line" ? element("svg:line", { class: `am-mark am-line ${mark.class}`, x1: 1, x2: 23, y1: 6, y2: 6 })
          : kind === "am-area" ? element("svg:rect", { class: `am-mark am-area ${mark.class}`, x: 1, y: 1, width: 22, height: 10 })
          : element("svg:circle", { class: `am-mark am-dot ${mark.class}`, cx: 12, cy: 6, r: 4 });
        return explained(shape, mark.name);
      }));
    }

    new ResizeObserver(() => last && frame && frame.W !== Math.max(220, figure.clientWidth) && draw(last)).observe(figure);
    return {
      draw, svg,
      // Numbers at a place on the screen, or null beside the axes.
      at(event) {
        const { X, Y, W, H, box } = frame, rectangle = svg.getBoundingClientRect();
        const x = ((event.clientX - rectangle.left) / rectangle.width) * W, y = ((event.clientY - rectangle.top) / rectangle.height) * H;
        const inside = x >= box.left && x <= W - box.right && y >= box.top && y <= H - box.bottom;
        return inside ? [X.back(x), Y.back(y)] : null;
      },
    };
  }

  // Points of a curve.
  const curve = (f, low, high, count = 200) => Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count).map((x) => [x, f(x)]);

  // Call f soon, once, however often it is asked for meanwhile.
  function soon(f) {
    let waiting = false;
    return () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => ((waiting = false), f()));
    };
  }

  scope.widgets = { element, say, whole, article, percent, between, apart, settings, readings, explained, chart, curve, soon };
})((globalThis.assocmem = globalThis.assocmem || {}));
