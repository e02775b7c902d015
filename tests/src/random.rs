//! Random programs of real instructions: their behaviour is random, but they always end.

mod assemble;
mod mix;
mod narrow;
mod program;
mod tables;
mod values;
mod wide;

pub use assemble::DATA;
pub use program::{DATA_SIZE, NOTES_AT, Program, Target, generate};

/// Returns the names of the instructions in programs; branches with their outcome.
pub fn instructions(xlen: u32) -> Vec<String> {
    let tables = tables::INTEGER.iter().chain(tables::FLOAT).map(|insn| (insn.name, insn.base));
    let accesses = wide::LOADS.iter().chain(wide::STORES).map(|access| (access.name, access.base));
    let narrow = narrow::ALL.iter().map(|insn| (insn.name, insn.base));
    let here = tables.chain(accesses).chain(narrow).filter(|(_, base)| base.has(xlen));
    let mut names: Vec<String> = here.map(|(name, _)| name.to_owned()).collect();
    names.extend(wide::AMO.iter().map(|(name, _)| (*name).to_owned()));
    for (name, _) in wide::BRANCHES {
        names.extend([format!("{name} taken"), format!("{name} not taken")]);
    }
    names
}
