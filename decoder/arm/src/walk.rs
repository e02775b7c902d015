//! The position in a program, and how the program continues.

use crate::blocks::{Block, Blocks, Exit};
use crate::code::{Clocked, Code, Place};
use crate::event::{ElementSink, Event, Fault, Range};
use crate::memory::Memory;
use hartrace_decoder::StreamPos;
use hartrace_isa::arm::{Arch, Insn, Isa, Kind, Rules, Spaces, decode};
use hartrace_spaces::{Clock, Timeline};

/// Maximum number of instructions of one range (O14). Real code has a branch every few instructions.
const LONGEST: u32 = 1 << 20;

/// Bytes of code whose instructions are reported at once.
const PIECE: u64 = 0x1000;

/// The position in a program.
#[derive(Debug)]
pub(crate) struct Walk<'m> {
    blocks: Blocks<'m>,
    pub pc: u64,
    pub isa: Isa,
    place: Place,
    clocked: Clocked<'m>,
    /// The address after the last block: the return address of a call.
    pub link: u64,
    /// The block at `pc`, if it is known.
    block: Option<u32>,
}

/// How an atom was followed.
pub(crate) enum Followed {
    /// To the last instruction of a block and beyond; nothing else is needed.
    On,
    /// To the last instruction of a block.
    To(Insn),
    /// Not to the end of the block: the address is no longer known.
    Lost,
    /// The program cannot be the one that was traced.
    WrongImage,
}

impl<'m> Walk<'m> {
    pub(crate) fn new(memory: &'m Memory, rules: Rules, it_blocks: bool) -> Self {
        Self {
            blocks: Blocks::new(Code::new(memory), rules, it_blocks),
            pc: 0,
            isa: Isa::A64,
            place: Place { spaces: Spaces::ALL, space: None },
            clocked: Clocked::NEVER,
            link: 0,
            block: None,
        }
    }

    pub(crate) fn arch(&self) -> Arch {
        self.blocks.rules().arch
    }

    /// Moves to another address.
    #[inline]
    pub(crate) fn set(&mut self, pc: u64, isa: Isa) {
        self.pc = pc;
        self.isa = isa;
        self.block = None;
    }

