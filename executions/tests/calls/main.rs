//! Call stacks of decoded traces are those of the hart.
//!
//! The hart's stack follows from what only the hart knows: the link registers that instructions write, and the stack
//! pointer. A function has ended when the stack pointer is above the one it was called with, or the same where it
//! returns to; another stack pointer after a trap is another thread. Random walks know their stack anyway.

mod walks;

use hartrace_capture::programs::Programs;
use hartrace_decoder::calls::{CallStack, Frame, Functions, Transfers, Visit};
use hartrace_decoder::{Config, StreamPos, Tracer};
use hartrace_etrace::ingress::{CType, IType, Retired};
use hartrace_etrace::{Params, Unit};
use hartrace_executions::executed::{Program, Steps, modes};
use hartrace_golden::encoder::{Encoder, EncoderConfig, Resync};
use hartrace_iss::{Register, Retire, Step};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Steps of each program.
const LIMIT: u64 = 300_000;

/// The bundled programs; those with several threads are traced with the number of the thread as context.
const PROGRAMS: [(&str, bool); 10] = [
    ("branchy", false),
    ("calls", false),
    ("interp", false),
    ("sort", false),
    ("crypto", false),
    ("float", false),
    ("interrupts", false),
    ("user", true),
    ("linux", false),
    ("long", false),
];

/// The active functions after each number of instructions at which they changed.
#[derive(Default)]
struct Stacks {
    now: Vec<u64>,
    all: Vec<(u64, Vec<u64>)>,
    /// The most that were active.
    deepest: usize,
}

impl Stacks {
    /// Deeper stacks are compared from the top down to here.
    const COMPARED: usize = 64;

    fn change(&mut self, at: u64) {
        self.deepest = self.deepest.max(self.now.len());
        if self.all.last().is_some_and(|(last, _)| *last == at) {
            self.all.pop();
        }
        let from = self.now.len().saturating_sub(Self::COMPARED);
        let mut stack = vec![self.now.len() as u64];
        stack.extend(&self.now[from..]);
        if self.all.last().is_none_or(|(_, last)| *last != stack) {
            self.all.push((at, stack));
        }
    }
}

impl Stacks {
    /// Compares with what was found; frames that are left at the end do not count.
    fn same(&self, found: &Self, name: impl Fn(u64) -> String) -> Result<(), Failed> {
        let same = found.all.iter().zip(&self.all).take_while(|(found, is)| found == is).count();
        let end = self.all.last().map_or(0, |(at, _)| *at);
        if same == self.all.len() && found.all[same..].iter().all(|(at, _)| *at >= end) {
            return Ok(());
        }
        let show = |list: &[(u64, Vec<u64>)]| {
            let stacks = list.iter().skip(same.saturating_sub(2)).take(5).map(|(at, stack)| {
                let names: Vec<_> =
                    stack.iter().skip(1).rev().take(6).map(|pc| name(*pc)).collect();
                format!("\n  {at} {}: {}", stack[0], names.join(" < "))
            });
            stacks.collect::<String>()
        };
        Err(format!("is:{}\ndecoded:{}", show(&self.all), show(&found.all)).into())
    }
}

impl Visit for Stacks {
    fn enter(&mut self, frame: &Frame, at: u64) {
        self.now.push(frame.function);
        self.change(at);
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        assert_eq!(self.now.pop(), Some(frame.function), "frames are left in order");
        self.change(at);
    }

    fn gap(&mut self, at: u64) {
        panic!("a gap after {at} instructions");
    }
}

/// A function that is active on the hart.
#[derive(Clone)]
struct Active {
    function: u64,
    /// 0 if nobody called it.
    returns: u64,
    sp: u64,
    trap: bool,
}

/// A thread that waits until it goes on at an address, with its stack pointer.
struct Waiting {
    thread: u64,
    epc: u64,
    sp: u64,
    stack: Vec<Active>,
}

/// The hart's stack.
struct Shadow<'a> {
    functions: &'a Functions,
    stack: Vec<Active>,
    waiting: Vec<Waiting>,
    stacks: Stacks,
    threads: u64,
    thread: u64,
    sp: u64,
    insns: u64,
    rows: Steps,
    executed: Vec<Retired>,
}

