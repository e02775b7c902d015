use crate::ingress::{CType, IType, Privilege, Retired, Trigger};
use core::fmt;

/// How `iretire` counts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// Block retirement: half-words.
    #[default]
    Block,
    /// Single retirement: 0 or 1 instruction.
    Single,
}

/// The replicated signals of one lane.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// How the block ends.
    pub itype: IType,
    /// Address of its first instruction.
    pub iaddr: u64,
    /// Number of half-words; in the single flavour, 0 or 1 instruction.
    pub iretire: u32,
    /// Size of the last instruction, `2^ilastsize` half-words.
    pub ilastsize: u8,
    /// The final jump is sequentially inferable.
    pub sijump: bool,
    /// `trigger[2+lane]`.
    pub notify: bool,
}

impl Block {
    /// Nothing happened on this lane.
    pub const fn is_idle(&self) -> bool {
        self.iretire == 0 && !self.itype.is_trap()
    }
}

/// Everything the hart drives in one clock cycle, with `N` lanes; lane 0 is the oldest.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cycle<const N: usize> {
    /// How `iretire` counts.
    pub flavour: Flavour,
    /// The lanes.
    pub blocks: [Block; N],
    /// Trap cause.
    pub cause: u64,
    /// Trap value.
    pub tval: u64,
    /// Privilege of the whole cycle.
    pub privilege: Privilege,
    /// Context identifier.
    pub context: u64,
    /// What to do with a changed context.
    pub ctype: CType,
    /// Hart time.
    pub time: u64,
    /// `trigger[0]`.
    pub trigger_on: bool,
    /// `trigger[1]`.
    pub trigger_off: bool,
    /// The hart is halted.
    pub halted: bool,
    /// The hart is in reset.
    pub reset: bool,
}

/// A cycle breaks a rule of the ingress port.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CycleError {
    /// A valid lane follows an idle one; lanes are filled from 0 up.
    LaneGap(usize),
    /// A trap is not on the newest valid lane.
    TrapNotLast(usize),
    /// Single retirement with `iretire` above 1.
    NotSingle(usize),
    /// The last instruction is longer than its block.
    ShortBlock(usize),
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LaneGap(lane) => write!(f, "lane {lane} is valid but an older lane is idle"),
            Self::TrapNotLast(lane) => write!(f, "trap on lane {lane} is not the newest event"),
            Self::NotSingle(lane) => write!(f, "iretire above 1 on single-retirement lane {lane}"),
            Self::ShortBlock(lane) => {
                write!(f, "block on lane {lane} is shorter than its last instruction")
            }
        }
    }
}

impl core::error::Error for CycleError {}

