//! What each function has executed, alone and with everything that it called.

use super::{Active, CallForm, Callee, Names};
use hartrace_decoder::calls::{CallStack, Frame, Note, Transfers, Visit};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// What a function has executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTotal {
    /// Its source, where the capture names sources.
    pub source: Option<u16>,
    /// Its name, or its address.
    pub name: String,
    /// Its first instruction; of an inlined function, that of one of its copies, always the same one. Two functions may have
    /// one name.
    pub address: u64,
    /// Whether it was inlined: these are its copies in other functions, all together.
    pub inlined: bool,
    /// The program or library that it is in, where several files have code.
    pub object: Option<String>,
    /// Its file and line, if they are known.
    pub place: Option<(String, u32)>,
    /// How often it was called.
    pub calls: u64,
    /// Instructions of its own.
    pub instructions: u64,
    /// Instructions with those of everything that it called. A call of a function that is active already adds nothing.
    pub with_callees: u64,
}

/// Adds up what each function has executed. Writes nothing; the result is for programs.
#[derive(Clone, Debug, Default)]
pub struct FunctionTotals {
    /// The functions, those with the most instructions of their own first.
    pub functions: Vec<FunctionTotal>,
}

/// What is known of the functions of a source.
#[derive(Debug, Default)]
pub struct Totals {
    functions: BTreeMap<Callee, Total>,
    active: Active,
    /// For each inlined copy of a function, the one that stands for all of them.
    ones: Arc<[u32]>,
}

#[derive(Copy, Clone, Debug, Default)]
struct Total {
    calls: u64,
    own: u64,
    with_callees: u64,
    /// How often it is active at present.
    depth: u64,
}

impl Totals {
    fn count(&mut self, at: u64) {
        if let Some((function, insns)) = self.active.count(at) {
            let total = self.functions.entry(function).or_default();
            total.own = total.own.saturating_add(insns);
        }
    }
}

impl Visit for Totals {
    const ONE_BY_ONE: u64 = 0;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        let callee = Callee::from(frame).one_of(&self.ones);
        let times = self.active.enter(callee, at);
        let total = self.functions.entry(callee).or_default();
        total.calls = total.calls.saturating_add(times);
        total.depth = total.depth.saturating_add(1);
    }

    fn resume(&mut self, frame: &Frame, at: u64, _: Option<Note>) {
        self.count(at);
        let callee = Callee::from(frame).one_of(&self.ones);
        self.active.resume(callee, at);
        let total = self.functions.entry(callee).or_default();
        total.depth = total.depth.saturating_add(1);
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        self.count(at);
        let Some((function, insns)) = self.active.leave(at) else { return };
        let total = self.functions.entry(function).or_default();
        total.depth = total.depth.saturating_sub(1);
        if total.depth == 0 {
            total.with_callees = total.with_callees.saturating_add(insns);
        }
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        self.count(at);
        self.active.begin_turns(times, more);
    }

    fn end_turns(&mut self, at: u64) {
        self.count(at);
        self.active.end_turns(at);
    }
}

impl CallForm for FunctionTotals {
    type Calls = Totals;

    fn calls(&self, _: Option<u16>, names: &Names<'_>) -> Totals {
        Totals { ones: names.ones(), ..Totals::default() }
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Totals>, part: &Transfers) {
        stack.replay(part);
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Totals, u64)>,
        names: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        for (source, totals, _) in all {
            self.functions.extend(totals.functions.into_iter().map(|(callee, total)| {
                FunctionTotal {
                    source,
                    name: names.name(callee),
                    address: names.entry(callee),
                    inlined: callee.is_inlined(),
                    object: names.object(callee).map(str::to_owned),
                    place: names.source(callee),
                    calls: total.calls,
                    instructions: total.own,
                    with_callees: total.with_callees,
                }
            }));
        }
        self.functions.sort_by_key(|function| std::cmp::Reverse(function.instructions));
        Ok(())
    }
}
