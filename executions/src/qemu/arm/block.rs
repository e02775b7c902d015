//! A block that QEMU translated.

use hartrace_isa::arm::{Arch, Executed, Isa, Kind, Place, Rules, decode, is_wide};

/// All features of QEMU's cores. Barriers and WFI are not branches here, even if the trace unit treats
/// them as branches.
const RULES: Rules = Rules { arch: Arch::Later, barriers: false, wfx: false };

/// One translated block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) start: u64,
    /// As in memory: for T32 with the first half-word in the lower half.
    words: Vec<u32>,
    /// Bits that mark the instructions that the plugin counts.
    pub(super) counters: Vec<u32>,
    /// Its instructions, as if none of them jumped; empty until the instruction set is known.
    pub(super) code: Vec<Executed>,
    pub(super) opcodes: Vec<u32>,
    /// Whether it ends with a system call.
    pub(super) calls: bool,
    /// Number of instructions after the block that are in an IT block of it.
    conditional: u8,
    /// A contradiction in what QEMU reported.
    pub(super) contradiction: Option<String>,
}

impl Block {
    pub(super) fn new(start: u64, words: &[u32], counters: &[u32]) -> Self {
        Self {
            start,
            words: words.into(),
            counters: counters.into(),
            code: Vec::new(),
            opcodes: Vec::new(),
            calls: false,
            conditional: 0,
            contradiction: None,
        }
    }

    /// Decodes the block once the instruction set is known.
    pub(super) fn decode(&mut self, isa: Isa) {
        let (mut address, mut conditional) = (self.start, 0u8);
        for (at, word) in self.words.iter().enumerate() {
            let opcode = match isa {
                Isa::A64 | Isa::A32 => *word,
                Isa::T32 if is_wide(*word as u16) => word.rotate_left(16),
                Isa::T32 => word << 16,
            };
            let mut insn = decode(isa, &RULES, address, opcode);
            insn.conditional |= conditional > 0;
            conditional = if insn.it > 0 { insn.it } else { conditional.saturating_sub(1) };
            let jumps = matches!(insn.kind, Kind::Direct { .. } | Kind::Indirect);
            let inside = at + 1 < self.words.len();
            if jumps && inside && !insn.conditional {
                let what =
                    format!("the block continues after the branch {opcode:#x} at {address:#x}");
                self.contradiction = Some(what);
            }
            let here = Place { address, isa };
            let mut executed = Executed { address, isa, insn, taken: !jumps, next: here };
            executed.next.address = executed.end();
            self.code.push(executed);
            self.opcodes.push(opcode);
            self.calls = !inside && is_call(isa, opcode);
            address = executed.next.address;
        }
        self.conditional = conditional;
    }

    /// The address after the block.
    pub(super) fn end(&self) -> u64 {
        self.code.last().map_or(self.start, Executed::end)
    }

    /// The number of instructions from number `at` on that are in an IT block, if the first `from` of
    /// this block were in an IT block of the previous one.
    pub(super) fn conditional_from(&self, at: usize, from: u8) -> u8 {
        let before = usize::from(from).saturating_sub(at) as u8;
        match self.code.get(at..) {
            None | Some([]) => before.max(self.conditional),
            Some(rest) => {
                let own = rest.iter().take_while(|executed| executed.insn.conditional).count();
                before.max(own.min(4) as u8)
            }
        }
    }
}

/// SVC.
fn is_call(isa: Isa, opcode: u32) -> bool {
    match isa {
        Isa::A64 => opcode & 0xffe0_001f == 0xd400_0001,
        Isa::A32 => opcode & 0x0f00_0000 == 0x0f00_0000 && opcode < 0xf000_0000,
        Isa::T32 => opcode & 0xff00_0000 == 0xdf00_0000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_blocks_reach_over_the_end() {
        // itte eq; moveq r0, #1; then the block ends
        let mut block = Block::new(0x1000, &[0xbf06, 0x2001], &[0b11]);
        block.decode(Isa::T32);
        let conditional: Vec<bool> = block.code.iter().map(|e| e.insn.conditional).collect();
        assert_eq!(conditional, [false, true]);
        assert_eq!((block.end(), block.conditional_from(2, 0)), (0x1004, 2));
        assert_eq!(block.conditional_from(1, 0), 1);
        assert_eq!(block.conditional_from(0, 3), 3);
    }

    #[test]
    fn calls_end_blocks() {
        for (isa, word) in [(Isa::A64, 0xd400_0001), (Isa::A32, 0xef00_0000), (Isa::T32, 0xdf00)] {
            let mut block = Block::new(0x1000, &[word], &[1]);
            block.decode(isa);
            assert!(block.calls, "{isa:?}");
        }
    }

    #[test]
    fn a_branch_cannot_be_inside() {
        let branch = 0x1400_0000; // b .
        let nop = 0xd503_201f;
        for (words, wrong) in [([branch, nop], true), ([nop, branch], false)] {
            let mut block = Block::new(0x1000, &words, &[0]);
            block.decode(Isa::A64);
            assert_eq!(block.contradiction.is_some(), wrong);
        }
    }
}
