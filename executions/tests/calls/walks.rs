//! Random walks through random code: the stack is known, because the walk decides where it goes.

use crate::Stacks;
use fastrand::Rng;
use hartrace_decoder::calls::{CallStack, Functions, Transfers};
use hartrace_decoder::{Config, Image, StreamPos, Tracer};
use hartrace_etrace::Unit;
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_executions::executed::modes;
use hartrace_golden::encoder::{Encoder, EncoderConfig, Resync};
use hartrace_isa::{Isa, Xlen};
use libtest_mimic::Failed;
use std::ops::Range;
use std::sync::Arc;

/// Number of functions; the last ones handle traps.
const FUNCTIONS: u64 = 24;
const HANDLERS: u64 = 4;

/// Instructions of a function, of four bytes each.
const SLOTS: u64 = 32;

/// Instructions of a walk.
const LENGTH: u32 = 60_000;

const BASE: u64 = 0x8000_0000;

/// What an instruction does.
#[derive(Copy, Clone, Debug)]
enum Does {
    Nothing,
    /// Calls the function with this number.
    Call(u64),
    /// Calls any function.
    CallAny,
    /// Goes on as the function with this number.
    TailCall(u64),
    /// Goes on as any function.
    Jump,
    /// Goes back to the start of the first function, which never returns.
    Again,
    Return,
    TrapReturn,
}

const fn start(function: u64) -> u64 {
    BASE + function * SLOTS * 4
}

fn function_at(pc: u64) -> u64 {
    (pc - BASE) / (SLOTS * 4)
}

/// `jal` to an address.
fn jal(rd: u32, from: u64, to: u64) -> u32 {
    let offset = to.wrapping_sub(from) as u32;
    let bits = |from: u32, count: u32| offset >> from & ((1 << count) - 1);
    bits(20, 1) << 31 | bits(1, 10) << 21 | bits(11, 1) << 20 | bits(12, 8) << 12 | rd << 7 | 0x6f
}

/// Random code, and its instructions.
fn code(rng: &mut Rng) -> (Image, Vec<Does>) {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    let mut all = Vec::new();
    for function in 0..FUNCTIONS {
        let handler = function >= FUNCTIONS - HANDLERS;
        let called = function > 0 && !handler;
        for slot in 0..SLOTS {
            let pc = start(function) + 4 * slot;
            // No loop without a jump that is traced: its turns are in no trace (D15).
            let others = if handler { 0 } else { function + 1 }..FUNCTIONS - HANDLERS;
            let other = if others.is_empty() { None } else { Some(rng.u64(others)) };
            let does = match rng.u8(..16) {
                _ if slot == SLOTS - 1 && function == 0 => Does::Again,
                _ if slot == SLOTS - 1 && handler => Does::TrapReturn,
                _ if slot == SLOTS - 1 => Does::Return,
                0..2 => other.map_or(Does::Nothing, Does::Call),
                2 => Does::CallAny,
                3 if called => other.map_or(Does::Nothing, Does::TailCall),
                4 if called => Does::Jump,
                5..7 if called => Does::Return,
                _ => Does::Nothing,
            };
            let word: u32 = match does {
                Does::Nothing => 0x13,
                Does::Call(to) => jal(1, pc, start(to)),
                Does::CallAny => 0x0003_00e7, // jalr ra, 0(t1)
                Does::TailCall(to) => jal(0, pc, start(to)),
                Does::Jump | Does::Again => 0x0003_0067, // jr t1
                Does::Return => 0x0000_8067,
                Does::TrapReturn => 0x3020_0073,
            };
            image.add(pc, &word.to_le_bytes());
            all.push(does);
        }
    }
    (image, all)
}

/// An active function.
#[derive(Copy, Clone)]
struct Active {
    function: u64,
    returns: u64,
    trap: bool,
}

struct Walk {
    stack: Vec<Active>,
    pc: u64,
    rows: Vec<Retired>,
    stacks: Stacks,
    /// Whether a trace tells where a trap interrupts the program: not at the first instruction of another handler, and not
    /// after a return to somewhere else, which an implicit return would not report (D19).
    may_trap: bool,
}

impl Walk {
    fn changed(&mut self, insns: u64) {
        self.stacks.now = self.stack.iter().map(|active| start(active.function)).collect();
        self.stacks.change(insns);
    }

    /// The functions that are active since the last trap.
    fn since_trap(&self) -> Range<usize> {
        let handler = self.stack.iter().rposition(|active| active.trap);
        handler.unwrap_or(0)..self.stack.len()
    }

    /// A function that called the present one, and is not active further up; and a place in it that nobody returns to.
    fn outer(&self, rng: &mut Rng) -> Option<(usize, u64)> {
        let range = self.since_trap();
        let present = *self.stack.last()?;
        let chosen = rng.usize(range.start..range.end);
        let function = self.stack[chosen].function;
        let above = &self.stack[chosen + 1..];
        let to = start(function) + 4 * rng.u64(1..SLOTS);
        let unique = chosen + 1 < self.stack.len()
            && present.function != function
            && above.iter().all(|active| active.function != function)
            && self.stack.iter().all(|active| active.returns != to);
        unique.then_some((chosen, to))
    }

