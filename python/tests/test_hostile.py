"""Hostile captures, descriptions, plans and tables end in a result or in an exception, within limits of memory and time.

A process of its own works on the cases, so that its end by a signal is seen, and limits do not hold for others. `HARTRACE_DATA` adds
the inputs that its folder `hostile` makes.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import hartrace

MEMORY = 2 << 30
SECONDS = 120
TABLES = ("edges", "coverage", "calls", "blocks", "gaps", "functions")
PROGRAMS = Path(__file__).parents[2] / "tests" / "programs" / "elf"

# What a user of the package expects. A panic of the extension is none of these.
EXPECTED = (hartrace.HartraceError, OSError, ValueError)


def opened(capture):
    """All that is asked of a capture that is opened."""
    missing = []
    found = hartrace.open(capture)
    functions = found.functions(missing=missing)
    assert sum(function.instructions for function in functions) == found.count(missing=missing)
    for form in ("edges", "folded"):
        found.report(form, missing=missing)
    for step in islice(found.steps(), 10_000):
        repr(step)


def whole(folder, capture, tables=TABLES):
    """All that is done with a capture."""
    opened(capture)
    plan = hartrace.plan(capture, folder / "plan.json", parts=2)
    for table in tables:
        files = []
        for number in range(len(plan)):
            len(hartrace.decode(plan, number, table))
            files.append(hartrace.decode(plan, number, table, folder / f"{number}.parquet").path)
        hartrace.merge(plan, files, folder / "all.parquet")


def good(folder):
    """A capture with its description and its program, a plan, and the tables of its parts."""
    hartrace.trace("calls", folder / "t.te", "delta", 20_000)
    plan = hartrace.plan(folder / "t.te", folder / "plan.json", parts=2)
    for number in range(len(plan)):
        hartrace.decode(plan, number, "edges", folder / f"{number}.parquet")
    return len(plan)


def damage(data, rng):
    """Changes bytes, removes some, doubles some, or cuts the rest off."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(data)), rng.randint(1, 16)
        kind = rng.randrange(5)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + size]
        elif kind == 2:
            data[at:at] = data[at : at + size] * rng.randint(1, 50)
        elif kind == 3:
            data[at : at + size] = rng.randbytes(size)
        else:
            del data[at:]
        data = data or bytearray(b"0")
    return bytes(data)


def undigested(description):
    """A description without what tells a damaged capture or program from the one that is described."""
    start = description.index("[capture]")
    end = description.index("[[programs]]")
    lines = (description[:start] + description[end:]).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("sha256", "code", "build-id")))


def damaged(folder, rounds):
    """A file of a good set is damaged, and everything is done with the set."""
    (folder / "good").mkdir()
    parts = good(folder / "good")
    rng = random.Random(1)
    plain = undigested((folder / "good" / "t.te.toml").read_text())
    files = ["t.te", "t.te.toml", "calls.elf", "plan.json", "0.parquet"]
    for number in range(rounds):
        name = files[number % len(files)]
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(folder / "good", work)
        # Half of the time nothing says that a file is not what it was.
        if rng.randrange(2):
            (work / "t.te.toml").write_text(plain)
        (work / name).write_bytes(damage((work / name).read_bytes(), rng))

        def run(work=work, name=name):
            tables = [work / f"{part}.parquet" for part in range(parts)]
            if name == "0.parquet":
                hartrace.merge(work / "plan.json", tables, work / "all.parquet")
            elif name == "plan.json":
                for table in ("edges", "functions"):
                    for part in range(parts):
                        hartrace.decode(work / "plan.json", part, table)
            else:
                whole(work, work / "t.te", ("edges", "functions"))

        yield f"damaged {name}, round {number}", run


