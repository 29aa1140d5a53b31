// Shows what a link leads to, to those who point at it or come to it by keyboard: see assocmem_previews.py.
(() => {
  const LINKS = "article.bd-article a[href]";
  const WAIT = 250; // ms until a preview opens: a pointer that only passes by opens none
  const GRACE = 300; // ms until it closes: time to move from the link into the preview
  const GAP = 6; // px between them
  const EDGE = 8; // px to the edge of the window
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;

  // The previews of this page, loaded when they are first asked for.
  let asked;
  const previews = () => {
    asked ??= new Promise((done) => {
      window.assocmemPreviews = done;
      const script = document.createElement("script");
      script.src = `${root}_static/previews/${DOCUMENTATION_OPTIONS.pagename}.js`;
      script.onerror = () => done({});
      document.head.append(script);
    });
    return asked;
  };

  const keyOf = (link) => {
    const address = new URL(link.getAttribute("href"), location.href.replace(/[?#].*/, ""));
    if (address.search || !address.href.startsWith(root)) return "";
    return decodeURIComponent(address.href.slice(root.length));
  };

  const box = document.createElement("div");
  box.className = "am-preview";
  box.id = "am-preview";
  box.setAttribute("role", "tooltip");
  box.hidden = true;

  let current; // the link whose preview is open, or about to be
  let byFocus = false;
  let dismissed; // the link whose preview was closed by Escape: it stays closed until the reader has left
  let waiting;
  let closing;

  const place = (y) => {
    if (!current || box.hidden) return;
    const rects = [...current.getClientRects()];
    const rect = rects.find((r) => y >= r.top - 2 && y <= r.bottom + 2) ?? rects[0];
    if (!rect) return close();
    const isAway = rect.bottom < 0 || rect.top > innerHeight; // it may be on its way, as the page scrolls to it
    box.style.visibility = isAway ? "hidden" : "";
    if (isAway) return;
    const below = innerHeight - rect.bottom - GAP - EDGE;
    const above = rect.top - GAP - EDGE;
    box.style.maxHeight = "";
    const isBelow = box.offsetHeight <= below || below >= above;
    box.style.maxHeight = `${Math.max(80, Math.min(isBelow ? below : above, innerHeight * 0.7))}px`;
    const left = Math.min(rect.left, document.documentElement.clientWidth - box.offsetWidth - EDGE);
    box.style.left = `${Math.max(EDGE, left)}px`;
    box.style.top = `${isBelow ? rect.bottom + GAP : rect.top - GAP - box.offsetHeight}px`;
  };

  const describe = (link, yes) => {
    const ids = new Set((link.getAttribute("aria-describedby") ?? "").split(/\s+/).filter(Boolean));
    yes ? ids.add(box.id) : ids.delete(box.id);
    ids.size ? link.setAttribute("aria-describedby", [...ids].join(" ")) : link.removeAttribute("aria-describedby");
  };

  const close = () => {
    clearTimeout(waiting);
    clearTimeout(closing);
    if (current) describe(current, false);
    current = undefined;
    if (box.hidden) return;
    box.hidden = true;
    window.MathJax?.typesetClear?.([box]);
    box.replaceChildren();
  };

  const open = async (link, y) => {
    const text = (await previews())[keyOf(link)];
    if (!text || link !== current) return;
    box.innerHTML = text.replaceAll('"@/', `"${root}`);
    box.classList.add("am-preview-waits");
    box.hidden = false;
    (link.closest("article") ?? document.body).append(box);
    await window.MathJax?.startup?.promise;
    if (box.querySelector(".math")) await window.MathJax?.typesetPromise?.([box]);
    if (link !== current) return;
    for (const formula of box.querySelectorAll("mjx-container")) {
      const [needs, has] = [formula.scrollWidth, formula.clientWidth];
      if (needs > has) formula.style.fontSize = `${Math.floor((99 * has) / needs)}%`; // nothing to scroll
    }
    place(y);
    box.scrollTop = 0;
    box.classList.remove("am-preview-waits");
    describe(link, true);
    for (const picture of box.querySelectorAll("img")) picture.addEventListener("load", () => place(y));
  };

  const ask = (link, focused, y) => {
    clearTimeout(closing);
    if (link === current || link === dismissed) return;
    close();
    if (link.matches(".headerlink, .image-reference")) return;
    current = link;
    byFocus = focused;
    previews();
    waiting = setTimeout(() => open(link, y), WAIT);
  };

  // Focus keeps a preview: pages that scroll move under a pointer that rests.
  const isHeld = () => byFocus && current === document.activeElement;
  const closeSoon = () => {
    clearTimeout(closing);
    if (current && !isHeld()) closing = setTimeout(close, box.hidden ? 0 : GRACE);
  };

  let [lastX, lastY] = [-1, -1];
  const noteWhere = (event) => ([lastX, lastY] = [event.clientX, event.clientY]);
  document.addEventListener("pointermove", noteWhere, { passive: true });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const rests = event.clientX === lastX && event.clientY === lastY;
    [lastX, lastY] = [event.clientX, event.clientY];
    if (rests && isHeld()) return; // the page scrolled below it
    const link = event.target.closest?.(LINKS);
    if (link !== dismissed) dismissed = undefined;
    if (event.target.closest?.(".am-preview")) clearTimeout(closing);
    else if (link) ask(link, false, event.clientY);
    else closeSoon();
  });
  document.documentElement.addEventListener("pointerleave", closeSoon);
  document.addEventListener("focusin", (event) => {
    const link = event.target.closest?.(LINKS);
    if (link !== dismissed) dismissed = undefined;
    if (link?.matches(":focus-visible")) ask(link, true);
    else if (!event.target.closest?.(".am-preview")) close();
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === current && byFocus) close();
  });
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !current) return;
      dismissed = current;
      close();
    },
    true,
  );
  document.addEventListener("click", (event) => {
    if (event.target.closest?.(LINKS)) close(); // it leads there now
  });
  document.addEventListener("scroll", () => place(), { capture: true, passive: true });
  addEventListener("resize", close);
  addEventListener("beforeprint", close);
})();