    fn step(&mut self, does: Does, rng: &mut Rng) {
        let pc = self.pc;
        let after = pc + 4;
        let mut row = Retired::plain(pc);
        let any = start(rng.u64(..FUNCTIONS - HANDLERS));
        let tops = self.stack.last().copied();
        let deep = self.stack.len() > 40;
        self.may_trap = true;
        (row.itype, self.pc) = match does {
            Does::Nothing => (IType::None, after),
            Does::Call(to) => {
                self.stack.push(Active { function: to, returns: after, trap: false });
                (IType::InferableCall, start(to))
            }
            Does::CallAny => {
                self.stack.push(Active { function: function_at(any), returns: after, trap: false });
                (IType::UninferableCall, any)
            }
            Does::TailCall(to) => {
                if let Some(top) = self.stack.last_mut() {
                    top.function = to;
                }
                (IType::InferableTailCall, start(to))
            }
            Does::Jump => {
                if let Some(top) = self.stack.last_mut() {
                    top.function = function_at(any);
                }
                (IType::UninferableTailCall, any)
            }
            Does::Again => (IType::UninferableTailCall, start(0)),
            Does::Return => match self.outer(rng).filter(|_| deep || rng.u8(..8) == 0) {
                // As `longjmp` does.
                Some((chosen, to)) => {
                    self.may_trap = false;
                    self.stack.truncate(chosen + 1);
                    (IType::Return, to)
                }
                None => {
                    self.stack.pop();
                    (IType::Return, tops.map_or(0, |top| top.returns))
                }
            },
            Does::TrapReturn => {
                self.stack.pop();
                (IType::TrapReturn, tops.map_or(0, |top| top.returns))
            }
        };
        self.rows.push(row);
    }

    /// A trap at the next instruction.
    fn trap(&mut self, rng: &mut Rng) {
        let handler = FUNCTIONS - 1 - rng.u64(..HANDLERS);
        let row =
            Retired { itype: IType::Interrupt, iretire: 0, cause: 7, ..Retired::plain(self.pc) };
        self.rows.push(row);
        self.may_trap = false;
        self.stack.push(Active { function: handler, returns: self.pc, trap: true });
        self.pc = start(handler);
    }
}

/// Compares the stacks of a walk with those of its decoded trace.
pub(crate) fn compare(seed: u64, mode: &str) -> Result<(), Failed> {
    let mut rng = Rng::with_seed(seed);
    let (image, all) = code(&mut rng);
    let first = Active { function: 0, returns: 0, trap: false };
    let mut walk = Walk {
        stack: vec![first],
        pc: start(0),
        rows: Vec::new(),
        stacks: Stacks::default(),
        may_trap: false,
    };
    walk.changed(0);
    let (mut insns, mut traps) = (0, 0);
    for _ in 0..LENGTH {
        let does = all[((walk.pc - BASE) / 4) as usize];
        let before = (walk.stack.len(), walk.stack.last().map(|top| top.function));
        let may_trap = walk.may_trap && walk.stack.len() < 60;
        if may_trap && rng.u8(..100) == 0 {
            walk.trap(&mut rng);
            traps += 1;
        } else {
            walk.step(does, &mut rng);
            insns += 1;
        }
        if before != (walk.stack.len(), walk.stack.last().map(|top| top.function)) {
            walk.changed(insns);
        }
    }

    // Where the last instruction leads is not in the trace.
    walk.stacks.all.retain(|(at, _)| *at < insns);

    let functions = (0..FUNCTIONS).map(|function| start(function)..start(function + 1));
    let functions = Arc::new(Functions::new(functions));
    let (params, options) = (modes::params(Xlen::Rv64), modes::named(mode)?);
    let (unit, resync) = (Unit::Hartrace, Resync::Packets(64));
    let config = EncoderConfig { params, unit, options, resync, ..EncoderConfig::default() };
    let mut encoder = Encoder::new(config)?;
    let mut payloads = Vec::new();
    for row in &walk.rows {
        encoder.retire(row, &mut |encoded| payloads.push(encoded.payload));
    }
    encoder.finish(&mut |encoded| payloads.push(encoded.payload));
    let mut tracer = Tracer::new(Config { params, unit, ..Config::default() }, &image)?;
    let mut transfers = Transfers::new(Arc::clone(&functions));
    for (packet, payload) in (0..).zip(&payloads) {
        tracer.feed(StreamPos { packet, byte: 0 }, payload, &mut transfers);
    }
    tracer.finish(&mut transfers);
    let mut calls = CallStack::new(functions, Stacks::default());
    calls.replay(&transfers);
    let found = calls.finish();
    let expected = &walk.stacks;
    println!(
        "walk {seed:3} {mode:10} {insns:6} instructions, {traps:4} traps, {:5} changes, {:2} deep",
        expected.all.len(),
        expected.deepest
    );
    expected.same(&found, |pc| format!("{}+{:x}", function_at(pc), pc - start(function_at(pc))))
}
