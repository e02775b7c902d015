#!/usr/bin/env python3
"""What trace hardware takes beside the CVA6 core: the same tool and the same passes for both.

    target/tools/fpga/bin/python fpga/cva6/share.py target/tools/cva6 HARTRACE [OLD] > fpga/reports/cva6_share.json

The first argument is the virtual environment with the core (`./test.sh cva6`), the second the command. It takes
ten minutes, most of them for the core, so its result is kept; with the old report as third argument, its figures of
the core are taken. Figures are of no use but for their ratio: nothing is flattened.

Memories are counted by their bits, since they are memory on any FPGA: queues and tables of the encoder. The core has none
but those of its caches, which are left out.
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


def count(folder, read, top, passes=PASSES):
    """The cells of a module and of those in it; and the bits of memories that the passes leave."""
    first = "proc; opt_expr; opt_clean\ntee -o first.json stat -json"
    yosys(folder, f"{read}\nhierarchy -top {top}\n{first} -top {top}\n{passes}\ntee -o last.json stat -json -top {top}\n")
    first, last = (json.loads(text[text.index("{"):])["design"]
                   for text in [(folder / name).read_text() for name in ["first.json", "last.json"]])
    cells = last["num_cells_by_type"]
    luts = sum(number for kind, number in cells.items() if kind == "$lut")
    ffs = sum(number for kind, number in cells.items() if re.match(r"\$_.*(DFF|DLATCH)", kind))
    bits = 0 if "memory_map" in passes else first["num_memory_bits"]
    return {"lut4": luts, "ff": ffs, "memory_bits": bits}


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
    return f"read_slang {SLANG} -D VERILATOR=1 --blackboxed-module sram --empty-blackboxes -f core.f"


def narrow(folder, command, config):
    """A file with a named configuration, and addresses of 40 bits."""
    subprocess.run([command, "hdl", "--config", config, "-o", folder / "wide"], check=True, stdout=subprocess.DEVNULL)
    text = (folder / "wide/config.toml").read_text()
    (folder / "narrow.toml").write_text(text.replace("iaddress_width_p = 64", "iaddress_width_p = 40"))
    return folder / "narrow.toml"


def trace(folder, command, options, environment):
    """The encoder alone, with registers and encapsulation, and whole; the connector; and the adapter within the core."""
    out = folder / "hdl"
    subprocess.run([command, "hdl", *options, "--core", "cva6", "-o", out], check=True, stdout=subprocess.DEVNULL)
    files = " ".join(str(out / name) for name in (out / "te_top.f").read_text().split())
    names = [name for name in (out / "cva6_te_adapter.f").read_text().split() if "bind" not in name]
    adapter = " ".join(str(out / name) for name in names)
    passes = PASSES.replace("memory_map; ", "")
    parts = {}
    for top in ["te_core", "te_hart", "te_top", "cva6_te_connector"]:
        parts[top] = count(folder, f"read_slang --top {top} {SLANG} {files}", top, passes)
    read = f"{core(folder, environment)} --top cva6_te_adapter {adapter}"
    parts["cva6_te_adapter"] = count(folder, read, "cva6_te_adapter", passes)
    return parts


def share(parts, names, whole):
    """The sum of parts, and which share of the core it is."""
    found = {kind: sum(parts[name][kind] for name in names) for kind in ["lut4", "ff", "memory_bits"]}
    return found | {f"{kind}_of_core": round(found[kind] / whole[kind], 4) for kind in ["lut4", "ff"]}


def main():
    environment, command = sys.argv[1], os.path.abspath(sys.argv[2])
    report = {"yosys": metadata.version("pyosys"), "passes": " ".join(PASSES.split()), "trace": {}}
    with tempfile.TemporaryDirectory() as name:
        if len(sys.argv) > 3:
            report["core"] = {kind: json.loads(Path(sys.argv[3]).read_text())["core"][kind] for kind in ["lut4", "ff"]}
        else:
            report["core"] = count(Path(name), f"{core(Path(name), environment)} --top cva6", "cva6")
    one = ["--lanes", "1"]
    encoders = {"small": [], "small, one block per cycle": one, "small, addresses of 40 bits": [],
                "small, addresses of 40 bits, one block per cycle": one, "cva6": [], "full": []}
    for encoder, options in encoders.items():
        with tempfile.TemporaryDirectory() as name:
            config = encoder.split(",")[0]
            if "40 bits" in encoder:
                config = narrow(Path(name), command, config)
            options = ["--config", config, *options]
            parts = trace(Path(name), command, options, environment)
        connected = ["cva6_te_connector", "cva6_te_adapter"]
        parts["without_sink"] = share(parts, ["te_hart", *connected], report["core"])
        parts["whole"] = share(parts, ["te_top", *connected], report["core"])
        report["trace"][encoder] = parts
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
