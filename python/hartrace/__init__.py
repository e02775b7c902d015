"""Open processor traces, and decode RISC-V E-Trace captures of any size.

`open` opens a capture of any kind (E-Trace, ETMv4, ETE, PTM, Linux perf) and tells what was executed. Its `Capture` has
`count`, `functions`, `report`, and the iterators `instructions` and `steps`. If part of a trace is missing, this is an
exception, unless you pass a list that takes what is missing: `capture.functions(missing=gaps)`. Among `steps` there are
`Gap`s instead.

For large captures: a capture is cut into parts that stand alone (`plan`), each part is decoded into a table (`decode`), and tables are joined
(`merge`). `on_dask` does all of it on a cluster, and `compare_on_dask` runs sweeps of trace compressors there.
"""

import json
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from . import _hartrace
from ._hartrace import FORMS, Block, Capture, Event, Function, Gap, HartraceError, Table, __version__, open

__all__ = [
    "FORMS",
    "Block",
    "Capture",
    "Event",
    "Function",
    "Gap",
    "HartraceError",
    "Plan",
    "Summary",
    "Table",
    "__version__",
    "compare",
    "compare_on_dask",
    "decode",
    "merge",
    "on_dask",
    "open",
    "plan",
    "programs",
    "schemes",
    "trace",
]

# Tables that become smaller when they are merged. Of the others all rows are copied, so that they are merged only once.
SUMS = ("edges", "coverage", "functions")


@dataclass(frozen=True)
class Plan:
    """A plan in a file."""

    path: str
    parts: list
    captures: list

    def __len__(self):
        return len(self.parts)


@dataclass(frozen=True)
class Summary:
    """What is in the Parquet file of a table."""

    path: str
    table: str
    parts: tuple
    complete: bool
    instructions: int
    gaps: int


def _summary(path, text):
    found = json.loads(text)
    return Summary(
        path, found["emit"], tuple(found["parts"]), found["complete"], found["instructions"], found["gaps"]
    )


def plan(captures, output, parts=None):
    """Cuts captures into about `parts` parts, by default one for every 64 MiB, and writes the plan to `output`."""
    if isinstance(captures, (str, PathLike)):
        captures = [captures]
    text = _hartrace.plan([fspath(capture) for capture in captures], fspath(output), parts)
    found = json.loads(text)
    return Plan(fspath(output), found["parts"], found["captures"])


def _path(plan):
    return plan.path if isinstance(plan, Plan) else fspath(plan)


def decode(plan, number, table, output=None):
    """Decodes a part: into the Parquet file `output`, or into memory.

    In memory it is a `Table`, which pyarrow, Polars, DuckDB and others take over without a copy (`pyarrow.table(it)`).
    """
    if output is None:
        return _hartrace.decode_table(_path(plan), number, table)
    output = fspath(output)
    return _summary(output, _hartrace.decode_file(_path(plan), number, table, output))


def merge(plan, tables, output, some=False, share=None):
    """Joins the Parquet files of all parts, or with `some` of parts that follow each other.

    With a `share`, such as `"0/4"`, only one share of the rows of calls is written: several processes can merge at once,
    and their files together are the table.
    """
    if some and share:
        raise ValueError("a share is one of all parts, not of some")
    output = fspath(output)
    tables = [fspath(table) for table in tables]
    return _summary(output, _hartrace.merge(_path(plan), tables, output, some, share))


def _decode_task(plan, number, table, output):
    # If the worker that has made the file is dead, or the whole job was, the file is there all the same.
    found = _hartrace.existing(plan, number, table, output)
    return _summary(output, found) if found else decode(plan, number, table, output)


def _merge_task(plan, parts, output, some=False, share=None):
    return merge(plan, [part.path for part in parts], output, some, share)


def _together(shares, path):
    """What is in the files of all shares, which match `path`."""
    first, last = shares[0], shares[-1]
    instructions, gaps = (sum(getattr(share, name) for share in shares) for name in ("instructions", "gaps"))
    return Summary(path, first.table, (first.parts[0], last.parts[1]), True, instructions, gaps)


def on_dask(client, plan, tables, folder, fan_in=16, shares=1):
    """Decodes all parts of a plan on a Dask cluster; returns a `Summary` for each of `tables`.

    `client` is a `distributed.Client`. Workers have to see the plan, the captures and `folder` under the same names, as on
    a shared file system. Files of parts stay in `folder`, and those of the result are `TABLE.parquet` there. A task has no
    effect but its file, so if a worker dies, Dask runs its tasks again elsewhere, and those whose files are there end at
    once. The same is true of a job that is started again. Of tables of sums, `fan_in` are merged at a
    time. Calls are merged by as many tasks as there are `shares`, each into a file of its own; the path of the
    result is then a pattern, `calls.*-of-SHARES.parquet`, which DuckDB and Polars read as one table.
    """
    path, folder = _path(plan), Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    path = str(Path(path).absolute())
    count = len(json.loads(Path(path).read_text())["parts"])
    results = {}
    for table in tables:
        level = [
            client.submit(
                _decode_task, path, number, table, str(folder / f"{table}-{number}.parquet"), pure=False
            )
            for number in range(count)
        ]
        depth = 0
        while table in SUMS and len(level) > fan_in:
            depth += 1
            groups = [level[first : first + fan_in] for first in range(0, len(level), fan_in)]
            level = [
                client.submit(
                    _merge_task, path, group, str(folder / f"{table}-{depth}-{number}.some"), True, pure=False
                )
                for number, group in enumerate(groups)
            ]
        if table == "calls" and shares > 1:
            files = [str(folder / f"calls.{share}-of-{shares}.parquet") for share in range(shares)]
            merged = [
                client.submit(_merge_task, path, level, file, share=f"{share}/{shares}", pure=False)
                for share, file in enumerate(files)
            ]
            pattern = str(folder / f"calls.*-of-{shares}.parquet")
            results[table] = client.submit(_together, merged, pattern, pure=False)
            continue
        output = str(folder / f"{table}.parquet")
        results[table] = client.submit(_merge_task, path, level, output, pure=False)
    return client.gather(results)


def trace(program, output, mode="delta", limit=1_000_000_000):
    """Executes a program, bundled or in an ELF file, and writes its trace and a description of it.

    Returns the number of instructions.
    """
    return _hartrace.trace(fspath(program), mode, limit, fspath(output))


def programs():
    """The names of the bundled programs."""
    return _hartrace.programs()


def schemes(names=(), sweep=()):
    """The schemes that `hartrace compare --schemes NAMES --sweep SWEEP` measures, by name."""
    return _hartrace.schemes(list(names), list(sweep))


def compare(program, names, limit=3_000_000, sync_every=None):
    """Measures a program, bundled or in an ELF file, in trace compressors; returns a dictionary for each."""
    return json.loads(_hartrace.compare(fspath(program), list(names), limit, sync_every))


def compare_on_dask(client, programs, names, limit=3_000_000, sync_every=None):
    """The same for several programs, on a Dask cluster: each program in each scheme is a task."""
    tasks = [
        client.submit(compare, program, [name], limit, sync_every, pure=False)
        for program in programs
        for name in names
    ]
    return [figures for found in client.gather(tasks) for figures in found]
