"""What an opened capture tells agrees with what was executed, with itself, and with the tables of its parts."""

import copy
import doctest
import multiprocessing
import os
import pickle
import sys
import tempfile
from collections import Counter
from itertools import islice, pairwise
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


def calls(folder):
    """What calls, edges and coverage add up to is what functions, steps and instructions are."""
    capture = hartrace.open(folder / "sort.te")
    entered, stack = Counter(), []
    for call in capture.calls():
        if call.kind == "enter":
            entered[call.name, call.address, call.inlined] += 1
            stack.append(call)
        elif call.kind == "resume":
            stack.append(call)
        else:
            assert call.kind == "leave", call
            opened = stack.pop()
            assert (opened.name, opened.address) == (call.name, call.address) and opened.at <= call.at
    functions = capture.functions()
    assert not stack and len(functions) > 2
    assert entered == {(f.name, f.address, f.inlined): f.calls for f in functions}

    addresses = list(capture.instructions())
    coverage = capture.coverage()
    assert all(before.stop < after.start for before, after in pairwise(coverage)), coverage
    assert all(any(address in part for part in coverage) for address in set(addresses))
    blocks = [step for step in capture.steps() if isinstance(step, hartrace.Block)]
    taken = Counter((before.addresses[-1], after.addresses[0]) for before, after in pairwise(blocks))
    edges = capture.edges()
    assert edges and all(taken[edge.branch, edge.target] == edge.count for edge in edges)
    assert {edge.kind for edge in edges} == {"branch", "jump", "indirect"}
    return sum(entered.values())


def hottest(path):
    """What a process of its own returns."""
    capture = hartrace.open(path)
    steps = capture.steps()
    return capture.functions()[0], next(capture.calls()), capture.edges()[0], capture.coverage(), list(islice(steps, 50))


def values(folder):
    """What a capture tells can be compared, hashed, copied, pickled, and passed between processes."""
    path = folder / "sort.te"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found, again = pool.map(hottest, [path, path])
    here = hottest(path)
    assert found == again == here
    error = pickle.loads(pickle.dumps(hartrace.HartraceError("damage")))
    assert type(error) is hartrace.HartraceError and str(error) == "damage"
    gap = hartrace.Gap(source=None, packet=3, byte=30, cause="damage")
    total, entered, edge, _, steps = here
    for value in (total, entered, edge, gap, *steps):
        for other in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert other == value and hash(other) == hash(value) and repr(other) == repr(value), value
        assert value != 5 and value in {value} and repr(value).startswith(f"<hartrace.{type(value).__name__}")
    assert gap != hartrace.Gap(None, 3, 30, "loss") and edge != entered
    others = [step for step in steps if step != steps[0]]
    assert len(others) == len(steps) - 1 and {type(step) for step in steps} == {hartrace.Block, hartrace.Event}


def documented():
    """Every public name, and what it has, says what it is."""
    for name in hartrace.__all__:
        value = getattr(hartrace, name)
        if name in ("FORMS", "__version__"):
            continue
        assert value.__doc__, name
        if isinstance(value, type):
            own = {key: member for key, member in vars(value).items() if not key.startswith("_")}
            missing = [key for key, member in own.items() if not getattr(member, "__doc__", "doc")]
            assert not missing, (name, missing)


def unopened(folder):
    """What is no capture says what it is, and what to try."""
    (folder / "no captures").mkdir()
    (folder / "empty").touch()
    (folder / "text").write_text("text")
    cases = {
        "none": (FileNotFoundError, "there is no such file; try"),
        "no captures": (hartrace.HartraceError, "a folder without snapshot.ini"),
        "empty": (hartrace.HartraceError, "an empty file"),
        "text": (hartrace.HartraceError, "a text, not a capture"),
        "sort.elf": (hartrace.HartraceError, "a program (ELF), not a capture"),
        "sort.te.toml": (hartrace.HartraceError, f"a description, not the capture; try {folder / 'sort.te'}"),
    }
    for name, (kind, text) in cases.items():
        try:
            hartrace.open(folder / name)
        except kind as error:
            assert text in str(error) and name in str(error), error
        else:
            raise AssertionError(f"{name} was opened")


def readme(folder):
    """The examples of the README run, on the trace that it makes, and print what it says."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    examples = [block.split("```")[0] for block in text.split("```pycon\n")[1:]]
    assert len(examples) > 3, "the README has no examples"
    # As `hartrace run` does, which is not built for this test.
    assert "hartrace run tests/programs/elf/calls.elf -o calls.te" in text
    folder = folder / "readme"
    folder.mkdir()
    (folder / "tests").symlink_to(Path(__file__).parents[2] / "tests")
    before = os.getcwd()
    os.chdir(folder)
    hartrace.trace("tests/programs/elf/calls.elf", "calls.te")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    # One after the other, as they are pasted.
    test = parser.get_doctest("\n".join(examples), {}, "README", "README.md", 0)
    failed, tried = runner.run(test)
    os.chdir(before)
    assert failed == 0 and tried > 15, f"{failed} of {tried} examples fail"
    return tried


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
    missing = []
    kinds = Counter(call.kind for call in capture.calls(missing=missing))
    assert kinds["gap"] > 0 and any("gap" in text for text in missing), missing
    for ask in (capture.edges, capture.coverage, lambda: list(capture.calls())):
        try:
            ask()
        except hartrace.HartraceError as error:
            assert "gap" in str(error), error
        else:
            raise AssertionError("a gap was passed over")
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
        print(f"captures: {calls(Path(folder))} calls")
        values(Path(folder))
        documented()
        unopened(Path(folder))
        damaged(Path(folder))
        print(f"captures: {readme(Path(folder))} examples of the README")
    data = os.environ.get("HARTRACE_DATA")
    if data:
        print(f"captures: {arm(Path(data))}")
    else:
        print("ignored: snapshots need HARTRACE_DATA", file=sys.stderr)
