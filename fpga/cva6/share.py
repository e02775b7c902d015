#!/usr/bin/env python3
"""What trace hardware takes beside the CVA6 core: the same tool and the same passes for both.

    target/tools/fpga/bin/python fpga/cva6/share.py target/tools/cva6 HARTRACE > fpga/reports/cva6_share.json

The first argument is the virtual environment with the core (`./test.sh cva6`), the second the command. It takes
ten minutes, most of them for the core, so its result is kept; with the old report as third argument, its figures of
the core are taken. Figures are of no use but for their ratio: nothing is flattened, and caches are left out.

Memories become flip-flops, in the core too, whose caches are not among them. Queues and tables of the encoder are
memory on any FPGA, so there are figures without them as well, and the bits they have.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

# Those of `synth`, without its first check, which does not come to an end on the core.
PASSES = """
proc; opt_expr; opt_clean; opt -nodffe -nosdff; opt; wreduce; peepopt; opt_clean; alumacc; opt
memory -nomap; opt_clean; opt -fast -full; memory_map; opt -undriven -fine; techmap; opt -fast
abc -lut 4; opt_clean
"""

SLANG = (
    "--keep-hierarchy --translate-off-format pragma,translate_off,translate_on -Wno-range-width-oob "
    "--ignore-initial --ignore-assertions"
)


def yosys(folder, script):
    """Runs a script, and gives what it printed."""
    (folder / "script.ys").write_text(script)
    run = "from pyosys import libyosys; libyosys.run_pass('script script.ys')"
    done = subprocess.run([sys.executable, "-c", run], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout


def statistics(folder, read, top, passes):
    """What yosys counts of a module and of those in it."""
    yosys(folder, f"{read}\nhierarchy -top {top}\n{passes}\ntee -o stat.json stat -json -top {top}\n")
    text = (folder / "stat.json").read_text()
    return json.loads(text[text.index("{"):])["design"]


def count(folder, read, top, passes=PASSES):
    """Its cells."""
    cells = statistics(folder, read, top, passes)["num_cells_by_type"]
    luts = sum(number for kind, number in cells.items() if kind == "$lut")
    ffs = sum(number for kind, number in cells.items() if re.match(r"\$_.*(DFF|DLATCH)", kind))
    return {"lut4": luts, "ff": ffs}


def trace(folder, read, top):
    """Cells of trace hardware, with and without its memories."""
    without = count(folder, read, top, PASSES.replace("memory_map; ", ""))
    bits = statistics(folder, read, top, "proc; opt_expr; opt_clean")["num_memory_bits"]
    return count(folder, read, top) | {"without_memories": without, "memory_bits": bits}


def core(folder, environment):
    """The list of the core's files, with our configuration."""
    root = next(Path(environment).resolve().glob("lib/*/site-packages/pythondata_cpu_cva6/system_verilog"))
    here = Path(__file__).resolve().parents[2]
    lines = []
    for line in (root / "core/Flist.cv64a6_imafdc_sv39").read_text().splitlines():
        line = line.strip().replace("${CVA6_REPO_DIR}", str(root))
        tracer = "instr_tracer" in line and not line.endswith("instr_tracer_pkg.sv")
        if not line or line.startswith("//") or "fpu_div_sqrt_mvp" in line or tracer:
            continue
        if line.endswith("_config_pkg.sv"):
            line = str(here / "sim/cva6/rtl/cva6_config_pkg.sv")
        lines.append(line)
    (folder / "core.f").write_text("\n".join(lines) + "\n")
    return (
        f"read_slang --top cva6 {SLANG} -D VERILATOR=1 --blackboxed-module sram --empty-blackboxes -f core.f"
    )


def generated(folder, command, config):
    """The encoder with its top module, and the connector."""
    out = folder / config
    arguments = ["hdl", "--config", config, "--core", "cva6", "-o", str(out)]
    subprocess.run([command, *arguments], check=True, stdout=subprocess.DEVNULL)
    names = (out / "te_top.f").read_text().split()
    return " ".join(str(out / name) for name in names)


def main():
    environment, command = sys.argv[1], os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = {"yosys": metadata.version("pyosys"), "passes": " ".join(PASSES.split()), "trace": {}}
        for config in ["small", "cva6", "full"]:
            files = generated(folder, command, config)
            report["trace"][config] = {
                top: trace(folder, f"read_slang --top {top} {SLANG} {files}", top)
                for top in ["cva6_te_connector", "te_core", "te_top"]
            }
        old = json.loads(Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else None
        report["core"] = old["core"] if old else count(folder, core(folder, environment), "cva6")
        for parts in report["trace"].values():
            both = [parts["cva6_te_connector"], parts["te_top"]]
            logic = [part["without_memories"] for part in both]
            for name, of in [("share_of_core", both), ("share_without_memories", logic)]:
                share = {kind: sum(part[kind] for part in of) / report["core"][kind] for kind in ["lut4", "ff"]}
                parts[name] = {kind: round(value, 4) for kind, value in share.items()}
        print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
