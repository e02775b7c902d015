//! The instructions of each call stack.

use super::Callee;
use super::turns::Turns;
use hartrace_decoder::calls::{Frame, Visit};
use std::collections::HashMap;

/// Different stacks that are kept apart. Functions that others call beyond that count as their callers.
const MAX_STACKS: usize = 1 << 20;

/// A tree of stacks.
#[derive(Debug, Default)]
pub struct Tree {
    /// The first is the empty stack.
    stacks: Vec<Stack>,
    called: HashMap<(u32, Callee), u32>,
    now: u32,
    /// Calls that have no stack of their own.
    beyond: u64,
    /// Instructions up to here are counted.
    counted: u64,
    turns: Turns,
}

#[derive(Debug)]
struct Stack {
    caller: u32,
    callee: Callee,
    insns: u64,
}

impl Tree {
    /// All stacks that executed instructions, the outermost function first, with the number of instructions that the
    /// innermost function executed itself. They add up to `instructions`, the number of all.
    pub(super) fn stacks(&mut self, instructions: u64) -> impl Iterator<Item = (Vec<Callee>, u64)> {
        self.count(instructions);
        let busy = (0..).zip(&self.stacks).filter(|(_, stack)| stack.insns > 0);
        busy.map(|(index, stack)| (self.functions(index), stack.insns))
    }

    fn count(&mut self, at: u64) {
        if self.stacks.is_empty() {
            self.stacks.push(Stack { caller: 0, callee: Callee::Function(0), insns: 0 });
        }
        if let Some(stack) = self.stacks.get_mut(self.now as usize) {
            let insns = self.turns.all(at.saturating_sub(self.counted));
            stack.insns = stack.insns.saturating_add(insns);
        }
        self.counted = at;
    }

    /// The functions of a stack, the outermost first.
    fn functions(&self, mut index: u32) -> Vec<Callee> {
        let mut functions = Vec::new();
        while let Some(stack) = self.stacks.get(index as usize).filter(|_| index != 0) {
            functions.push(stack.callee);
            index = stack.caller;
        }
        functions.reverse();
        functions
    }
}

impl Visit for Tree {
    const ONE_BY_ONE: u64 = 0;

    fn enter(&mut self, frame: &Frame, at: u64) {
        self.count(at);
        let callee = Callee::from(frame);
        let place = (self.now, callee);
        match self.called.get(&place) {
            Some(known) if self.beyond == 0 => self.now = *known,
            None if self.beyond == 0 && self.stacks.len() < MAX_STACKS => {
                let new = self.stacks.len() as u32;
                self.stacks.push(Stack { caller: self.now, callee, insns: 0 });
                self.called.insert(place, new);
                self.now = new;
            }
            _ => self.beyond = self.beyond.saturating_add(1),
        }
    }

    fn leave(&mut self, _: &Frame, at: u64) {
        self.count(at);
        if self.beyond > 0 {
            self.beyond = self.beyond.saturating_sub(1);
        } else if let Some(stack) = self.stacks.get(self.now as usize) {
            self.now = stack.caller;
        }
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        self.count(at);
        self.turns = Turns::begin(times, more);
    }

    fn end_turns(&mut self, at: u64) {
        self.count(at);
        self.counted = self.turns.end(at);
    }
}
