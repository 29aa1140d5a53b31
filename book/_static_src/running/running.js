// Runs code of the book inside the page, where a reader wants it: see assocmem_running.py and worker.js.
// Nothing is asked of any host before the reader has agreed to it.
(() => {
  const { address, megabytes, package: archive } = document.currentScript.dataset;
  const weight = `${megabytes}\u00a0MB`;
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const beside = new URL("../pyodide/", here).href;
  const isDisk = location.protocol === "file:";
  const HELP = new URL("../../book/how_to.html#run-in-page", here).href;
  const ASKED = "am-running-agreed"; // the address that the reader agreed to, as long as this tab is open
  const SERVE =
    "A page that was opened from a disk cannot read the files beside it: run “python -m http.server” in the folder of " +
    "the book, and open http://localhost:8000 instead.";
  const HEAVY = /No module named '(assocmem\.[\w.]+|torch|numba|pandas|matplotlib|psutil|tqdm|flint)/;

  const element = (name, fields = {}, ...children) => {
    const node = Object.assign(document.createElement(name), fields);
    node.append(...children);
    return node;
  };
  const button = (text, name, action) => {
    const node = element("button", { type: "button", className: name, textContent: text });
    node.addEventListener("click", action);
    return node;
  };
  const host = (url) => new URL(url).host;

  // A browser that keeps nothing for a page may refuse even to look.
  const remembered = (agreed) => {
    try {
      if (agreed) sessionStorage.setItem(ASKED, agreed);
      return sessionStorage.getItem(ASKED);
    } catch {
      return null;
    }
  };

  const script = (src) =>
    new Promise((done, fail) => {
      const node = element("script", { src, onload: done, onerror: () => fail(new Error(`${src} is not there`)) });
      document.head.append(node);
    });

  // Where Python can be had: beside the book, or else at its own address.
  let found;
  const look = async () => {
    if (!isDisk) {
      const answer = await fetch(`${beside}pyodide-lock.json`, { method: "HEAD", cache: "no-cache" }).catch(() => null);
      if (answer?.ok) return { address: beside, from: "from beside this book" };
    }
    return address ? { address, from: `from ${host(address)}` } : null;
  };

  // --- one Python for the page ---

  let worker;
  let ready;
  let current; // the block whose run is going on, or that waits for Python
  let turn = 0; // counts runs and what ends them, so that one that was stopped does nothing when it comes back

  const start = (place) => {
    ready ??= (async () => {
      const mine = turn;
      await Promise.all([
        globalThis.assocmem?.pythonWorker ?? script(`${here}worker.js`),
        globalThis.assocmem?.light ?? script(here + archive),
      ]);
      const bytes = Uint8Array.from(atob(globalThis.assocmem.light), (letter) => letter.charCodeAt(0));
      const text = new Blob([`(${globalThis.assocmem.pythonWorker})();`], { type: "text/javascript" });
      const url = URL.createObjectURL(text);
      if (mine !== turn) return;
      worker = new Worker(url); // a module would be refused on a page that lies on a disk
      let isThere = false;
      await new Promise((done, fail) => {
        worker.onmessage = ({ data }) => {
          if (data.kind === "step") current?.step(data.text);
          else if (data.kind === "ready") done((isThere = true));
          else if (data.kind === "failed") fail(new Error(data.text));
          else current?.hear(data);
        };
        worker.onerror = (event) => {
          if (isThere) current?.hear({ kind: "crashed", text: event.message });
          else fail(new Error(event.message || "the browser refuses to start it"));
        };
        worker.postMessage({ kind: "load", address: place.address, archive: bytes });
      });
    })();
    return ready;
  };

  const end = () => {
    worker?.terminate();
    worker = ready = undefined;
  };

  // --- a block of code and its controls ---

  const attach = (block) => {
    const pre = block.querySelector("pre");
    const trimmed = (text) => text.replaceAll("\u00a0", " ").replace(/\n+$/, "");
    const code = () => trimmed(pre.innerText); // with the breaks of lines that were typed
    const original = { html: pre.innerHTML, text: trimmed(pre.textContent) };
    const stored = block.querySelector(".cell_output .stream pre")?.textContent.trim();

    const says = element("span", { className: "am-running-says" });
    says.setAttribute("role", "status");
    const run = button("Run it here", "am-run", () => begin());
    const stop = button("Stop", "am-stop", () => halt());
    const reset = button("Reset", "am-reset", () => restore());
    const agree = button("", "am-agree", () => go());
    const decline = button("No", "am-decline", () => refuse());
    const copy = button("Copy the code", "am-copy", () => block.querySelector(".copybtn")?.click());
    const help = element("a", { className: "am-help", href: HELP, textContent: "Other ways" });
    const controls = [run, stop, reset, agree, decline, copy, help];
    const bar = element("div", { className: "am-running" }, run, stop, reset, says, agree, decline, copy, help);
    const output = element("pre", { className: "am-running-output", hidden: true });
    output.setAttribute("role", "log");
    output.setAttribute("aria-label", "What it says here");
    block.append(bar, output);

    const show = (...shown) => {
      for (const node of controls) node.hidden = !shown.includes(node);
    };
    const rest = (...more) => show(run, ...(pre.isContentEditable ? [reset] : []), ...more);
    const say = (text) => (says.textContent = text);
    const cannot = (text) => {
      say(text);
      rest(copy, help);
    };

    const begin = async () => {
      if (current) return current === me || say("Other code on this page is still running.");
      output.hidden = true;
      rest();
      if (ready) return go();
      found = await look();
      if (current) return;
      if (!found) return cannot(isDisk ? SERVE : "This copy of the book comes without the Python that runs in pages.");
      if (remembered() === found.address) return go();
      say(
        `${isDisk ? "This page was opened from a disk, where Python cannot be read from beside it. " : ""}This loads Python with numpy and scipy, ` +
          `${weight}, ${found.from}; browsers keep it for the next time. What you write stays in this page.`,
      );
      agree.textContent = `Load ${weight}`;
      show(agree, decline);
      agree.focus();
    };

    const refuse = () => {
      say("");
      rest();
      run.focus();
    };

    const go = async () => {
      const mine = ++turn;
      const hadFocus = [run, agree].includes(document.activeElement);
      remembered(found.address);
      current = me;
      starting = 0;
      output.replaceChildren();
      output.removeAttribute("tabindex");
      show(stop);
      if (hadFocus) stop.focus();
      const begun = performance.now();
      const isFirst = !ready;
      try {
        if (isFirst) say(`Loading Python, ${weight}, ${found.from}`);
        await start(found);
      } catch (error) {
        if (mine !== turn) return;
        end();
        finish(stop);
        const isSilent = /fetch|network/i.test(error.message); // a browser's words for no answer tell readers nothing
        const why = isSilent ? "Are you online?" : `The reason: ${error.message}.`;
        return cannot(`Python could not be loaded ${found.from}. ${why} ${isDisk ? SERVE : ""}`.trim());
      }
      if (mine !== turn) return;
      if (isFirst) starting = (performance.now() - begun) / 1000;
      makeEditable();
      say("Running");
      worker.postMessage({ kind: "run", code: code() });
    };

    // Ends a run: the keyboard goes on where it was.
    const finish = (from) => {
      turn += 1;
      current = undefined;
      const hadFocus = document.activeElement === from;
      rest();
      if (hadFocus) run.focus();
    };

    const halt = () => {
      end();
      finish(stop);
      say("Stopped. The next run starts Python again.");
    };

    const write = (text, name) => {
      output.hidden = false;
      output.append(element("span", { className: name, textContent: text }));
    };

    let starting = 0; // seconds until Python was there, if this run had to wait for it
    const me = {
      step: (text) => say(text),
      hear: (data) => {
        if (data.kind === "output") return write(data.text, "");
        if (data.kind === "crashed") {
          end();
          finish(stop);
          return say(`Python broke down: ${data.text}. The next run starts it again.`);
        }
        if (data.kind !== "done") return;
        if (data.error) {
          write(data.error, "am-running-error");
          if (HEAVY.test(data.error)) write("\n\nThis part of the package needs more than a page has.", "");
        }
        if (output.scrollHeight > output.clientHeight) output.tabIndex = 0; // the keyboard must reach what scrolls
        const isSame = output.textContent.trim() === stored;
        const verdict = data.error
          ? "An error ended it."
          : code() !== original.text || stored === undefined
            ? "Done."
            : isSame
              ? "The same as in the book."
              : "Not the same as in the book.";
        const seconds = data.seconds < 0.01 ? "less than 0.01" : data.seconds.toFixed(2);
        const before = starting ? `, after ${starting.toFixed(1)} s until Python was there` : "";
        finish(stop);
        say(`${verdict} It took ${seconds} s${before}. You can change the code; Ctrl+Enter runs it.`);
      },
    };

    const makeEditable = () => {
      if (pre.isContentEditable) return;
      try {
        pre.contentEditable = "plaintext-only";
      } catch {
        pre.contentEditable = "true"; // an older browser
      }
      for (const [name, value] of Object.entries({ role: "textbox", "aria-multiline": "true", "aria-label": "Code" })) {
        pre.setAttribute(name, value);
      }
      pre.spellcheck = false;
      pre.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
        event.preventDefault();
        begin();
      });
      pre.addEventListener("paste", (event) => {
        event.preventDefault();
        document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
      });
    };

    const restore = () => {
      pre.innerHTML = original.html;
      output.hidden = true;
      say("The code is as in the book again.");
      run.focus();
    };

    rest();
  };

  document.querySelectorAll(".am-light").forEach(attach);
})();
