// Python beside the page: the page stays alive while it computes, and can end it. The function is handed to a
// worker as text, because a page on a disk may start no worker from a file. See running.js.
(globalThis.assocmem ||= {}).pythonWorker = async () => {
  const FOLDER = "/home/pyodide/light";
  const INSIDE = /^ {2}File "(\/lib\/python[^"]*\.zip\/|<|\/home\/pyodide\/light\/lazy_loader)/;
  // Each run begins with no names, so that what is shown follows from the code alone. A last line that has a value
  // shows it, as in a notebook.
  const RUN = `
import sys
from pyodide.code import eval_code_async
try:
    shown = await eval_code_async(code_of_cell, {"__name__": "__main__"}, filename="cell")
finally:
    sys.stdout.flush()
    sys.stderr.flush()
None if shown is None else repr(shown)
`;
  const say = (kind, fields) => postMessage({ kind, ...fields });
  const HINT = /\nThe module '[^']*' is included in the Pyodide distribution[^]*$/; // what to type into another program
  const MOST = 100_000; // characters of a run that are shown
  const PAUSE = 50; // ms between two messages, however often the code prints
  let python;
  let waiting = "";
  let written = 0;
  let last = 0;

  const flush = () => {
    if (waiting) say("output", { text: waiting });
    waiting = "";
    last = performance.now();
  };
  const print = (text) => {
    if (written > MOST) return;
    written += text.length;
    waiting += written > MOST ? `${text.slice(0, MOST)}\n… (more is not shown)\n` : text;
    if (performance.now() - last > PAUSE) flush();
  };

  // A traceback without the parts of it that belong to no one's code: how it was called, how a name was looked up.
  const readable = (message) => {
    const lines = message.replace(HINT, "").trimEnd().split("\n");
    let isInside = false;
    return lines
      .filter((line) => {
        if (line.startsWith('  File "')) isInside = INSIDE.test(line);
        else if (!line.startsWith("    ")) isInside = false;
        return !isInside;
      })
      .map((line) => line.replaceAll(`${FOLDER}/`, ""))
      .join("\n");
  };

  const load = async ({ address, archive }) => {
    const { loadPyodide } = await import(`${address}pyodide.mjs`);
    python = await loadPyodide({ indexURL: address });
    const letters = new TextDecoder();
    const write = (bytes) => {
      print(letters.decode(bytes, { stream: true }));
      return bytes.length;
    };
    python.setStdout({ write });
    python.setStderr({ write });
    say("step", { text: "Python is there; loading numpy and scipy" });
    const trouble = [];
    await python.loadPackage(["numpy", "scipy"], { messageCallback() {}, errorCallback: (text) => trouble.push(text) });
    if (trouble.length) throw new Error(trouble.join(" "));
    python.unpackArchive(archive, "zip", { extractDir: FOLDER });
    await python.runPythonAsync(`import sys; sys.path.insert(0, "${FOLDER}")`);
    say("ready", {});
  };

  const run = async ({ code }) => {
    const start = performance.now();
    let error;
    written = 0;
    try {
      python.globals.set("code_of_cell", code);
      const value = await python.runPythonAsync(RUN);
      if (typeof value === "string") print(`${value}\n`);
    } catch (trouble) {
      if (trouble.name !== "PythonError") return say("crashed", { text: String(trouble.message ?? trouble) });
      error = readable(String(trouble.message ?? trouble));
    }
    flush();
    say("done", { error, seconds: (performance.now() - start) / 1000 });
  };

  onmessage = async ({ data }) => {
    try {
      await { load, run }[data.kind](data);
    } catch (error) {
      say("failed", { text: String(error.message ?? error) });
    }
  };
};
