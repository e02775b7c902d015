//! Examples for the help of every command. They follow each other: `prog.te` is what the first one writes.

use super::Example;

macro_rules! examples {
    ($($line:literal: $what:literal),+ $(,)?) => {
        &[$(Example { line: $line, what: $what }),+]
    };
}

/// The examples of each command, by its path.
pub(crate) const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "run",
        examples![
            "run prog.elf --encode ir+bp -o prog.te --retired prog.htr": "the trace, and the execution beside it",
            "run prog.elf --encode delta,ir,ir+bp+jtc": "figures of several modes",
            "run app --with qemu -- --fast input.txt": "a Linux program with arguments, under QEMU",
        ],
    ),
    (
        "demo",
        examples!["demo --output-dir demo": "keep programs, traces and the page in a folder of your choice"],
    ),
    (
        "log",
        examples![
            "log prog.htr": "what an execution log has, in a few lines",
            "log prog.htr -o copy.htr": "a log of any format as a trace file, which is small and is read fast",
        ],
    ),
    (
        "params",
        examples![
            "params -o params.toml": "all parameters with their defaults, each explained",
            "params --config full -o full.toml": "those of generated hardware",
        ],
    ),
    (
        "encode",
        examples!["encode prog.htr --params params.toml --elf prog.elf -o log.te": "trace an execution with an encoder of these parameters"],
    ),
    (
        "receive",
        examples![
            "receive /dev/ttyUSB0 --params params.toml -o board.te": "from a board, until Ctrl-C",
            "receive - --params params.toml --find-sync -o piped.te": "from a pipe that has been running for a while",
        ],
    ),
    (
        "decode",
        examples![
            "decode prog.te --emit listing --from 100 --to 120": "twenty instructions, disassembled",
            "decode prog.te --emit edges --json": "how often each branch and call was taken, one JSON object per line",
            "decode prog.te --params prog.te.toml --elf prog.elf --emit blocks": "parameters and program from elsewhere than the description",
        ],
    ),
    (
        "top",
        examples![
            "top prog.te": "functions by the instructions that they executed themselves",
            "top prog.te --by total --rows 5 --from 1000 --to 50000": "of a part of the trace, with what they called",
        ],
    ),
    (
        "report",
        examples!["report prog.te -o prog.html": "open the page in any browser; it needs no network"],
    ),
    (
        "export",
        examples![
            "export prog.te --format perfetto -o prog.pt": "drop it on https://ui.perfetto.dev",
            "export prog.te --format folded -o prog.folded": "for flame graphs",
            "export prog.te --format pprof -o prog.pb.gz": "for go tool pprof",
        ],
    ),
    ("stats", examples!["stats prog.te": "bits per instruction, and bytes of each format"]),
    ("dump", examples!["dump prog.te": "every packet: place, bytes, format and fields"]),
    (
        "explain",
        examples![
            "explain prog.htr --params prog.te.toml": "the reasons of the encoder, with the instruction of each",
            "explain prog.te": "without the execution: reasons as far as the packets show them",
        ],
    ),
    (
        "bundle",
        examples!["bundle prog.te -o prog.zip": "one file to pass on; every command takes it as a capture"],
    ),
    (
        "probe",
        examples![
            "probe prog.te --elf prog.elf": "what the packets say, whatever the description says",
            "probe trace.bin --elf prog.elf --write": "describe it in trace.bin.toml, so that all commands can read it",
        ],
    ),
    (
        "diff",
        examples![
            "diff prog.te log.te": "whether both executed the same, and where not",
            "diff --packets prog.te prog.te": "packet by packet, without a program",
        ],
    ),
    (
        "check",
        examples!["check prog.te --against prog.htr": "every decoded instruction with the executed one"],
    ),
    (
        "plan",
        examples!["plan prog.te --parts 4 -o plan.json": "cut a capture into four parts that begin at synchronisations"],
    ),
    (
        "part",
        examples!["part plan.json 0 --emit edges -o 0.parquet": "decode the first of them, on any machine"],
    ),
    (
        "merge",
        examples!["merge plan.json 0.parquet --some -o some.parquet": "one table of those that are there; without --some, of all parts"],
    ),
    (
        "compare",
        examples![
            "compare prog.elf": "all schemes on one program",
            "compare prog.elf --schemes bTMBP,gzip-6,E-Trace+ir+bp --brief": "some of them",
            "compare prog.elf --schemes bTMBP --sweep tmbp.entries=64..256": "one setting varied",
        ],
    ),
    (
        "hdl",
        examples![
            "hdl --config small --sink memory --harts 2 -o encoder": "an encoder for two harts that writes to memory over AXI4",
            "hdl --config cva6 --core cva6 -o cva6": "the same with the connector for a CVA6",
            "hdl --decoder etrace --config full --blocks 1024 -o decoder": "a decoder with a walker for the program's blocks",
        ],
    ),
    ("image", examples!["image prog.elf -o prog.hex": "the memory of that walker, for $readmemh"]),
    (
        "profile",
        examples!["profile prog.prof --elf prog.elf": "the dump of the profile as edges with names"],
    ),
    (
        "scenarios",
        examples!["scenarios -o kit": "programs, captures and expected results, a folder for each situation"],
    ),
    (
        "sim encoder",
        examples!["sim encoder prog.elf --config full --encode ir+bp": "every payload of the RTL compared with the golden encoder"],
    ),
    (
        "sim decoder",
        examples!["sim decoder --unroll 4 --random 10MB": "random packets through the RTL of a decoder"],
    ),
    (
        "sim loop",
        examples!["sim loop prog.elf --profile prog.prof": "encoder, decoder and walker in hardware, and their profile"],
    ),
    (
        "sim cva6",
        examples!["sim cva6 bare.elf --encoder cva6 --encode ir -o core.te": "trace a program on a real core, in simulation"],
    ),
    (
        "fpga report",
        examples!["fpga report --config small --json -o small.json": "area and clock rate of a configuration"],
    ),
    ("fpga compare", examples!["fpga compare before.json after.json": "what a change costs"]),
    (
        "completions",
        examples!["completions bash": "for ~/.local/share/bash-completion/completions/hartrace"],
    ),
    ("man", examples!["man -o man": "manual pages; man -l man/hartrace.1 shows the first"]),
];
