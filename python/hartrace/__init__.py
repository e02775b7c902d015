"""Open processor traces, and decode RISC-V E-Trace captures of any size.

`open` opens a capture of any kind (E-Trace, ETMv4, ETE, PTM, Linux perf) and tells what was executed. Its `Capture` has
`count`, `functions`, `edges`, `coverage`, `report`, and the iterators `instructions`, `calls` and `steps`. If part of a trace is
missing, this is an exception, unless you pass a list that takes what is missing: `capture.functions(missing=gaps)`. Among
`steps` there are `Gap`s instead. What they return are values: they can be compared, printed and pickled.

For large captures: a capture is cut into parts that stand alone (`plan`), each part is decoded into a table (`decode`), and tables are joined
(`merge`). `on_dask` does all of it on a cluster, and `compare_on_dask` runs sweeps of trace compressors there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from . import _hartrace
from ._hartrace import (
    FORMS,
    Block,
    Call,
    Calls,
    Capture,
    Edge,
    Event,
    Function,
    Gap,
    HartraceError,
    Instructions,
    Steps,
    Table,
    __version__,
    open,
)

if TYPE_CHECKING:
    from ._hartrace import _StrPath

    # That of `distributed`, which need not be installed and has few types.
    Client = Any

__all__ = [
    "FORMS",
    "Block",
    "Call",
    "Calls",
    "Capture",
    "Edge",
    "Event",
    "Function",
    "Gap",
    "HartraceError",
    "Instructions",
    "Plan",
    "Steps",
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
    parts: list[dict[str, Any]]
    captures: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Summary:
    """What is in the Parquet file of a table."""

    path: str
    table: str
    parts: tuple[int, int]
    complete: bool
    instructions: int
    gaps: int


def _summary(path: str, text: str) -> Summary:
    found = json.loads(text)
    first, end = found["parts"]
    return Summary(
        path, found["emit"], (first, end), found["complete"], found["instructions"], found["gaps"]
    )


def plan(captures: _StrPath | Iterable[_StrPath], output: _StrPath, parts: int | None = None) -> Plan:
    """Cuts captures into about `parts` parts, by default one for every 64 MiB, and writes the plan to `output`."""
    if isinstance(captures, (str, PathLike)):
        captures = [captures]
    text = _hartrace.plan([fspath(capture) for capture in captures], fspath(output), parts)
    found = json.loads(text)
    return Plan(fspath(output), found["parts"], found["captures"])


def _path(plan: Plan | _StrPath) -> str:
    return plan.path if isinstance(plan, Plan) else fspath(plan)


@overload
def decode(plan: Plan | _StrPath, number: int, table: str, output: None = None) -> Table: ...
@overload
def decode(plan: Plan | _StrPath, number: int, table: str, output: _StrPath) -> Summary: ...
def decode(plan: Plan | _StrPath, number: int, table: str, output: _StrPath | None = None) -> Table | Summary:
    """Decodes a part: into the Parquet file `output`, or into memory.

    In memory it is a `Table`, which pyarrow, Polars, DuckDB and others take over without a copy (`pyarrow.table(it)`).
    """
    if output is None:
        return _hartrace.decode_table(_path(plan), number, table)
    output = fspath(output)
    return _summary(output, _hartrace.decode_file(_path(plan), number, table, output))


def merge(
    plan: Plan | _StrPath,
    tables: Iterable[_StrPath],
    output: _StrPath,
    some: bool = False,
    share: str | None = None,
) -> Summary:
    """Joins the Parquet files of all parts, or with `some` of parts that follow each other.

    With a `share`, such as `"0/4"`, only one share of the rows of calls is written: several processes can merge at once,
    and their files together are the table.
    """
    if some and share:
        raise ValueError("a share is one of all parts, not of some")
    output = fspath(output)
    paths = [fspath(table) for table in tables]
    return _summary(output, _hartrace.merge(_path(plan), paths, output, some, share))


def _decode_task(plan: str, number: int, table: str, output: str) -> Summary:
    # If the worker that has made the file is dead, or the whole job was, the file is there all the same.
    found = _hartrace.existing(plan, number, table, output)
    return _summary(output, found) if found else decode(plan, number, table, output)


def _merge_task(
    plan: str, parts: list[Summary], output: str, some: bool = False, share: str | None = None
) -> Summary:
    return merge(plan, [part.path for part in parts], output, some, share)


def _together(shares: list[Summary], path: str) -> Summary:
    """What is in the files of all shares, which match `path`."""
    first, last = shares[0], shares[-1]
    instructions, gaps = (sum(getattr(share, name) for share in shares) for name in ("instructions", "gaps"))
    return Summary(path, first.table, (first.parts[0], last.parts[1]), True, instructions, gaps)


def on_dask(
    client: Client,
    plan: Plan | _StrPath,
    tables: Iterable[str],
    folder: _StrPath,
    fan_in: int = 16,
    shares: int = 1,
) -> dict[str, Summary]:
    """Decodes all parts of a plan on a Dask cluster; returns a `Summary` for each of `tables`.

    `client` is a `distributed.Client`. Workers have to see the plan, the captures and `folder` under the same names, as on
    a shared file system. Files of parts stay in `folder`, and those of the result are `TABLE.parquet` there. A task has no
    effect but its file, so if a worker dies, Dask runs its tasks again elsewhere, and those whose files are there end at
    once. The same is true of a job that is started again. Of tables of sums, `fan_in` are merged at a
    time. Calls are merged by as many tasks as there are `shares`, each into a file of its own; the path of the
    result is then a pattern, `calls.*-of-SHARES.parquet`, which DuckDB and Polars read as one table.
    """
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    path = str(Path(_path(plan)).absolute())
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
    summaries: dict[str, Summary] = client.gather(results)
    return summaries


def trace(program: _StrPath, output: _StrPath, mode: str = "delta", limit: int = 1_000_000_000) -> int:
    """Executes a program, bundled or in an ELF file, and writes its trace and a description of it.

    Returns the number of instructions.
    """
    return _hartrace.trace(fspath(program), mode, limit, fspath(output))


def programs() -> list[str]:
    """The names of the bundled programs."""
    return _hartrace.programs()


def schemes(names: Iterable[str] = (), sweep: Iterable[str] = ()) -> list[str]:
    """The schemes that `hartrace compare --schemes NAMES --sweep SWEEP` measures, by name."""
    return _hartrace.schemes(list(names), list(sweep))


def compare(
    program: _StrPath, names: Iterable[str], limit: int = 3_000_000, sync_every: int | None = None
) -> list[dict[str, Any]]:
    """Measures a program, bundled or in an ELF file, in trace compressors; returns a dictionary for each."""
    figures: list[dict[str, Any]] = json.loads(
        _hartrace.compare(fspath(program), list(names), limit, sync_every)
    )
    return figures


def compare_on_dask(
    client: Client,
    programs: Iterable[_StrPath],
    names: Sequence[str],
    limit: int = 3_000_000,
    sync_every: int | None = None,
) -> list[dict[str, Any]]:
    """The same for several programs, on a Dask cluster: each program in each scheme is a task."""
    tasks = [
        client.submit(compare, program, [name], limit, sync_every, pure=False)
        for program in programs
        for name in names
    ]
    return [figures for found in client.gather(tasks) for figures in found]
