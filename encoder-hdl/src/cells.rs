//! Cells of a technology: memories, queues and the clock gate of a core that waits. A process or an FPGA has its own, so all
//! of them are delivered in one file, which can be replaced.

use crate::core::{bare, noted};
use hartrace_rtl::{Component, Expr, Module, index_width};

/// The name of the file, without a prefix.
const FILE: &str = "te_cells.sv";

/// The first lines of the file.
const HEAD: &str = "\
// Cells of a technology: memories, queues and clock gates are here and in no other file. To use
// those of a process or of an FPGA, replace this file by one with the same modules and ports.
// What the cells promise:
";

/// Cells by the start of their names, in the order that tools require, and what they promise.
const KINDS: [(&str, &str); 3] = [
    (
        "te_ram_",
        "\
// te_ram_WIDTHxDEPTH: a memory with a port for writing and a port for reading. rdata_o is the word
// at raddr_i in the same cycle; there is no register for the address or the word. A word that is
// read while it is written is the old one, up to the clock edge. There is no reset: words that were
// never written may be anything, and so may what is read past the last one.
",
    ),
    (
        "fifo_",
        "\
// fifo_WIDTHxDEPTH: a queue. A word that enters while it is empty is offered in the next cycle, and
// stays at data_o until it is taken. A full queue takes nothing, even if a word leaves: ready_o does
// not depend on ready_i. usage_o is the number of words within. rst_ni empties it, asynchronously;
// the words have no reset.
",
    ),
    (
        "te_clock_gate",
        "\
// te_clock_gate: a pulse of clk_i passes if enable_i is set at its rising edge, as a whole, whenever
// enable_i changes otherwise.
",
    ),
];

/// Returns the memory `te_ram_WIDTHxDEPTH`: `we_i`, `waddr_i`, `wdata_i`; `raddr_i`, `rdata_o`.
///
/// # Panics
///
/// If `width` is 0 or `depth` is less than 2.
#[track_caller]
fn ram(width: u32, depth: u32) -> Component {
    let m = Module::new(
        &format!("te_ram_{width}x{depth}"),
        "Memory: a port for writing, a port for reading in the same cycle.",
    )
    .clock_only();
    let enable = m.input("we_i", 1, "");
    let to = m.input("waddr_i", index_width(depth), "");
    let data = m.input("wdata_i", width, "");
    let from = m.input("raddr_i", index_width(depth), "");
    let out = m.output("rdata_o", width, "before a write in the same cycle");
    let words = m.memory("words", width, depth);
    m.write(&words, &enable, &to, &data);
    m.assign(&out, m.read(&words, "word", &from));
    m.finish()
}

/// Adds a memory of `depth` words to a module; `word` is what it has at `from`.
#[track_caller]
pub(crate) fn memory(
    m: &Module,
    name: &str,
    depth: u32,
    (enable, to, data): (&Expr, &Expr, &Expr),
    (from, word): (&Expr, &Expr),
) {
    let ports = [
        ("we_i", enable),
        ("waddr_i", to),
        ("wdata_i", data),
        ("raddr_i", from),
        ("rdata_o", word),
    ];
    m.inst(name, &ram(word.width(), depth), &ports);
}

/// Moves all cells into one file, which comes first. The names of modules start with `prefix`; `origin` says what the file was
/// made from.
pub(crate) fn gathered(
    files: Vec<(String, String)>,
    prefix: &str,
    origin: &str,
) -> Vec<(String, String)> {
    let kind = |file: &str| {
        let name = file.strip_prefix(prefix)?;
        KINDS.iter().position(|(start, _)| name.starts_with(start))
    };
    let (mut cells, mut others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(file, _)| kind(file).is_some());
    cells.sort_by_key(|(file, _)| kind(file));
    if cells.is_empty() {
        return others;
    }
    let mut text = HEAD.to_owned();
    for (number, (_, promise)) in KINDS.iter().enumerate() {
        if cells.iter().any(|(file, _)| kind(file) == Some(number)) {
            text.push_str("//\n");
            text.push_str(promise);
        }
    }
    // Verilator wants a file for each module.
    text.push_str("\n// verilator lint_off DECLFILENAME\n");
    for (_, cell) in &cells {
        text.push('\n');
        text.push_str(bare(cell));
    }
    others.insert(0, (format!("{prefix}{FILE}"), noted(&text, origin)));
    others
}
