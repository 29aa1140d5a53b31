"""The next missing points of Figures 1 to 3 at the paper's sizes, on a machine that is there for a while.

    python data/paper_queue.py SECONDS FOLDER [SWEEP FILE ...]

Works through the sweep files ``data/*/*_paper.yml`` in the order of their names and puts results into FOLDER,
from where `python -m assocmem sweep merge` takes them. A point that does not end in time is interrupted; its
state lies in FOLDER as well, is merged likewise, and the next call goes on from there.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRACE = 15  # seconds that an interrupted point has to write its state


def main() -> None:
    """Run the paper's sweeps one after another until the time is up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seconds", type=float)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*", type=Path, help="default: data/*/*_paper.yml")
    asked = parser.parse_args()
    end = time.monotonic() + asked.seconds - GRACE
    files = asked.files or sorted((ROOT / "data").glob("*/*_paper.yml"))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    }
    for file in files:
        left = end - time.monotonic()
        if left <= 0:
            break
        command = [sys.executable, "-m", "assocmem", "sweep", "run", str(file), "--into", str(asked.folder)]
        with subprocess.Popen([*command, "--most", str(left)], env=environment) as process:
            try:
                process.wait(left)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
                process.wait()


if __name__ == "__main__":
    main()
