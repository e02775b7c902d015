"""Ctrl-C ends what takes long, at once, and leaves nothing of a file behind.

A process of its own decodes a long capture, and gets the signal in the middle of it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hartrace

# Seconds that a signal may have to wait. Other processes may use the machine, so the best of a few attempts counts.
LIMIT = 0.2
ATTEMPTS = 4
# Bytes of the capture: decoding them takes many times as long as the signal.
BYTES = 200_000_000

WORK = {
    "count": lambda path, _: hartrace.open(path).count(),
    "functions": lambda path, _: hartrace.open(path).functions(),
    "edges": lambda path, _: hartrace.open(path).edges(),
    "coverage": lambda path, _: hartrace.open(path).coverage(),
    "report": lambda path, _: hartrace.open(path).report("edges"),
    "file": lambda path, output: hartrace.open(path).report("pcs", output=output),
    "steps": lambda path, _: sum(1 for _ in hartrace.open(path).steps()),
    "instructions": lambda path, _: sum(1 for _ in hartrace.open(path).instructions()),
    "calls": lambda path, _: sum(1 for _ in hartrace.open(path).calls()),
}


def capture(folder):
    """A long capture: one run after the other, as if the program had been started again."""
    once, path = folder / "once.te", folder / "long.te"
    hartrace.trace("sort", once, "delta", 2_000_000)
    with open(path, "wb") as out:
        data = once.read_bytes()
        for _ in range(BYTES // len(data)):
            out.write(data)
    text = Path(f"{once}.toml").read_text()
    # What the description says of the bytes is of one run.
    start = text.index("[capture]")
    Path(f"{path}.toml").write_text(text[:start] + text[text.index("[", start + 1) :])
    return path


def child(work, path, output):
    print("started", flush=True)
    try:
        WORK[work](Path(path), Path(output))
    except KeyboardInterrupt:
        print(time.time(), flush=True)
    else:
        print("ended", flush=True)


def delay(work, path, output):
    """How long the signal had to wait."""
    line = [sys.executable, __file__, work, path, output]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        told = process.stdout.readline()
        assert told != "ended\n", f"{work} took less than half a second"
        rest = process.stdout.read()
    assert process.returncode == 0 and rest == "", (work, process.returncode, rest)
    return float(told) - sent


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = capture(Path(folder))
        output = Path(folder) / "output"
        output.mkdir()
        before = "what was there before"
        (output / "pcs").write_text(before)
        waits = {}
        for work in WORK:
            for _ in range(ATTEMPTS):
                waits[work] = min(delay(work, path, output / "pcs"), waits.get(work, 1e9))
                assert os.listdir(output) == ["pcs"], os.listdir(output)
                assert (output / "pcs").read_text() == before
                if waits[work] < LIMIT:
                    break
            assert waits[work] < LIMIT, f"{work}: {waits[work]:.2f} s"
    print("interrupt:", ", ".join(f"{work} {1000 * wait:.0f} ms" for work, wait in waits.items()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
    else:
        main()
