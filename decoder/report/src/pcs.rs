//! One address per line. The text is made by the thread that decodes.

use crate::collect::Collect;
use crate::hex::digits;
use crate::part_pool::PartPool;
use crate::report::{PART_BYTES, Report};
use hartrace_decoder::{Path, Run, Sink, StreamPos};
use std::io::{self, Write};

/// Digits of an address, and a line feed.
const LINE: usize = 17;

/// The report: addresses of one source, since a line cannot name its source.
#[derive(Clone, Debug, Default)]
pub struct Pcs {
    spare: PartPool<PcsText>,
}

impl Report for Pcs {
    type Part = PcsText;
    const ONE_SOURCE: bool = true;

    fn maker(&self) -> Box<dyn Fn() -> PcsText + Send + Sync> {
        let spare = self.spare.clone();
        Box::new(move || spare.take())
    }

    fn join(&mut self, _: Option<u16>, mut part: PcsText, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&part.text)?;
        part.text.clear();
        self.spare.give(part);
        Ok(())
    }
}

/// Addresses as 16 hexadecimal digits each, with line feeds.
#[derive(Debug)]
pub struct PcsText {
    /// What was written so far.
    pub text: Vec<u8>,
    /// The last address and its line: most addresses differ from the one before only in the last digits.
    pc: u64,
    line: [u8; LINE],
}

impl Default for PcsText {
    fn default() -> Self {
        Self { text: Vec::new(), pc: 0, line: *b"0000000000000000\n" }
    }
}

impl PcsText {
    #[inline]
    fn push(&mut self, pc: u64) {
        let [a, b, c, d, e, f, g, h] = digits(pc);
        if (pc ^ self.pc) >> 16 != 0 {
            self.line[..12].copy_from_slice([a, b, c, d, e, f].as_flattened());
            self.pc = pc;
        }
        self.line[12..16].copy_from_slice([g, h].as_flattened());
        self.text.extend_from_slice(&self.line);
    }
}

impl Collect for PcsText {}

impl Sink for PcsText {
    const ADDRESSES: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.text.reserve(LINE.saturating_mul(run.insns() as usize).min(PART_BYTES));
        run.addresses(|pc| self.push(pc));
    }

    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        self.text.reserve(LINE.saturating_mul(path.insns() as usize).min(PART_BYTES));
        path.addresses(|pc| self.push(pc));
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.text.len() >= PART_BYTES
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.text.capacity())
    }
}
