// The ledger has a thousand formulas. They are typeset piece by piece, what is in sight first, and the page answers meanwhile.
// Who prints it sooner gets the others at once.
window.MathJax = {
  ...window.MathJax,
  startup: {
    async pageReady() {
      const pause = () => new Promise((resume) => setTimeout(resume));
      const formulas = [...document.querySelectorAll(".bd-article .math")];
      const waiting = new Set(formulas.map((formula) => formula.closest(".ledger-entry") ?? formula));
      const inSight = new Set();
      const watch = new IntersectionObserver((changes) => {
        for (const { target, isIntersecting } of changes) inSight[isIntersecting ? "add" : "delete"](target);
      });
      waiting.forEach((place) => watch.observe(place));
      const next = () => [...inSight].find((place) => waiting.has(place)) ?? waiting.values().next().value;
      const all = () => {
        MathJax.typeset([...waiting]);
        waiting.clear();
      };
      addEventListener("beforeprint", all);
      for (await pause(); waiting.size; await pause()) {
        const place = next();
        waiting.delete(place);
        MathJax.typeset([place]);
      }
      watch.disconnect();
      removeEventListener("beforeprint", all);
    },
  },
};

// The filter of the ledger: by verdict, by kind of check, by section and by words. What is chosen stands in the address, so that
// a link can lead to a part of the ledger. Without this script the page shows all entries.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.ledger-overview");
  if (!table) return;

  const HIDDEN = "ledger-filtered"; // display: none, except in print
  const VERDICTS = ["holds", "holds with limits", "does not hold", "not yet"];
  const slug = (text) => text.trim().replaceAll(" ", "-");
  const plain = (text) => text.toLowerCase().replace(/\s+/g, " ");

  // A row of the table and the entry below it, with what the filter asks about.
  const items = [...table.querySelectorAll("tbody tr")].map((row) => {
    const id = row.querySelector("a").hash.slice(1);
    const entry = document.getElementById(id).closest(".ledger-entry");
    const chapter = entry.closest("section");
    return {
      row, entry, chapter,
      verdict: slug(row.querySelector(".verdict").textContent),
      kinds: row.querySelector(".ledger-kinds").textContent.split(", ").filter(Boolean),
      section: chapter.querySelector("h2").textContent.replace(/#$/, "").trim(),
      words: plain(row.textContent + " " + entry.textContent),
    };
  });
  const chapters = [...new Set(items.map((item) => item.chapter))];
  const sections = [...new Set(items.map((item) => item.section))];
  // In an address a section has the name of its page.
  const nameOf = Object.fromEntries(items.map(({ chapter, section }) => {
    const link = chapter.querySelector("h2 a[href*='sections/']");
    return [section, link ? link.pathname.split("/").pop().replace(".html", "") : slug(section)];
  }));

  const make = (kind, settings = {}, ...children) => {
    const element = Object.assign(document.createElement(kind), settings);
    element.append(...children);
    return element;
  };
  const buttons = VERDICTS.map((verdict) => {
    const count = items.filter((item) => item.verdict === slug(verdict)).length;
    const kind = { "holds": "holds", "holds with limits": "limits", "does not hold": "fails", "not yet": "notyet" };
    const button = make("button", { type: "button", value: slug(verdict) }, `${verdict} (${count})`);
    button.className = `ledger-verdict verdict-${kind[verdict]}`;
    button.addEventListener("click", () => {
      press(button, button.getAttribute("aria-pressed") !== "true");
      apply();
    });
    return button;
  });
  const press = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));
  const chosen = () => buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.value);

  const section = make("select", { id: "ledger-section" }, new Option("all sections", ""));
  section.append(...sections.map((title) => new Option(title, nameOf[title])));
  const kind = make("select", { id: "ledger-kind" }, new Option("all kinds", ""));
  kind.append(...[...new Set(items.flatMap((item) => item.kinds))].map((name) => {
    const count = items.filter((item) => item.kinds.includes(name)).length;
    return new Option(`${name} (${count})`, slug(name));
  }));
  const words = make("input", { type: "search", id: "ledger-words", autocomplete: "off" });
  const reset = make("button", { type: "button", className: "ledger-reset" }, "Show all");
  const count = make("p", { className: "ledger-count" });
  count.setAttribute("role", "status");

  const group = make("div", { className: "ledger-verdicts" }, ...buttons);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Verdicts to show");
  const form = make(
    "form", { className: "ledger-filter" }, group,
    make("label", {}, "Checked by ", kind),
    make("label", {}, "Section ", section),
    make("label", {}, "Words ", words),
    reset, count,
  );
  form.setAttribute("aria-label", "Filter of the ledger");

  // What is asked for: words, and a word with its number as one, so that "lemma 1" is not Lemma 10.
  const query = (text) => (plain(text).match(/[a-z]+ \d+(?= |$)|\S+/g) || []).map((part) => (/^[a-z]+ \d+$/.test(part)
    ? (words) => new RegExp(`\\b${part}(?!\\d)`).test(words) : (words) => words.includes(part)));

  const apply = () => {
    const verdicts = chosen();
    const wanted = query(words.value);
    let shown = 0;
    for (const item of items) {
      item.shown = (!verdicts.length || verdicts.includes(item.verdict))
        && (!kind.value || item.kinds.some((name) => slug(name) === kind.value))
        && (!section.value || nameOf[item.section] === section.value)
        && wanted.every((matches) => matches(item.words));
      shown += item.shown;
      item.row.classList.toggle(HIDDEN, !item.shown);
      item.entry.classList.toggle(HIDDEN, !item.shown);
    }
    for (const chapter of chapters) {
      const any = items.some((item) => item.chapter === chapter && item.shown);
      chapter.classList.toggle(HIDDEN, !any);
    }
    count.textContent = shown ? `${shown} of ${items.length} entries shown` : `none of ${items.length} entries matches`;
    reset.disabled = !(verdicts.length || kind.value || section.value || wanted.length);
    remember(verdicts);
  };

  const remember = (verdicts) => {
    const address = new URL(location.href);
    for (const name of ["verdict", "kind", "section", "words"]) address.searchParams.delete(name);
    for (const verdict of verdicts) address.searchParams.append("verdict", verdict);
    if (kind.value) address.searchParams.set("kind", kind.value);
    if (section.value) address.searchParams.set("section", section.value);
    if (words.value.trim()) address.searchParams.set("words", words.value.trim());
    if (address.href === location.href) return;
    try {
      history.replaceState(history.state, "", address);
    } catch {
      // some browsers keep the address of a file on a disk as it is
    }
  };

  const clear = () => {
    buttons.forEach((button) => press(button, false));
    kind.value = "";
    section.value = "";
    words.value = "";
    apply();
  };

  // A link to an entry wins over the filter that would hide it.
  const showTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const hidden = target && target.closest(`.${HIDDEN}`);
    if (!hidden) return;
    clear();
    target.scrollIntoView();
  };

  const asked = new URLSearchParams(location.search);
  buttons.forEach((button) => press(button, asked.getAll("verdict").includes(button.value)));
  kind.value = asked.get("kind") ?? "";
  if (kind.selectedIndex < 0) kind.value = "";
  section.value = asked.get("section") ?? "";
  if (section.selectedIndex < 0) section.value = "";
  words.value = asked.get("words") ?? "";

  kind.addEventListener("change", apply);
  section.addEventListener("change", apply);
  words.addEventListener("input", apply);
  reset.addEventListener("click", () => { clear(); words.focus(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", showTarget);

  (table.closest(".pst-scrollable-table-container") ?? table).before(form);
  apply();
  showTarget();
});
