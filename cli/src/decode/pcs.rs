//! One address per line: made by the thread that decodes.

use crate::follow::ROOM;
use hartrace_decoder::{Path, Run, Sink, StreamPos};

/// Digits of an address, and a line feed.
const LINE: usize = 17;

/// Two digits for every byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Addresses as 16 hexadecimal digits each.
#[derive(Debug)]
pub(crate) struct Pcs {
    pub(crate) text: Vec<u8>,
    /// The last address and its line: most differ from the one before in the last digits only.
    pc: u64,
    line: [u8; LINE],
}

impl Default for Pcs {
    fn default() -> Self {
        Self { text: Vec::new(), pc: 0, line: *b"0000000000000000\n" }
    }
}

impl Pcs {
    #[inline]
    fn push(&mut self, pc: u64) {
        let [a, b, c, d, e, f, g, h] = pc.to_be_bytes().map(|byte| HEX[usize::from(byte)]);
        if (pc ^ self.pc) >> 16 != 0 {
            self.line[..12].copy_from_slice([a, b, c, d, e, f].as_flattened());
            self.pc = pc;
        }
        self.line[12..16].copy_from_slice([g, h].as_flattened());
        self.text.extend_from_slice(&self.line);
    }
}

impl Sink for Pcs {
    const ADDRESSES: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.text.reserve(LINE * run.insns() as usize);
        run.addresses(|pc| self.push(pc));
    }

    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        self.text.reserve(LINE * path.insns() as usize);
        path.addresses(|pc| self.push(pc));
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.text.len() >= ROOM
    }
}
