"""Captures that a Dask cluster decodes give the tables of one process, even if a worker dies half-way.

The first argument is the size of the capture in bytes.
"""

import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb
import hartrace
import pyarrow
import pyarrow.parquet
from distributed import Client, LocalCluster

# Rows that are compared at a time.
LARGE = 10_000_000
# Bytes of a capture of which all tables are made. Blocks of a larger one have more bytes than fit.
ALL = 100_000_000
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "scale.md"


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def capture(folder, size):
    """A capture of at least `size` bytes: runs of a program, one after the other, as if it had been started again."""
    once = folder / "once.te"
    # As many instructions as fit, up to all of the program.
    limit = min(200_000_000, max(300_000, 8 * size))
    hartrace.trace("long", once, "delta", limit)
    bytes_once = once.read_bytes()
    runs = -(-size // len(bytes_once))
    path = folder / "capture.te"
    with open(path, "wb") as out:
        for _ in range(runs):
            out.write(bytes_once)
    shutil.copy(f"{once}.toml", f"{path}.toml")
    print(f"capture: {runs} runs of {len(bytes_once)} bytes, {path.stat().st_size} bytes")
    return path


def measured(what, work):
    start, before = time.time(), resource.getrusage(resource.RUSAGE_SELF)
    result = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.time() - start
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"{what}: {seconds:.1f} s, {cpu:.1f} s of CPU time", flush=True)
    return result, seconds, cpu


def peak(path="/proc/self/status"):
    """The largest amount of memory of this process so far, in MB."""
    for line in Path(path).read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1000
    return 0


def in_one_process(plan, tables, folder):
    folder.mkdir()
    results = {}
    for table in tables:
        parts, costs = [], []
        for number in range(len(plan)):
            start = time.process_time()
            parts.append(hartrace.decode(plan, number, table, folder / f"{table}-{number}.parquet").path)
            costs.append(time.process_time() - start)
        start = time.process_time()
        results[table] = hartrace.merge(plan, parts, folder / f"{table}.parquet")
        merging = time.process_time() - start
        rate = plan.captures[0]["bytes"] / 1e6 / sum(costs)
        spread = max(costs) / min(costs)
        print(f"{table}: parts {sum(costs):.2f} s of CPU time, {rate:.0f} MB/s, dearest {spread:.2f} times the")
        print(f"    cheapest; merging {merging:.2f} s")
        # Of short parts, most of the cost is that of the start.
        check(spread < 2 or min(costs) < 0.2, table, "parts differ too much", costs)
    return results


def kill_one(client, done, after):
    """Kills a worker process as soon as `after` tasks are done; returns its number."""
    killed = []

    def watch():
        while not done() >= after:
            time.sleep(0.01)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread, killed


def equal(a, b):
    """Whether two tables have the same rows, each as often, in any order. Large tables are compared in portions, by hash."""
    names = [f"read_parquet('{path}')" for path in (a, b)]
    count, other = (duckdb.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in names)
    portions = count // LARGE + 1
    for portion in range(portions):
        rows = [f"(SELECT * FROM {name} t WHERE hash(t) % {portions} = {portion})" for name in names]
        # Of two tables with equally many rows, neither has a row more if one has none more.
        if duckdb.sql(f"SELECT count(*) FROM ({' EXCEPT ALL '.join(rows)})").fetchall() != [(0,)]:
            return False
    return count == other


def uncut(path, tables, folder):
    """The tables of the same capture, decoded from its first byte to its last without a seam."""
    folder.mkdir()
    whole = hartrace.plan(path, folder / "plan.json", 1)
    check(len(whole) == 1, len(whole), "parts")
    results = {}
    for table in tables:
        part = hartrace.decode(whole, 0, table, folder / f"part-{table}.parquet").path
        results[table] = hartrace.merge(whole, [part], folder / f"{table}.parquet")
    return results


