// Widgets in the text: a few settings, a chart or two, and a sentence that says what is seen. A page may have
// several. Each is one file in `widgets/`, which describes itself to `widgets.widget`:
//
//   widgets.widget("name", {
//     settings: {n: {label, value, low, high, log, integer}, ...},
//     presets: [{name, values, keep: [names]}, ...],             // named settings, none if left out
//     explorer: (values) => ["explore_phase", {r, load}],        // the explorer at this point
//     build(place) {                                             // once; place.body is a div
//       const chart = place.chart({title, xLabel, yLabel});      // as widgets.chart
//       place.instead("name", node);                             // what a reader uses in place of a slider
//       return (values) => { chart.draw(...); place.say("..."); };   // whenever a setting has changed
//     },                                                             // (a promise, if it is drawn in pieces)
//   });

(function (scope) {
  "use strict";
  const { element, settings, chart, soon } = scope.widgets;

  // The address of a page of the book with settings, seen from any other one.
  const pageOf = (name, values) => {
    const query = new URLSearchParams(Object.entries(values).map(([key, x]) => [key, Number(x.toPrecision(12))]));
    return `${document.documentElement.dataset.content_root}book/${name}.html?${query}`;
  };

  function widget(name, { settings: specs, presets = [], explorer, build }) {
    const host = document.querySelector(`[data-widget="${name}"]`);
    if (!host) return;
    const anchor = `widget-${name}`, words = host.parentElement.getAttribute("aria-label");
    const body = element("div", { class: "am-widget-charts" });
    const answer = element("p", { class: "am-answer", role: "status" });
    const further = element("a", { class: "am-further" }, "Open the explorer");
    let count = 0;
    const place = {
      host, body,
      chart: (about) => chart(body, { height: 220, id: `${anchor}-chart${count++ || ""}`, ...about }),
      say: (...said) => answer.replaceChildren(...said),
      // Hides the slider of a setting, which the nodes stand for.
      instead(setting, ...nodes) {
        const row = host.querySelector(`#set-${name}-${setting}`).closest(".am-setting");
        row.classList.add("visually-hidden");
        row.setAttribute("aria-hidden", "true");
        for (const input of row.querySelectorAll("input")) input.setAttribute("tabindex", "-1");
        row.after(...nodes);
      },
    };
    let show = () => {};
    const update = () => {
      const drawn = show(controls.values);
      if (explorer) further.setAttribute("href", pageOf(...explorer(controls.values)));
      return drawn;
    };
    host.replaceChildren();
    const controls = settings(host, specs, soon(update), presets, { prefix: name, anchor, label: words });
    place.set = controls.set;
    if (explorer) controls.tools.append(further);
    host.append(body, answer);
    show = build(place);
    Promise.resolve(update()).then(() => (host.dataset.ready = "yes")); // when the first picture is whole
    performance.mark(anchor);
    if (location.hash === `#${anchor}`) host.parentElement.scrollIntoView();
  }

  scope.widgets.widget = widget;
})((globalThis.assocmem = globalThis.assocmem || {}));
