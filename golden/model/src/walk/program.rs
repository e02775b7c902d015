use hartrace_etrace::ingress::Privilege;
use hartrace_etrace::ingress::Xlen;

/// The code of a walk: real instructions at their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Register width; also decides what some compressed encodings mean (c.jal or c.addiw).
    pub xlen: Xlen,
    /// Pieces of code without holes: address and bytes, sorted by address.
    pub segments: Vec<(u64, Vec<u8>)>,
    /// Trap handler entry per target privilege, 4-byte aligned.
    pub tvec: Vec<(Privilege, u64)>,
    /// Interrupts enter at `tvec + 4 * cause`; exceptions always at `tvec`.
    pub vectored: bool,
    /// Where the hart starts after reset, in machine mode.
    pub entry: u64,
}

/// An instruction as stored in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// The instruction, in the low 16 or 32 bits.
    pub bits: u32,
    /// 2 or 4.
    pub bytes: u8,
}

impl Program {
    /// The instruction at an address, if there is code at that address.
    pub fn fetch(&self, address: u64) -> Option<Word> {
        let after = self.segments.partition_point(|&(start, _)| start <= address);
        let (start, bytes) = self.segments.get(after.checked_sub(1)?)?;
        let at = usize::try_from(address - start).ok()?;
        let half = |at: usize| {
            let pair = bytes.get(at..at.checked_add(2)?)?;
            Some(u32::from(pair[0]) | u32::from(pair[1]) << 8)
        };
        let low = half(at)?;
        if low & 3 == 3 {
            Some(Word { bits: low | half(at + 2)? << 16, bytes: 4 })
        } else {
            Some(Word { bits: low, bytes: 2 })
        }
    }

    /// Address of the handler of a trap to `privilege`. A decoder with implicit exceptions
    /// must know it.
    pub fn handler(&self, privilege: Privilege, interrupt: bool, cause: u64) -> Option<u64> {
        let &(_, base) = self.tvec.iter().find(|&&(p, _)| p == privilege)?;
        let offset = if self.vectored && interrupt { cause.wrapping_mul(4) } else { 0 };
        Some(truncate(self.xlen, base.wrapping_add(offset)))
    }

    /// jal, c.j, c.jal or `jalr rd, imm(x0)`: ends a block, whatever its itype is.
    pub(crate) fn is_inferable_jump(&self, address: u64) -> bool {
        self.fetch(address).is_some_and(|Word { bits, bytes }| match bytes {
            2 => match bits & 0xe003 {
                0xa001 => true,
                0x2001 => self.xlen == Xlen::Rv32,
                _ => false,
            },
            _ => bits & 0x7f == 0x6f || bits & 0x000f_f07f == 0x67,
        })
    }
}

/// The address as a register of this width holds it.
const fn truncate(xlen: Xlen, address: u64) -> u64 {
    match xlen {
        Xlen::Rv32 => address & 0xffff_ffff,
        Xlen::Rv64 => address,
    }
}
