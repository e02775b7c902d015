//! Splits blocks into instructions.

use hartrace_decoder::Image;
use hartrace_etrace::ingress::{CType, IType, Retired};

/// Splits blocks from other sources at the instruction boundaries of the program.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    image: &'a Image,
}

impl<'a> Instructions<'a> {
    /// Creates a splitter for this program.
    pub fn of(image: &'a Image) -> Self {
        Self { image }
    }

    /// Returns the number of instructions in a block; 1 for code that is not in the program.
    pub fn count(&self, block: &Retired) -> u64 {
        let mut count = 0;
        self.split(block, |row| count += u64::from(row.iretire > 0));
        count
    }

    /// Returns the number of instructions from one address to another; where the program contains no code,
    /// each half-word counts.
    pub fn between(&self, start: u64, end: u64) -> u64 {
        let (mut count, mut done) = (0, 0);
        while done < end.wrapping_sub(start) {
            let insn = self.image.insn(start.wrapping_add(done));
            done += insn.map_or(2, |insn| u64::from(insn.size));
            count += 1;
        }
        count
    }

    /// Passes on a row for each instruction of a block, or the block itself where the program does not
    /// contain the code.
    pub fn split(&self, block: &Retired, mut take: impl FnMut(&Retired)) {
        let mut rest = *block;
        let (mut first, last) = (true, block.last_address());
        while rest.iaddr != last
            && let Some(insn) = self.image.insn(rest.iaddr)
        {
            let half_words = u32::from(insn.size / 2);
            if half_words == 0 || half_words >= rest.iretire {
                break;
            }
            // Only the last instruction has an itype, and only the first starts anything.
            let mut row = Retired {
                iaddr: rest.iaddr,
                iretire: half_words,
                ilastsize: u8::from(half_words == 2),
                itype: IType::None,
                sijump: false,
                cause: 0,
                tval: 0,
                halted: false,
                reset: false,
                ..rest
            };
            row.trigger.off = false;
            row.trigger.notify = false;
            take(&row);
            rest.iaddr = row.next_address();
            rest.iretire -= half_words;
            if std::mem::take(&mut first) {
                rest.trigger.on = false;
                rest.ctype = CType::Unreported;
                rest.cycles = 0;
            }
        }
        take(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::{Isa, Xlen};

    #[test]
    fn at_the_ends_of_instructions() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        // nop, c.nop, nop
        image.add(0x100, &[0x13, 0, 0, 0, 0x01, 0, 0x13, 0, 0, 0]);
        let split = |block: &Retired| {
            let mut found = Vec::new();
            Instructions::of(&image).split(block, |row| {
                found.push((row.iaddr, row.iretire, row.ilastsize, row.itype));
            });
            found
        };
        let block = Retired { iretire: 5, itype: IType::Interrupt, ..Retired::plain(0x100) };
        let none = IType::None;
        assert_eq!(
            split(&block),
            [(0x100, 2, 1, none), (0x104, 1, 0, none), (0x106, 2, 1, IType::Interrupt)]
        );
        // No code, not whole instructions, and nothing at all.
        for (iaddr, iretire) in [(0x200, 8), (0x100, 1), (0x106, 1), (0x100, 0)] {
            let block = Retired { iaddr, iretire, ..block };
            assert_eq!(split(&block), [(iaddr, iretire, 1, IType::Interrupt)]);
        }
    }
}
