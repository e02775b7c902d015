"""What an opened capture tells agrees with what was executed, with itself, and with the tables of its parts."""

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

import hartrace

PROGRAMS = Path(__file__).parents[2] / "tests" / "programs" / "elf"


def whole(folder):
    path = folder / "sort.te"
    executed = hartrace.trace("sort", path, "delta", 50_000)
    capture = hartrace.open(path)
    assert capture.protocol == "E-Trace" and capture.warnings == [], repr(capture)
    assert capture.count() == executed

    addresses = list(capture.instructions())
    assert len(addresses) == executed
    listed = [int(line, 16) for line in capture.report("pcs").split()]
    assert addresses == listed
    assert len(set(addresses)) > 100 and addresses[0] == 0x8000_0000

    steps = list(capture.steps())
    blocks = [step for step in steps if isinstance(step, hartrace.Block)]
    assert [address for block in blocks for address in block.addresses] == addresses
    kinds = {step.kind for step in steps if isinstance(step, hartrace.Event)}
    assert {"on", "context", "off"} <= kinds, kinds

    capture.report("folded", output=folder / "sort.folded")
    assert (folder / "sort.folded").read_bytes() == capture.report("folded")
    assert set(hartrace.FORMS) >= {"folded", "pcs", "json"}
    for wrong, expected in (
        (lambda: hartrace.open(folder / "none"), FileNotFoundError),
        (lambda: hartrace.open(path, threads=0), ValueError),
        (lambda: capture.report("foldedd"), ValueError),
        (lambda: capture.count(missing=5), TypeError),
    ):
        try:
            wrong()
        except expected as error:
            assert "invalid zero" not in str(error)
        else:
            raise AssertionError(f"no {expected}")

    functions = capture.functions()
    assert sum(function.instructions for function in functions) == executed
    hottest = functions[0]
    assert hottest.instructions == max(function.instructions for function in functions)
    assert not hottest.name.startswith("0x") and hottest.with_callees >= hottest.instructions, hottest

    # Parts are decoded in another way.
    plan = hartrace.plan(path, folder / "plan.json", parts=3)
    assert sum(hartrace.decode(plan, part, "edges").instructions for part in range(len(plan))) == executed
    return executed


def readme(folder):
    """The example of the README runs, in the folder of a capture of that name."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    examples = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert examples, "the README has no example"
    (folder / "sort.te").rename(folder / "sort.trace")
    (folder / "sort.te.toml").rename(folder / "sort.trace.toml")
    before = os.getcwd()
    os.chdir(folder)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        for example in examples:
            exec(compile(example, "README.md", "exec"), {})
    os.chdir(before)
    assert len(output.getvalue().splitlines()) > 1000


def damaged(folder):
    good, path = folder / "sort.te", folder / "damaged.te"
    data = bytearray(good.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 100] = bytes(100)
    path.write_bytes(data)
    text = Path(f"{good}.toml").read_text()
    # What the description says of the bytes is not so any more.
    start = text.index("[capture]")
    Path(f"{path}.toml").write_text(text[:start] + text[text.index("[", start + 1) :])
    capture = hartrace.open(path)
    for ask in (capture.count, capture.functions, lambda: list(capture.instructions())):
        try:
            ask()
        except hartrace.HartraceError as error:
            assert "gap" in str(error), error
        else:
            raise AssertionError("a gap was passed over")
    missing = []
    count = capture.count(missing=missing)
    assert missing and 0 < count
    steps = list(capture.steps())
    gaps = [step for step in steps if isinstance(step, hartrace.Gap)]
    listed = []
    assert len(list(capture.instructions(missing=listed))) == count and listed
    assert gaps and all(gap.cause for gap in gaps)
    assert sum(len(step.addresses) for step in steps if isinstance(step, hartrace.Block)) == count


def arm(data):
    """Snapshots of Arm systems: functions, steps and the count agree."""
    snapshots = sorted(path.parent for path in data.glob("coresight/*/*/snapshot.ini"))
    executed = 0
    for snapshot in snapshots:
        capture = hartrace.open(snapshot)
        missing = []
        total = sum(function.instructions for function in capture.functions(missing=missing))
        assert total == capture.count(missing=missing), snapshot
        steps = list(capture.steps())
        blocks = [step for step in steps if isinstance(step, hartrace.Block)]
        assert total == sum(len(block.addresses) for block in blocks), snapshot
        rest = [step.cause for step in steps if isinstance(step, hartrace.Gap) and step.packet is None]
        assert set(rest) <= set(missing), rest
        # One source alone.
        sources = {block.source for block in blocks} - {None}
        for source in sources:
            alone = hartrace.open(snapshot, source=source).count(missing=[])
            assert alone == sum(len(block.addresses) for block in blocks if block.source == source)
        executed += total
    return f"{len(snapshots)} snapshots, {executed} instructions"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(f"captures: {whole(Path(folder))} instructions")
        damaged(Path(folder))
        readme(Path(folder))
    data = os.environ.get("HARTRACE_DATA")
    if data:
        print(f"captures: {arm(Path(data))}")
    else:
        print("ignored: snapshots need HARTRACE_DATA", file=sys.stderr)
