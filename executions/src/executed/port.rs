//! Packs rows into the blocks and cycles of an ingress port.

use hartrace_etrace::ingress::{CType, IType, ITypeWidth, Retired};

/// What a hart can report in one cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The largest number of blocks per cycle.
    pub lanes: u8,
    /// The largest number of half-words per block; at least two.
    pub half_words: u32,
    /// The largest number of rows per cycle: instructions, if every row is one instruction.
    pub rows: u32,
    /// Width of the itype signal.
    pub itype_width: ITypeWidth,
}

impl Port {
    /// Creates a port with one block per cycle. A block ends where control flow may change, or
    /// after this many half-words.
    pub const fn blocks(half_words: u32) -> Self {
        Self { lanes: 1, half_words, rows: u32::MAX, itype_width: ITypeWidth::Four }
    }

    /// Returns a packer that has not received any rows.
    pub fn cycles(self) -> Cycles {
        Cycles { port: self, rows: Vec::new(), open: Vec::new(), taken: 0 }
    }
}

/// Packs rows into blocks, and blocks into cycles, as many as fit.
#[derive(Clone, Debug)]
pub struct Cycles {
    port: Port,
    /// Complete cycles: the first block of each has `cycles` 1, the others have 0.
    pub rows: Vec<Retired>,
    /// The blocks of the cycle that still has room.
    open: Vec<Retired>,
    /// Number of rows in them.
    taken: u32,
}

impl Cycles {
    /// Adds the next row. A row with more half-words than a block can hold is kept unchanged.
    pub fn push(&mut self, row: &Retired) {
        let Port { lanes, half_words, rows, .. } = self.port;
        let full = self.open.len() >= usize::from(lanes);
        match self.open.last_mut() {
            Some(block) if self.taken < rows && extends(block, row, half_words) => {
                *block = merged(block, row);
            }
            Some(block) if self.taken < rows && !full && shares(block, row) => {
                self.open.push(Retired { cycles: 0, ..*row });
            }
            _ => {
                self.close();
                self.open.push(Retired { cycles: 1, ..*row });
            }
        }
        self.taken += 1;
        // Nothing more fits, so the cycle need not wait for the next row.
        let ended = self.open.last().is_some_and(|block| block.itype != IType::None);
        if self.taken >= rows || (ended && self.open.len() >= usize::from(lanes)) {
            self.close();
        }
    }

    /// Ends the cycle.
    pub fn close(&mut self) {
        self.taken = 0;
        if self.port.itype_width == ITypeWidth::Three {
            self.open.iter_mut().for_each(|block| block.itype = block.itype.narrow());
        }
        self.rows.append(&mut self.open);
    }
}

/// Whether the signals that the lanes of a cycle share suit both.
fn shares(block: &Retired, row: &Retired) -> bool {
    let closed = block.itype.is_trap() || block.trigger.off || block.halted || block.reset;
    let opens = row.trigger.on || row.ctype != CType::Unreported;
    let common = |row: &Retired| (row.privilege, row.context, row.time);
    common(block) == common(row) && !closed && !opens
}

/// Whether the row continues where the block ends, without an event in between.
fn extends(block: &Retired, row: &Retired, half_words: u32) -> bool {
    row.iretire > 0
        && block.iretire > 0
        && block.iretire.saturating_add(row.iretire) <= half_words
        && block.itype == IType::None
        && !block.trigger.notify
        && row.iaddr == block.next_address()
        && shares(block, row)
}

fn merged(block: &Retired, row: &Retired) -> Retired {
    let mut merged = Retired {
        iaddr: block.iaddr,
        iretire: block.iretire + row.iretire,
        ctype: block.ctype,
        cycles: block.cycles,
        ..*row
    };
    merged.trigger.on |= block.trigger.on;
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: Port = Port { lanes: 2, half_words: 7, rows: 5, itype_width: ITypeWidth::Three };

    /// Address, half-words, and whether a cycle starts.
    fn cycles(port: Port, rows: &[Retired]) -> Vec<(u64, u32, u32)> {
        let mut cycles = port.cycles();
        rows.iter().for_each(|row| cycles.push(row));
        cycles.close();
        cycles.rows.iter().map(|row| (row.iaddr, row.iretire, row.cycles)).collect()
    }

    #[test]
    fn as_much_as_there_is_room_for() {
        let rows: Vec<_> = (0..9).map(|i| Retired::plain(4 * i)).collect();
        assert_eq!(
            cycles(PORT, &rows),
            [(0, 6, 1), (12, 4, 0), (20, 6, 1), (32, 2, 0)],
            "three instructions a block, five a cycle"
        );
        let single = Port { rows: 1, ..PORT };
        assert_eq!(cycles(single, &rows[..2]), [(0, 2, 1), (4, 2, 1)]);
    }

    #[test]
    fn jumps_end_blocks_and_traps_end_cycles() {
        let jump = Retired { itype: IType::InferableTailCall, ..Retired::plain(0) };
        let trap = Retired { itype: IType::Exception, iretire: 0, ..Retired::plain(0x100) };
        let rows = [jump, Retired::plain(0x100), trap, Retired::plain(0x40)];
        assert_eq!(
            cycles(Port { lanes: 3, ..PORT }, &rows),
            [(0, 2, 1), (0x100, 2, 0), (0x100, 0, 0), (0x40, 2, 1)]
        );
        let mut narrow = PORT.cycles();
        narrow.push(&Retired { itype: IType::Return, ..jump });
        narrow.close();
        assert_eq!(narrow.rows[0].itype, IType::UninferableJump);
    }
}