def odd(folder):
    """What a careless hand gives."""
    empty, text = folder / "empty", folder / "text"
    empty.write_bytes(b"")
    text.write_text("\x1b[2K\nerror: forged = [")
    (folder / "loop").symlink_to(folder / "loop")
    for path in (empty, text, folder, folder / "none", folder / "loop", Path("/dev/null"), "a\0b", ""):
        yield f"open {path}", lambda path=path: opened(path)
        yield f"open with {path}", lambda path=path: hartrace.open(folder / "t.te", program=path, parameters=path)
        yield f"plan of {path}", lambda path=path: hartrace.plan(path, folder / "plan.json")
        yield f"part of {path}", lambda path=path: hartrace.decode(path, 0, "edges")
        yield f"merge with {path}", lambda path=path: hartrace.merge(path, [path], folder / "all.parquet")
        yield f"trace of {path}", lambda path=path: hartrace.trace(path, folder / "t.te")
        yield f"compare {path}", lambda path=path: hartrace.compare(path, ["bTMBP"])
    good(folder)
    for number in (2, 2**31, 2**63):
        yield f"part {number}", lambda number=number: hartrace.decode(folder / "plan.json", number, "edges")
    yield "no such table", lambda: hartrace.decode(folder / "plan.json", 0, "\n")
    yield "no such share", lambda: hartrace.merge(folder / "plan.json", [], folder / "x", share="1/0")


def structured(folder, data):
    """Small inputs that cost much; see the script that makes them."""
    subprocess.run([sys.executable, data / "hostile" / "make.py", PROGRAMS / "calls.elf", folder], check=True)
    hartrace.trace("calls", folder / "calls.te", "delta", 20_000)
    description = undigested((folder / "calls.te.toml").read_text())
    for program in ("abbrev", "lines", "sections", "rows", "names"):
        capture = folder / f"{program}.te"
        shutil.copy(folder / "calls.te", capture)
        text = description.replace("calls.elf", f"{program}.elf")
        Path(f"{capture}.toml").write_text(text)
        yield f"{program}.elf", lambda capture=capture: whole(folder, capture, ("edges", "functions", "calls"))
    # A count of 2^32 - 1 branches in 17 bytes.
    code = '\n[[programs]]\nfile = "code.bin"\naddress = "0x80000000"\n'
    params = (folder / "p.toml").read_text()
    parameters = params.replace("iaddress_width_p", "[parameters]\niaddress_width_p", 1)
    (folder / "one.te.toml").write_text(f"version = 1\n{parameters}{code}")
    yield "one.te", lambda: whole(folder, folder / "one.te", ("edges", "coverage"))


def cases(folder, rounds):
    for make, *rest in ((odd,), (damaged, rounds)):
        own = folder / make.__name__
        own.mkdir()
        yield from make(own, *rest)
    data = os.environ.get("HARTRACE_DATA")
    if data and (Path(data) / "hostile" / "make.py").is_file():
        (folder / "structured").mkdir()
        yield from structured(folder / "structured", Path(data))
    else:
        print("ignored: structured inputs need HARTRACE_DATA", file=sys.stderr)


def child(folder, rounds):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    results = refusals = 0
    for name, run in cases(Path(folder), rounds):
        # The last line says what the process worked on when it ended.
        print(repr(name), flush=True)
        try:
            run()
            results += 1
        except EXPECTED as error:
            refusals += 1
            hidden = [c for c in str(error) if c != "\n" and not c.isprintable()]
            if hidden and isinstance(error, hartrace.HartraceError):
                raise AssertionError(f"{name}: {error!r}") from error
    print(f"{results} results, {refusals} refusals")


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, __file__, "child", folder, str(rounds)]
        try:
            found = subprocess.run(line, stdout=subprocess.PIPE, timeout=SECONDS)
            status, output = found.returncode, found.stdout
        except subprocess.TimeoutExpired as late:
            status, output = f"after {SECONDS} s", late.stdout or b""
    last = output.decode().splitlines()[-1:]
    if status != 0:
        raise SystemExit(f"ended with status {status} in {' '.join(last)}")
    print("hostile:", *last)


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(sys.argv[2], int(sys.argv[3]))
    else:
        main(int(sys.argv[1]))