def dask(client, plan, folder):
    tables = ["edges", "calls", "gaps"]
    if plan.captures[0]["bytes"] < ALL:
        tables += ["blocks", "functions", "coverage"]
    alone, seconds, _ = measured("one process", lambda: in_one_process(plan, tables, folder / "alone"))
    print(f"one process: peak {peak():.0f} MB")
    whole, *_ = measured("one process, one part", lambda: uncut(folder / "capture.te", tables, folder / "whole"))
    target = folder / "dask"
    thread, killed = kill_one(
        client,
        lambda: len(list(target.glob("*.parquet"))) if target.exists() else 0,
        len(plan) * len(tables) // 2,
    )
    found, parallel, _ = measured(
        "two workers, one of them killed", lambda: hartrace.on_dask(client, plan, tables, target, 4)
    )
    thread.join()
    check(killed, "no worker was killed")
    for table in tables:
        b = found[table]
        for a in alone[table], whole[table]:
            check(a.complete and b.complete and a.instructions == b.instructions and a.gaps == b.gaps, table)
            check(equal(a.path, b.path), table, "differs")
        rows = duckdb.sql(f"SELECT count(*) FROM read_parquet('{b.path}')").fetchall()[0][0]
        print(f"{table}: {rows} rows, {Path(b.path).stat().st_size} bytes, equal")
    for worker, megabytes in client.run(peak).items():
        print(f"worker {worker}: peak {megabytes:.0f} MB")
    print(f"gain {seconds / parallel:.2f}, with tasks that were run again")
    # The parts are there, so that this is the time of merging.
    shared, *_ = measured(
        "calls merged in two shares", lambda: hartrace.on_dask(client, plan, ["calls"], target, shares=2)["calls"]
    )
    a = alone["calls"]
    check((a.parts, a.instructions, a.gaps) == (shared.parts, shared.instructions, shared.gaps), shared)
    check(equal(a.path, shared.path), "shares differ")
    return found


def sums(plan, found):
    """Tables agree with each other."""
    instructions = found["edges"].instructions
    (blocks,) = duckdb.sql(f"SELECT sum(insns) FROM read_parquet('{found['blocks'].path}')").fetchall()[0]
    check(blocks == instructions, blocks, instructions)
    (gaps,) = duckdb.sql(
        f"SELECT count(*) FROM read_parquet('{found['gaps'].path}') WHERE event = 'gap'"
    ).fetchall()[0]
    check(gaps == found["gaps"].gaps, gaps)
    # A table in memory, through Arrow's C interface.
    table = hartrace.decode(plan, 0, "edges")
    arrow = pyarrow.table(table)
    check(arrow.num_rows == len(table) > 0, arrow)
    folder = Path(found["edges"].path).parent
    pyarrow.parquet.write_table(arrow, folder / "memory.parquet")
    stored = hartrace.decode(plan, 0, "edges", folder / "stored.parquet").path
    check(equal(folder / "memory.parquet", stored), "a table in memory differs")


def questions(found):
    """The queries of the guide have answers."""
    if not GUIDE.exists():
        raise AssertionError(f"no guide {GUIDE}")
    queries = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    check(len(queries) == 5, len(queries), "queries")
    os.chdir(Path(found["edges"].path).parent)
    for number, query in enumerate(queries):
        rows = duckdb.sql(query).fetchall()
        check(rows, query)
        print(f"query {number + 1}: {len(rows)} rows, first {rows[0]}")


def errors(plan, folder):
    part = hartrace.decode(plan, 0, "edges", folder / "0.parquet").path
    for tables, word in ([], "missing"), ([part], "missing"), ([part, part], "twice"):
        try:
            hartrace.merge(plan, tables, folder / "never.parquet")
        except hartrace.HartraceError as error:
            check(word in str(error), error)
        else:
            raise AssertionError(f"{tables} were merged")
    check(not (folder / "never.parquet").exists())


def sweep(client):
    programs = ["calls", "sort", "strings"]
    names = hartrace.schemes(["E-Trace", "tTMBP"], ["tmbp.entries=64..256"])
    limit = 60_000
    alone = [figures for program in programs for figures in hartrace.compare(program, names, limit)]
    started = time.time()
    thread, killed = kill_one(client, lambda: time.time() - started > 0.3, True)
    found = hartrace.compare_on_dask(client, programs, names, limit)
    thread.join()
    check(killed, "no worker was killed")
    check(found == alone and len(found) == len(programs) * len(names), "the sweep differs")
    check(all(figures["verified"] for figures in found))
    print(f"compare: {len(found)} results, equal")


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory(dir=os.environ.get("HARTRACE_PYTHON_FOLDER")) as name:
        folder = Path(name)
        path = capture(folder, size)
        parts = max(8, size >> 26)
        plan, _, cpu = measured("plan", lambda: hartrace.plan(path, folder / "plan.json", parts))
        print(f"plan: {len(plan)} parts, {path.stat().st_size / 1e6 / cpu:.0f} MB per second of CPU time")
        check(len(plan) == parts, len(plan))
        packets = [part["packets"] for part in plan.parts]
        check(max(packets) < 2 * min(packets), packets)
        errors(plan, folder)
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                found = dask(client, plan, folder)
                sweep(client)
        if "blocks" in found:
            sums(plan, found)
            questions(found)


if __name__ == "__main__":
    main()
