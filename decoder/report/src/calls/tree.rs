//! The instructions of each call stack.

use super::Callee;
use super::turns::Turns;
use hartrace_decoder::calls::{Frame, Visit};
use std::collections::HashMap;

/// Different stacks that are kept apart. Functions that others call beyond that count as their callers.
const MAX_STACKS: usize = 1 << 20;

/// Contexts that are kept apart.
const MAX_CONTEXTS: usize = 1 << 10;

/// A tree of stacks.
#[derive(Debug, Default)]
pub struct Tree {
    /// The first is the empty stack.
    stacks: Vec<Stack>,
    called: HashMap<(u32, Callee), u32>,
    now: u32,
    /// Contexts whose stacks are kept apart, and the empty stack of each; that of context 0 is the first. `None` if all contexts
    /// are one.
    contexts: Option<Vec<(u64, u32)>>,
    /// Calls that have no stack of their own.
    beyond: u64,
    /// Instructions up to here are counted.
    counted: u64,
    turns: Turns,
}

/// A stack with all that was called from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Total {
    /// The place of the stack without its innermost function.
    pub(crate) caller: usize,
    /// The innermost function.
    pub(crate) callee: Callee,
    /// Instructions that it executed itself.
    pub(crate) own: u64,
    /// The same, with those of what it called.
    pub(crate) insns: u64,
}

#[derive(Debug)]
struct Stack {
    caller: u32,
    callee: Callee,
    insns: u64,
}

/// A stack that executed instructions.
pub(super) struct Busy {
    /// Its context, if several contexts are kept apart.
    pub(super) context: Option<u64>,
    /// The functions, the outermost first.
    pub(super) functions: Vec<Callee>,
    /// Instructions that the innermost function executed itself.
    pub(super) insns: u64,
}

impl Tree {
    /// A tree that keeps the stacks of contexts apart.
    pub(super) fn of_contexts() -> Self {
        Self { contexts: Some(Vec::new()), ..Self::default() }
    }

    /// All stacks that executed instructions, which add up to `instructions`, the number of all.
    pub(super) fn stacks(&mut self, instructions: u64) -> impl Iterator<Item = Busy> {
        self.count(instructions);
        let roots = self.contexts.iter().flatten().map(|(context, root)| (*root, *context));
        let roots: HashMap<u32, u64> = roots.collect();
        let indices = (0..).zip(&self.stacks).filter(|(_, stack)| stack.insns > 0);
        let mut busy: Vec<Busy> = indices
            .map(|(index, stack)| {
                let (root, functions) = self.functions(index);
                let context = Some(roots.get(&root).copied().unwrap_or_default());
                Busy { context, functions, insns: stack.insns }
            })
            .collect();
        let first = busy.first().and_then(|first| first.context);
        if busy.iter().all(|stack| stack.context == first) {
            busy.iter_mut().for_each(|stack| stack.context = None);
        }
        busy.into_iter()
    }

    /// All stacks, callers before what they call: the first is the empty one. Instructions are those of a stack and of all that were
    /// called from it; those of the first are `instructions`, the number of all.
    pub(crate) fn totals(&mut self, instructions: u64) -> Vec<Total> {
        self.count(instructions);
        let total = |stack: &Stack| Total {
            caller: if stack.is_empty() { 0 } else { stack.caller as usize },
            callee: stack.callee,
            own: stack.insns,
            insns: stack.insns,
        };
        let mut totals: Vec<Total> = self.stacks.iter().map(total).collect();
        for index in (1..totals.len()).rev() {
            let Some(Total { caller, insns, .. }) = totals.get(index).copied() else { continue };
            if let Some(caller) = totals.get_mut(caller) {
                caller.insns = caller.insns.saturating_add(insns);
            }
        }
        totals
    }

    fn count(&mut self, at: u64) {
        if self.stacks.is_empty() {
            self.stacks.push(Stack::EMPTY);
        }
        if let Some(stack) = self.stacks.get_mut(self.now as usize) {
            let insns = self.turns.all(at.saturating_sub(self.counted));
            stack.insns = stack.insns.saturating_add(insns);
        }
        self.counted = at;
    }

    /// The empty stack that a stack starts from, and its functions, the outermost first.
    fn functions(&self, mut index: u32) -> (u32, Vec<Callee>) {
        let mut functions = Vec::new();
        while let Some(stack) = self.stacks.get(index as usize).filter(|stack| !stack.is_empty()) {
            functions.push(stack.callee);
            index = stack.caller;
        }
        functions.reverse();
        (index, functions)
    }
}

impl Stack {
    /// A stack without functions.
    const EMPTY: Self = Self { caller: u32::MAX, callee: Callee::Function(0), insns: 0 };

    fn is_empty(&self) -> bool {
        self.caller == u32::MAX
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
            self.now = if stack.is_empty() { self.now } else { stack.caller };
        }
    }

    fn context(&mut self, context: u64, at: u64) {
        self.count(at);
        let Some(contexts) = &mut self.contexts else { return };
        self.now = match contexts.iter().find(|(known, _)| *known == context) {
            _ if context == 0 => 0,
            Some((_, root)) => *root,
            // The stacks of more contexts are those of the first.
            None if contexts.len() >= MAX_CONTEXTS || self.stacks.len() >= MAX_STACKS => 0,
            None => {
                let root = self.stacks.len() as u32;
                self.stacks.push(Stack::EMPTY);
                contexts.push((context, root));
                root
            }
        };
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
