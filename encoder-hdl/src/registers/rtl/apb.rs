//! The bus, and the choice of a register.

use crate::registers::table::{Kind, Register, Table};
use hartrace_rtl::{Expr, Module, zero};
use std::collections::BTreeMap;

/// The port, without what it is told.
pub(super) struct Apb {
    /// Set in the cycle before an access, when the read data is stored.
    pub(super) setup: Expr,
    /// A whole word is written in this cycle.
    pub(super) write: Expr,
    pub(super) data: Expr,
    pub(super) prdata: Expr,
    word: Expr,
}

impl Apb {
    pub(super) fn new(m: &Module) -> Self {
        let psel = m.input("psel_i", 1, "");
        let penable = m.input("penable_i", 1, "");
        let pwrite = m.input("pwrite_i", 1, "");
        let paddr = m.input("paddr_i", 12, "");
        let data = m.input("pwdata_i", 32, "");
        let pstrb = m.input("pstrb_i", 4, "registers are written as a whole");
        let pready = m.output("pready_o", 1, "");
        let prdata = m.output("prdata_o", 32, "");
        let pslverr = m.output("pslverr_o", 1, "not aligned, or not a whole word written");
        m.assign(&pready, true);
        let access = m.let_("access", &psel & &penable);
        let wrong = m.let_("wrong", paddr.trunc(2).any() | (&pwrite & !pstrb.all()));
        m.assign(&pslverr, &access & &wrong);
        let write = m.let_("write", &access & &pwrite & !&wrong);
        Self { setup: &psel & !&penable, write, data, prdata, word: paddr.slice(2, 10) }
    }
}

/// Chooses the register that is accessed.
///
/// In two steps, which suits LUTs of six inputs: a line of four words is chosen by exact
/// comparison, which gates the read data, and a word of the line by two bits of the address.
pub(super) struct Decoder {
    /// Bits 3 and 2 of the address.
    within: Expr,
    lines: Vec<Line>,
}

struct Line {
    /// Its address, in lines.
    at: u32,
    meant: Expr,
    /// The registers there, by number in the table.
    words: [Option<usize>; 4],
    /// What they read as, if that never changes.
    constant: Option<[u32; 4]>,
}

impl Decoder {
    pub(super) fn new(m: &Module, apb: &Apb, table: &Table) -> Self {
        let mut lines: BTreeMap<u32, [Option<usize>; 4]> = BTreeMap::new();
        for (i, register) in table.registers.iter().enumerate() {
            let words = lines.entry(register.offset / 16).or_default();
            words[(register.offset / 4 % 4) as usize] = Some(i);
        }
        let lines = lines.into_iter().map(|(at, words)| {
            let meant = apb.word.slice(2, 8).is(at.into());
            let constant =
                words.map(|word| word.map_or(Some(0), |i| constant(&table.registers[i])));
            let constant = constant.into_iter().collect::<Option<Vec<u32>>>();
            let constant = constant.and_then(|words| words.try_into().ok());
            Line { at, meant: m.let_(&format!("line_{:03x}", 16 * at), meant), words, constant }
        });
        Self { lines: lines.collect(), within: apb.word.trunc(2) }
    }

    /// The value of the register that is accessed, or zeros.
    pub(super) fn choose(&self, m: &Module, values: &[Expr]) -> Expr {
        // Lines that are always the same, as those of comparators are, are read once.
        let same = |line: &&Line, other: &Line| {
            line.constant.is_some() && line.constant == other.constant && line.at != other.at
        };
        let first =
            |line: &&Line| !self.lines.iter().any(|other| other.at < line.at && same(line, other));
        let lines = self.lines.iter().filter(first).map(|line| {
            let word = |i: usize| {
                line.words[i].and_then(|i| values.get(i)).cloned().unwrap_or_else(|| zero(32))
            };
            let pair = |i: usize| match (line.words[i], line.words[i + 1]) {
                (None, None) => zero(32),
                _ => self.within.bit(0).mux(word(i + 1), word(i)),
            };
            let name = format!("read_{:03x}", 16 * line.at);
            let others = self.lines.iter().filter(|other| same(&line, other));
            let meant = others.fold(line.meant.clone(), |all, other| all | &other.meant);
            meant.gate(m.let_(&name, self.within.bit(1).mux(pair(2), pair(0))))
        });
        lines.reduce(|a, b| a | b).unwrap_or_else(|| zero(32))
    }

    /// Whether a register is accessed.
    pub(super) fn is(&self, register: usize) -> Expr {
        let found = self.lines.iter().find_map(|line| {
            let at = line.words.iter().position(|word| *word == Some(register))?;
            Some(&line.meant & self.within.is(at as u128))
        });
        found.unwrap_or_else(|| zero(1))
    }
}

/// What a register reads as, if that never changes.
fn constant(register: &Register) -> Option<u32> {
    register.fields.iter().try_fold(0, |word, field| match field.kind {
        Kind::Fixed(value) => Some(word | value << field.lsb),
        _ => None,
    })
}