    pub(crate) fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
        self.block = None;
    }

    pub(crate) fn spaces(&self) -> Spaces {
        self.place.spaces
    }

    /// Sets the address spaces and context in which code is looked up from now on.
    pub(crate) fn enter(&mut self, spaces: Spaces, context: Option<u32>) {
        self.clocked.enter(context);
        self.place = Place { spaces, space: self.clocked.space() };
        self.block = None;
    }

    /// Sets a timeline, for code that changes. Call it before anything is decoded.
    pub(crate) fn set_timeline(&mut self, timeline: &'m Timeline) {
        self.blocks.set_timeline(timeline);
        self.clocked = Clocked::new(timeline);
        self.place.space = self.clocked.space();
    }

    /// Sets a time that the trace does not have, and the context if it has none. Call it after the timeline
    /// is set.
    pub(crate) fn set_moment(&mut self, now: u64, context: Option<u32>) {
        self.clocked.set_moment(now, context);
        self.place.space = self.clocked.space();
    }

    /// Advances to a time, or to a position in the trace.
    #[inline]
    pub(crate) fn reach(&mut self, clock: Clock, now: u64) {
        if self.clocked.reach(clock, now) {
            self.place.space = self.clocked.space();
            self.block = None;
        }
    }

    /// Follows the program up to the next instruction that ends a block, and reports it as taken or not.
    /// Afterwards, `pc` is the next instruction, or the target of a direct branch that was taken.
    #[inline(always)]
    pub(crate) fn atom(
        &mut self,
        at: StreamPos,
        taken: bool,
        cycles: Option<u32>,
        sink: &mut impl ElementSink,
    ) -> Followed {
        // One branch for most atoms, whatever the block ends with, which cannot be predicted.
        if let Some(block) = self.block.and_then(|id| self.blocks.get(id))
            && let Some((to, next)) = block.plain(taken)
        {
            self.tell(at, self.pc, block, sink);
            sink.range(at, &range(self.pc, self.isa, block, block.count, taken, cycles));
            self.pc = to;
            self.block = Some(next);
            return Followed::On;
        }
        self.any_atom(at, taken, cycles, sink)
    }

    /// Follows atoms, the lowest bit first, as long as each only leads to another known block; returns
    /// their number.
    #[inline(always)]
    pub(crate) fn plain_atoms<S: ElementSink>(
        &mut self,
        at: StreamPos,
        bits: u32,
        len: u8,
        sink: &mut S,
    ) -> u8 {
        let Some(mut id) = self.block else { return 0 };
        let (mut pc, mut bits, mut done) = (self.pc, bits, 0u8);
        // One branch for each atom, whatever the block ends with, which cannot be predicted.
        while done < len
            && let Some(block) = self.blocks.get(id)
            && let Some((to, next)) = block.plain(bits & 1 == 1)
        {
            self.tell(at, pc, block, sink);
            sink.range(at, &range(pc, self.isa, block, block.count, bits & 1 == 1, None));
            (pc, id) = (to, next);
            bits >>= 1;
            done = done.wrapping_add(1);
        }
        self.pc = pc;
        self.block = Some(id);
        done
    }

    /// Follows any atom.
    #[inline(never)]
    pub(crate) fn any_atom<S: ElementSink>(
        &mut self,
        at: StreamPos,
        taken: bool,
        cycles: Option<u32>,
        sink: &mut S,
    ) -> Followed {
        let (start, mut count) = (self.pc, 0u32);
        loop {
            let id = match self.block {
                Some(id) => id,
                None => self.blocks.at(self.pc, self.isa, self.place),
            };
            let Some(block) = self.blocks.get(id) else { return Followed::Lost };
            if !taken && block.exit == Exit::Last && block.leaves_always(self.isa) {
                if !S::GOES_ON {
                    return Followed::WrongImage;
                }
                sink.event(at, Event::Fault(Fault::WrongImage));
            }
            self.tell(at, self.pc, block, sink);
            count = count.saturating_add(block.count);
            let (last, end, exit) = (block.last, block.end, block.exit);
            let range = |taken| range(start, self.isa, block, count, taken, cycles);
            match exit {
                Exit::Last => {
                    sink.range(at, &range(taken));
                    self.leave(id, end, &last, taken);
                    return Followed::To(last);
                }
                Exit::Page if count < LONGEST => {
                    self.pc = end;
                    self.block = Some(self.behind(id, false));
                }
                Exit::Page => {
                    sink.range(at, &range(true));
                    sink.event(at, Event::Fault(Fault::TooLong));
                    self.set(end, self.isa);
                    return Followed::Lost;
                }
                Exit::Missing => {
                    if count > 0 {
                        sink.range(at, &range(true));
                    }
                    sink.event(at, Event::NotAccessible { address: end, spaces: self.spaces() });
                    self.set(end, self.isa);
                    return Followed::Lost;
                }
            }
        }
    }

    /// Reports the positions of the instructions of a block.
    #[inline]
    fn tell<S: ElementSink>(&self, at: StreamPos, base: u64, block: &Block, sink: &mut S) {
        if S::INSTRUCTIONS && block.count > 0 {
            self.tell_offsets(at, base, self.blocks.offsets(block), sink);
        }
    }

    /// Reports the positions of instructions, and their opcodes if these are of interest.
    #[inline]
    fn tell_offsets<S: ElementSink>(
        &self,
        at: StreamPos,
        base: u64,
        offsets: &[u16],
        sink: &mut S,
    ) {
        if S::OPCODES {
            let code = self.blocks.code();
            let opcode = |offset: &u16| {
                let address = base.wrapping_add((*offset).into());
                code.opcode(self.isa, address, self.place).map_or(0, |(opcode, _)| opcode)
            };
            sink.opcodes(self.isa, &offsets.iter().map(opcode).collect::<Vec<_>>());
        }
        sink.instructions(at, base, offsets);
    }

    /// Continues after a block.
    #[inline]
    fn leave(&mut self, id: u32, end: u64, last: &Insn, taken: bool) {
        self.link = end;
        match last.kind {
            Kind::Direct { target, isa } if taken => {
                self.pc = target;
                self.isa = isa;
                self.block = Some(self.behind(id, true));
            }
            Kind::Indirect if taken => self.set(end, self.isa),
            _ => {
                self.pc = end;
                self.block = Some(self.behind(id, false));
            }
        }
    }

    /// The block at `pc`, which follows another one.
    #[inline]
    fn behind(&mut self, id: u32, taken: bool) -> u32 {
        match self.blocks.after(id, taken) {
            Some(next) => next,
            None => self.blocks.at_after(id, taken, (self.pc, self.isa, self.place)),
        }
    }

    /// Steps instruction by instruction, while `go` returns `true` for the instruction and the address
    /// after it. For rare cases.
    pub(crate) fn step(&self, mut go: impl FnMut(&Insn, u64) -> bool) -> Stepped {
        let mut stepped = Stepped { end: self.pc, count: 0, last: None, complete: false };
        let code = self.blocks.code();
        while stepped.count < LONGEST {
            let Some((opcode, _)) = code.opcode(self.isa, stepped.end, self.place) else { break };
            let insn = decode(self.isa, self.blocks.rules(), stepped.end, opcode);
            stepped.end = stepped.end.wrapping_add(insn.size.into());
            stepped.count = stepped.count.saturating_add(1);
            stepped.last = Some(insn);
            if !go(&insn, stepped.end) {
                stepped.complete = true;
                break;
            }
        }
        stepped
    }

    /// Reports the instructions that were stepped through.
    pub(crate) fn report<S: ElementSink>(
        &self,
        at: StreamPos,
        stepped: &Stepped,
        cycles: Option<u32>,
        sink: &mut S,
    ) {
        let Some(last) = stepped.last else { return };
        if S::INSTRUCTIONS {
            let (mut base, mut offsets, mut left) = (self.pc, Vec::new(), stepped.count);
            self.step(|insn, end| {
                let address = end.wrapping_sub(insn.size.into());
                if address.wrapping_sub(base) >= PIECE {
                    self.tell_offsets(at, base, &offsets, sink);
                    offsets.clear();
                    base = address;
                }
                offsets.push(address.wrapping_sub(base) as u16);
                left = left.saturating_sub(1);
                left > 0
            });
            self.tell_offsets(at, base, &offsets, sink);
        }
        sink.range(
            at,
            &Range {
                start: self.pc,
                end: stepped.end,
                count: stepped.count,
                isa: self.isa,
                kind: last.kind,
                size: last.size,
                link: last.link,
                returns: last.returns,
                conditional: last.conditional,
                taken: true,
                cycles,
            },
        );
    }
}

/// The range of instructions up to the end of a block.
#[inline]
fn range(
    start: u64,
    isa: Isa,
    block: &Block,
    count: u32,
    taken: bool,
    cycles: Option<u32>,
) -> Range {
    let last = &block.last;
    Range {
        start,
        end: block.end,
        count,
        isa,
        kind: last.kind,
        size: last.size,
        link: last.link,
        returns: last.returns,
        conditional: last.conditional,
        taken,
        cycles,
    }
}

/// Instructions that were stepped through.
pub(crate) struct Stepped {
    pub end: u64,
    pub count: u32,
    pub last: Option<Insn>,
    /// The walk ended where it should.
    pub complete: bool,
}
