// What style sheets cannot do for readers with a keyboard, with a screen reader, or with a printer.
(() => {
  const SCROLLING = ["mjx-container", "span.math", ".output", ".pst-scrollable-table-container", "pre"]
    .map((kind) => `.bd-article ${kind}`)
    .join(", ");

  // Formulas and tables that scroll in themselves: the Tab key must reach them, and only them.
  const markScrolling = () => {
    const nodes = [...document.querySelectorAll(SCROLLING)];
    nodes.forEach((node) => (node.style.overflow = ""));
    const scrolls = (node) =>
      node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX !== "visible";
    const wide = new Set(nodes.filter(scrolls));
    for (const node of nodes) {
      if (wide.has(node)) {
        node.tabIndex = 0;
      } else {
        if (node.tabIndex === 0) node.removeAttribute("tabindex");
        if (node.matches("span.math")) node.style.overflow = "visible"; // rounding is no reason to scroll
      }
    }
  };

  // A fold says in its title what is in it; the label that comes with it says the same of all.
  const nameFolds = () => {
    for (const fold of document.querySelectorAll("details.hide > summary[aria-label]")) {
      fold.removeAttribute("aria-label");
    }
  };

  // References are entries of a list; the role that Sphinx gives them is no longer one.
  const nameEntries = () => {
    for (const node of document.querySelectorAll('[role="list"] > [role="doc-biblioentry"]')) {
      node.setAttribute("role", "listitem");
    }
  };

  // On paper: light, and nothing folded away.
  let theme;
  let folded = [];
  const toPaper = () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((node) => (node.open = true));
  };
  const toScreen = () => {
    document.documentElement.dataset.theme = theme;
    folded.forEach((node) => (node.open = false));
  };

  addEventListener("DOMContentLoaded", nameEntries);
  addEventListener("DOMContentLoaded", nameFolds);
  addEventListener("load", () => {
    const typeset = window.MathJax?.startup?.promise ?? Promise.resolve();
    typeset.then(markScrolling);
  });
  let waiting;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(markScrolling);
  });
  addEventListener("toggle", markScrolling, true); // what was folded away had no width
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", toScreen);
})();