impl<const N: usize> Cycle<N> {
    /// Checks the rules that relate the lanes to each other.
    ///
    /// Spec: E-Trace 2.0, 4.2 "Instruction Trace Interface".
    pub fn check(&self) -> Result<(), CycleError> {
        let mut idle = false;
        let mut trap = None;
        for (lane, block) in self.blocks.iter().enumerate() {
            if block.is_idle() {
                idle = true;
                continue;
            }
            if idle {
                return Err(CycleError::LaneGap(lane));
            }
            if let Some(older) = trap {
                return Err(CycleError::TrapNotLast(older));
            }
            if block.itype.is_trap() {
                trap = Some(lane);
            }
            let last = 1u32.checked_shl(block.ilastsize.into()).unwrap_or(u32::MAX);
            match self.flavour {
                Flavour::Single if block.iretire > 1 => return Err(CycleError::NotSingle(lane)),
                Flavour::Block if block.iretire != 0 && block.iretire < last => {
                    return Err(CycleError::ShortBlock(lane));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The valid blocks, oldest first, each with the shared signals.
    ///
    /// Trace-on belongs to the oldest block and trace-off to the newest; the clock counts once, on
    /// the oldest block.
    pub fn blocks(&self) -> impl Iterator<Item = Retired> + '_ {
        let newest = self.blocks.iter().rposition(|b| !b.is_idle());
        self.blocks.iter().enumerate().filter(|(_, b)| !b.is_idle()).map(move |(lane, block)| {
            let oldest = lane == 0;
            let newest = newest == Some(lane);
            let iretire = match self.flavour {
                Flavour::Block => block.iretire,
                Flavour::Single if block.iretire == 0 => 0,
                Flavour::Single => 1u32.checked_shl(block.ilastsize.into()).unwrap_or(u32::MAX),
            };
            Retired {
                itype: block.itype,
                iaddr: block.iaddr,
                iretire,
                ilastsize: block.ilastsize,
                sijump: block.sijump,
                privilege: self.privilege,
                cause: self.cause,
                tval: self.tval,
                context: self.context,
                ctype: self.ctype,
                time: self.time,
                trigger: Trigger {
                    on: oldest && self.trigger_on,
                    off: newest && self.trigger_off,
                    notify: block.notify,
                },
                cycles: oldest.into(),
                halted: newest && self.halted,
                reset: newest && self.reset,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Cycle<3> = Cycle {
        flavour: Flavour::Block,
        blocks: [Block {
            itype: IType::None,
            iaddr: 0,
            iretire: 0,
            ilastsize: 0,
            sijump: false,
            notify: false,
        }; 3],
        cause: 0,
        tval: 0,
        privilege: Privilege::M,
        context: 0,
        ctype: CType::Unreported,
        time: 0,
        trigger_on: false,
        trigger_off: false,
        halted: false,
        reset: false,
    };

    #[test]
    fn idle_cycle_has_no_blocks() {
        assert_eq!(IDLE.check(), Ok(()));
        assert_eq!(IDLE.blocks().count(), 0);
    }

    #[test]
    fn shared_signals_go_to_the_right_end() {
        let mut cycle = IDLE;
        cycle.trigger_on = true;
        cycle.trigger_off = true;
        cycle.halted = true;
        cycle.blocks[0] = Block { iretire: 5, ilastsize: 1, iaddr: 0x100, ..Block::default() };
        cycle.blocks[1] = Block { itype: IType::Exception, iaddr: 0x200, ..Block::default() };
        assert_eq!(cycle.check(), Ok(()));
        let mut blocks = cycle.blocks();
        let first = blocks.next().expect("lane 0");
        assert_eq!((first.last_address(), first.next_address()), (0x106, 0x10a));
        assert_eq!((first.trigger.on, first.trigger.off, first.cycles), (true, false, 1));
        let second = blocks.next().expect("lane 1");
        assert_eq!((second.iretire, second.last_address()), (0, 0x200));
        assert_eq!((second.trigger.on, second.trigger.off, second.cycles), (false, true, 0));
        assert!(second.halted && !first.halted);
        assert_eq!(blocks.next(), None);
    }

    #[test]
    fn rules_are_checked() {
        let mut gap = IDLE;
        gap.blocks[2].iretire = 1;
        assert_eq!(gap.check(), Err(CycleError::LaneGap(2)));

        let mut trap = IDLE;
        trap.blocks[0].itype = IType::Interrupt;
        trap.blocks[1].iretire = 1;
        assert_eq!(trap.check(), Err(CycleError::TrapNotLast(0)));

        let mut short = IDLE;
        short.blocks[0] = Block { iretire: 1, ilastsize: 1, ..Block::default() };
        assert_eq!(short.check(), Err(CycleError::ShortBlock(0)));

        let mut single = IDLE;
        single.flavour = Flavour::Single;
        single.blocks[0].iretire = 2;
        assert_eq!(single.check(), Err(CycleError::NotSingle(0)));
        single.blocks[0] = Block { iretire: 1, ilastsize: 1, ..Block::default() };
        assert_eq!(single.blocks().next().map(|b| b.iretire), Some(2));
    }
}
