//! Sizes of output buffers by cycle: what each trace compressor would need beside this core, whose port takes a bit in every
//! cycle. `docs/compression.md` has the table.

use crate::run;
use hartrace_compressors::{Buffer, Code, Scheme, SchemeSetup};
use hartrace_cva6_sim::{Commit, Config, Event, Rows};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::cva6::elf;
use libtest_mimic::Failed;
use std::fmt::Write as _;
use std::fs;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compression.md");

/// Programs that write no code, and whose addresses are physical.
const PROGRAMS: [&str; 5] = ["calls", "sort", "crypto", "exceptions", "interrupts"];

const SCHEMES: [&str; 8] = [
    "BASE",
    "eDMTF(192,4)",
    "rSDC-128",
    "Tuples-32",
    "bTMBP",
    "TAGE",
    "E-Trace",
    "E-Trace+ir+bp+jtc",
];

/// The table is that of the document, and every trace is decompressed to what the core executed.
pub(crate) fn sizes() -> Result<(), Failed> {
    let mut table = format!("| program | instructions | cycles | {} |\n", SCHEMES.join(" | "));
    let _ = writeln!(table, "| --- |{}", " ---: |".repeat(SCHEMES.len() + 2));
    for program in PROGRAMS {
        let elf = elf(program)?;
        let (_, commits) = run(&elf, &Config::default())?;
        let commits = before_idling(&commits);
        let mut rows = Rows::default();
        let rows: Vec<Retired> = commits.iter().filter_map(|commit| rows.row(commit)).collect();
        let retired =
            commits.iter().filter(|commit| commit.event == Event::Retired && !commit.debug);
        let executed: Vec<u64> = retired.map(|commit| commit.pc).collect();
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add_elf(&elf, 0)?;
        let code = Code::new(&image);
        let cycles = commits.last().map_or(0, |commit| commit.cycle);
        let _ = write!(table, "| {program} | {} | {cycles} |", executed.len());
        for scheme in SCHEMES {
            let needed = needed(scheme, &code, &rows, &executed)
                .map_err(|what| format!("{program}, {scheme}: {what}"))?;
            let _ = write!(table, " {needed} |");
        }
        table.push('\n');
    }
    match fs::read_to_string(DOCUMENT)?.contains(&table) {
        true => Ok(()),
        false => Err(format!("docs/compression.md should have this table:\n{table}").into()),
    }
}

/// Everything up to the loop in which a program waits for its end: E-Trace does not tell how often it went round.
fn before_idling(commits: &[Commit]) -> &[Commit] {
    let last = commits.last().map(|commit| commit.pc);
    let first = commits.iter().position(|commit| Some(commit.pc) == last);
    first.map_or(commits, |first| &commits[..=first])
}

/// The bits of buffer that a scheme needs.
fn needed(scheme: &str, code: &Code, rows: &[Retired], executed: &[u64]) -> Result<u64, String> {
    let scheme: Scheme = scheme.parse().map_err(|error| format!("{error}"))?;
    let setup = SchemeSetup { code, sync_every: None, tvec: &[] };
    let mut compressor = scheme.compressor(&setup).map_err(|error| error.to_string())?;
    let (mut buffer, mut written) = (Buffer::new(1), 0);
    for row in rows {
        compressor.retire(row).map_err(|error| error.to_string())?;
        let bits = compressor.bits();
        buffer.put(row.cycles.into(), bits - written);
        written = bits;
    }
    let compressed = compressor.finish().map_err(|error| error.to_string())?;
    buffer.put(0, compressed.payload_bits - written);
    let mut found = Vec::new();
    let decompressor = scheme.decompressor(&setup);
    let all = compressed.instructions;
    let done = decompressor.decompress(&compressed.bits, all, &mut |address| found.push(address));
    done.map_err(|error| error.to_string())?;
    match found == executed {
        true => Ok(buffer.most()),
        false => Err(format!("{} of {} instructions", found.len(), executed.len())),
    }
}
