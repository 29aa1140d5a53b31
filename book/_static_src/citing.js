// Buttons that copy: a link to and a citation of each entry of the ledger, and the citation of a page.

(function (scope) {
  "use strict";

  // Put a text where it can be pasted from; false where the browser does not let us.
  scope.toClipboard = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = document.createElement("textarea");
      const before = document.activeElement;
      Object.assign(field, { value: text, readOnly: true });
      field.style.cssText = "position:fixed;opacity:0";
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      before?.focus();
      return done;
    }
  };

  // A button that copies what `text` returns and says so; `about` is for those who do not see where it stands.
  function button(words, about, text, said) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", className: "copy-button", textContent: words });
    made.setAttribute("aria-label", `${words} (${about})`);
    made.addEventListener("click", async () => {
      const copied = await scope.toClipboard(text());
      said.textContent = copied ? "Copied." : text();
      if (copied) setTimeout(() => said.replaceChildren(), 3000);
    });
    return made;
  }

  function tools(...makers) {
    const said = document.createElement("span"), group = document.createElement("span");
    said.className = "copied";
    said.setAttribute("role", "status");
    group.className = "copy-tools";
    group.append(...makers.map((make) => make(said)), said);
    return group;
  }

  const link = (id) => `${location.href.split(/[?#]/)[0]}#${id}`;

  document.addEventListener("DOMContentLoaded", () => {
    const cited = document.querySelector(".cite-page");
    if (!cited) return;
    const whole = cited.querySelector(".cite-words").textContent;
    const record = cited.querySelector(".cite-bibtex").textContent;
    cited.querySelector(".cite-bibtex").after(tools(
      (said) => button("Copy citation", "this page", () => whole, said),
      (said) => button("Copy BibTeX", "this page", () => record, said),
    ));

    // The citation of an entry is that of its page, with its own title and address.
    const [, before, after] = whole.match(/^(.*?“).*?(”, in: .*?)(?:, https?:\S+)?\.$/s) || [];
    for (const entry of document.querySelectorAll(".ledger-entry")) {
      const head = entry.querySelector("p"), name = head?.querySelector("strong");
      const id = head?.id || entry.querySelector("[id]")?.id;
      if (!name || !id || !before) continue;
      const about = name.textContent.trim(), title = head.querySelector("em")?.textContent.trim();
      const verdict = head.querySelector(".verdict")?.textContent.trim();
      const cite = () => `${before}${about}${title ? `, ${title}` : ""}${verdict ? `: ${verdict}` : ""}${after}, ${link(id)}.`;
      head.after(tools(
        (said) => button("Copy link", about, () => link(id), said),
        (said) => button("Copy citation", about, cite, said),
      ));
    }
  });
})((globalThis.assocmem = globalThis.assocmem || {}));
