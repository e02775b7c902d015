//! The commands in groups, in the order in which people need them.

/// Every command that is not hidden, once.
pub(crate) const GROUPS: [(&str, &[&str]); 6] = [
    ("Make a trace", &["run", "encode", "receive", "log"]),
    (
        "See what was executed",
        &["top", "report", "decode", "export", "stats", "dump", "explain", "probe", "bundle"],
    ),
    ("Compare and check", &["diff", "check"]),
    ("Captures larger than one machine", &["plan", "part", "merge"]),
    ("Trace hardware", &["hdl", "params", "sim", "fpga", "image", "profile"]),
    ("Research, and the command itself", &["compare", "scenarios", "demo", "completions", "man"]),
];

/// Ten things to do first.
pub(super) const START: [(&str, &[(&str, &str)]); 4] = [
    (
        "Make a trace",
        &[
            ("demo", "trace and verify twelve bundled programs"),
            ("run prog.elf -o prog.te", "execute a program and trace it"),
        ],
    ),
    (
        "See what was executed",
        &[
            ("report prog.te -o prog.html", "a page for the browser"),
            ("decode prog.te --emit listing", "every instruction"),
            (
                "export prog.te --format perfetto -o prog.pt",
                "for Perfetto, pprof, flame graphs, lcov",
            ),
            ("top prog.te", "the functions that executed most"),
            (
                "probe trace.bin --elf prog.elf --write",
                "identify an unknown capture, and describe it",
            ),
        ],
    ),
    (
        "Compare",
        &[
            ("diff before.te after.te", "what two captures executed"),
            ("compare prog.elf", "E-Trace beside other compressors"),
        ],
    ),
    (
        "Trace hardware",
        &[("hdl --config small -o hdl", "an encoder in SystemVerilog, with its manual")],
    ),
];