impl Shadow<'_> {
    /// The start of the function at an address.
    fn start(&self, pc: u64) -> u64 {
        self.functions.containing(pc).map_or(pc, |function| function.start)
    }

    fn push(&mut self, to: u64, returns: u64, trap: bool) {
        let function = self.start(to);
        self.stack.push(Active { function, returns, sp: self.sp, trap });
    }

    /// Leaves the functions whose stack pointers are gone.
    fn unwind(&mut self, next: u64) {
        while self.stack.last().is_some_and(|active| {
            let returned = self.sp == active.sp && next == active.returns;
            !active.trap && active.returns != 0 && (self.sp > active.sp || returned)
        }) {
            self.stack.pop();
        }
    }

    fn trap_return(&mut self, next: u64) {
        while self.stack.last().is_some_and(|active| !active.trap) {
            self.stack.pop();
        }
        let Some(Active { returns: epc, sp, .. }) = self.stack.pop() else {
            return self.push(next, 0, false);
        };
        let goes_on = |epc: u64| (epc..=epc.wrapping_add(4)).contains(&next);
        if self.sp == sp {
            return if goes_on(epc) {
            } else {
                self.unwind(next)
            };
        }
        let stack = std::mem::take(&mut self.stack);
        self.waiting.push(Waiting { thread: self.thread, epc, sp, stack });
        let now = self.sp;
        match self.waiting.iter().rposition(|it| it.sp == now && goes_on(it.epc)) {
            Some(found) => {
                let Waiting { thread, stack, .. } = self.waiting.remove(found);
                (self.thread, self.stack) = (thread, stack);
            }
            None => {
                self.threads += 1;
                self.thread = self.threads;
                self.push(next, 0, false);
            }
        }
    }

    fn follow(&mut self, step: &Step) {
        let next = step.next_pc;
        let after = step.pc.wrapping_add(step.size.into());
        if let Some(trap) = step.trap {
            // Otherwise it is a system call of which the hart carries out the whole.
            return if next == after {
            } else {
                self.push(next, trap.epc, true)
            };
        }
        let links = matches!(step.write, Some((Register::Integer(1 | 5), value)) if value == after);
        match step.kind {
            IType::TrapReturn => self.trap_return(next),
            IType::CoRoutineSwap => {
                // Each of the two returns to whoever called the first.
                let returns = self.stack.pop().map_or(0, |active| active.returns);
                self.push(next, returns, false);
            }
            // `auipc` may load the same address.
            kind if links && kind != IType::None => self.push(next, after, false),
            _ if next != after => self.unwind(next),
            _ => {}
        }
        // A function that goes on as another one.
        if let (Some(now), Some(top)) = (self.functions.containing(next), self.stack.last_mut()) {
            top.function = now.start;
        }
    }
}

impl Retire for Shadow<'_> {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        self.executed.push(Retired { context: self.thread, ..self.rows.row(step) });
        if self.stack.is_empty() {
            self.push(step.pc, 0, false);
            self.stacks.now.push(self.start(step.pc));
            self.stacks.change(0);
        }
        if let Some((Register::Integer(2), value)) = step.write {
            self.sp = value;
        }
        self.insns += u64::from(step.retires);
        let before = self.stack.len();
        let top = self.stack.last().map(|active| active.function);
        self.follow(step);
        if (self.stack.len(), self.stack.last().map(|active| active.function)) != (before, top) {
            self.stacks.now = self.stack.iter().map(|active| active.function).collect();
            self.stacks.change(self.insns);
        }
    }
}

fn compare(path: &Path, mode: &str, with_threads: bool) -> Result<(), Failed> {
    let elf = std::fs::read(path)?;
    let program = Program::of_file(path, elf.clone())?;
    let mut programs = Programs::new(program.xlen());
    programs.add_elf(elf, 0)?;
    let symbols = programs.all_symbols();
    let functions = symbols.functions().into_iter().map(|function| function.range);
    let functions = Arc::new(Functions::new(functions));
    let mut shadow = Shadow {
        functions: &functions,
        stack: Vec::new(),
        waiting: Vec::new(),
        stacks: Stacks::default(),
        threads: 0,
        thread: 0,
        sp: 0,
        insns: 0,
        rows: Steps::new(program.image().isa()),
        executed: Vec::new(),
    };
    program.steps(LIMIT, &mut shadow)?;
    let expected = shadow.stacks;

    let mut params = modes::params(program.xlen());
    if with_threads {
        params = Params { nocontext_p: false, context_width_p: 8, ..params };
        shadow.executed.iter_mut().for_each(|row| row.ctype = CType::Precise);
    }
    let (options, unit) = (modes::named(mode)?, Unit::Hartrace);
    let resync = Resync::Packets(1 << 20);
    let config = EncoderConfig { params, unit, options, resync, ..EncoderConfig::default() };
    let mut encoder = Encoder::new(config)?;
    let mut payloads = Vec::new();
    for row in &shadow.executed {
        encoder.retire(row, &mut |encoded| payloads.push(encoded.payload));
    }
    encoder.finish(&mut |encoded| payloads.push(encoded.payload));
    let mut tracer = Tracer::new(Config { params, unit, ..Config::default() }, program.image())?;
    let mut calls = CallStack::new(Arc::clone(&functions), Stacks::default());
    let mut transfers = Transfers::new(Arc::clone(&functions));
    for (packet, payload) in (0..).zip(&payloads) {
        tracer.feed(StreamPos { packet, byte: 0 }, payload, &mut transfers);
    }
    tracer.finish(&mut transfers);
    calls.replay(&transfers);
    let found = calls.finish();

    println!(
        "{:12} {mode:10} {:7} instructions, {:6} changes, {:4} deep, {} threads",
        program.name(),
        shadow.insns,
        expected.all.len(),
        found.deepest,
        shadow.threads + 1,
    );
    let name = |pc| symbols.place(pc).map_or_else(|| format!("{pc:x}"), |place| place.to_string());
    expected.same(&found, name)
}

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf");
    let mut trials = Vec::new();
    for (name, with_threads) in PROGRAMS {
        for mode in ["delta", "ir+bp+jtc"] {
            let path = folder.join(format!("{name}.elf"));
            let run = move || compare(&path, mode, with_threads);
            trials.push(Trial::test(format!("{name}/{mode}"), run));
        }
    }
    for mode in ["delta", "ir+bp+jtc"] {
        let run = move || (0..12).try_for_each(|seed| walks::compare(seed, mode));
        trials.push(Trial::test(format!("walks/{mode}"), run));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
