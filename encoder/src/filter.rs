//! Which blocks are traced.
//!
//! A comparator accepts a set of numbers, which is a few intervals; a block offers every second
//! number of a range. Whether they meet is computed from their ends, so that a long block costs no
//! more than a short one.

use hartrace_etrace::encoder::{Combine, Comparator, Condition, Filter, Function, Input};
use hartrace_etrace::ingress::{IType, Retired};

/// Numbers, as intervals that include both ends, in ascending order.
type Set = Vec<(u64, u64)>;

/// The filter and the state of its latches.
#[derive(Clone, Debug)]
pub(crate) struct Qualifier {
    comparators: Vec<Prepared>,
    conditions: Vec<SplitCondition>,
    /// Tracing is on, as far as triggers are concerned.
    on: bool,
}

/// A condition, with what it asks of traps apart.
#[derive(Clone, Debug)]
struct SplitCondition {
    /// What it asks of every block.
    of_block: Condition,
    /// What it asks of a trap, if anything.
    of_trap: Option<Condition>,
    /// Traps that have not been returned from, since the first that was asked for.
    traps: u8,
}

/// A comparator, as the sets that it accepts.
#[derive(Clone, Debug)]
struct Prepared {
    input: Input,
    /// What matches; for a latch, what opens it.
    matches: Set,
    /// What closes the latch, if it is one.
    closes: Option<Set>,
    latched: bool,
    /// Whether it matches the current block.
    matched: bool,
}

impl Qualifier {
    pub(crate) fn new(filter: &Filter) -> Self {
        // Without conditions everything is traced, and nobody looks at the comparators.
        let used = if filter.conditions.is_empty() { &[] } else { &filter.comparators[..] };
        Self {
            comparators: used.iter().map(Prepared::new).collect(),
            conditions: filter
                .conditions
                .iter()
                .map(|one| SplitCondition::new(filter, one))
                .collect(),
            on: filter.initially_on,
        }
    }

    /// Blocks are missing here.
    pub(crate) fn miss(&mut self) {
        self.conditions.iter_mut().for_each(|asked| asked.traps = 0);
    }

    /// Whether this block is traced. Call once per block, in order.
    #[inline]
    pub(crate) fn qualify(&mut self, block: &Retired) -> bool {
        // Trace-on takes effect with this block, trace-off after it.
        let on = self.on | block.trigger.on;
        self.on = on & !block.trigger.off;
        if self.conditions.is_empty() { on } else { self.meets_condition(block) && on }
    }

    /// Whether every block is traced until the next trigger.
    pub(crate) fn is_open(&self) -> bool {
        self.on && self.conditions.is_empty()
    }

    #[inline(never)]
    fn meets_condition(&mut self, block: &Retired) -> bool {
        self.comparators.iter_mut().for_each(|comparator| comparator.look(block));
        let comparators = &self.comparators;
        let matched = |index: &usize| comparators.get(*index).is_some_and(|c| c.matched);
        let mut any = false;
        for asked in &mut self.conditions {
            any |= asked.handles(block, &matched) & block_matches(&asked.of_block, block, &matched);
        }
        any
    }
}

impl SplitCondition {
    fn new(filter: &Filter, condition: &Condition) -> Self {
        let of_trap =
            |index: &usize| filter.comparators.get(*index).is_some_and(|c| c.input == Input::Tval);
        let (trap, block): (Vec<usize>, Vec<usize>) =
            condition.comparators.iter().copied().partition(of_trap);
        let asks = !trap.is_empty() || condition.causes.is_some() || condition.interrupt.is_some();
        let of_trap = Condition { comparators: trap, privileges: None, ..condition.clone() };
        let privileges = condition.privileges.clone();
        Self {
            of_block: Condition { comparators: block, privileges, ..Condition::default() },
            of_trap: asks.then_some(of_trap),
            traps: 0,
        }
    }

    /// Whether the block is part of a handler that is asked for; counts traps and returns.
    fn handles(&mut self, block: &Retired, matched: &impl Fn(&usize) -> bool) -> bool {
        let Some(of_trap) = &self.of_trap else { return true };
        let before = self.traps;
        let inside = match (block.itype, before) {
            (IType::Exception | IType::Interrupt, 0) => trap_matches(of_trap, block, matched),
            (_, traps) => traps > 0,
        };
        self.traps = match block.itype {
            _ if !inside || block.reset => 0,
            IType::Exception | IType::Interrupt => (before + 1).min(Condition::NESTED_TRAPS),
            IType::TrapReturn if block.iretire > 0 => before - 1,
            _ => before,
        };
        inside
    }
}

/// Whether a block has what a condition asks of every block.
fn block_matches(asked: &Condition, block: &Retired, matched: &impl Fn(&usize) -> bool) -> bool {
    let level = block.privilege.0;
    asked.comparators.iter().all(matched)
        && asked.privileges.as_ref().is_none_or(|some| some.contains(&level))
}

/// Whether a trap is what a condition asks for.
fn trap_matches(asked: &Condition, block: &Retired, matched: &impl Fn(&usize) -> bool) -> bool {
    let interrupt = block.itype == IType::Interrupt;
    asked.comparators.iter().all(matched)
        && asked.causes.as_ref().is_none_or(|some| some.contains(&block.cause))
        && asked.interrupt.is_none_or(|wanted| wanted == interrupt)
}

impl Prepared {
    fn new(comparator: &Comparator) -> Self {
        let set = |(function, operand): (Function, u64)| accepted(function, operand);
        let (primary, secondary) = (set(comparator.primary), set(comparator.secondary));
        let (matches, closes) = match comparator.combine {
            Combine::Primary => (primary, None),
            Combine::Both => (common(&primary, &secondary), None),
            Combine::NotBoth => (others(&common(&primary, &secondary)), None),
            Combine::Latch => (primary, Some(secondary)),
        };
        Self { input: comparator.input, matches, closes, latched: false, matched: false }
    }

    /// Compares a block, and moves the latch.
    fn look(&mut self, block: &Retired) {
        let (first, more) = match self.input {
            Input::Iaddress => (block.iaddr, more_addresses(block)),
            Input::Context => (block.context, 0),
            Input::Tval if block.itype.is_trap() => (block.tval, 0),
            Input::Tval => {
                self.matched = false;
                return;
            }
        };
        let matched = meets(&self.matches, first, more);
        self.matched = match &self.closes {
            None => matched,
            Some(closes) => {
                let inside = self.latched || matched;
                self.latched = inside && !meets(closes, first, more);
                inside
            }
        };
    }
}

/// How many half-words after the first one an instruction of the block may start at.
fn more_addresses(block: &Retired) -> u64 {
    let last = 1u32.checked_shl(block.ilastsize.into()).unwrap_or(u32::MAX);
    block.iretire.saturating_sub(last).into()
}

/// The numbers for which a comparison with `operand` holds.
fn accepted(function: Function, operand: u64) -> Set {
    let below = operand.checked_sub(1).map(|last| (0, last));
    let above = operand.checked_add(1).map(|first| (first, u64::MAX));
    match function {
        Function::Equal => vec![(operand, operand)],
        Function::NotEqual => below.into_iter().chain(above).collect(),
        Function::Less => below.into_iter().collect(),
        Function::LessEqual => vec![(0, operand)],
        Function::Greater => above.into_iter().collect(),
        Function::GreaterEqual => vec![(operand, u64::MAX)],
        Function::Always => vec![(0, u64::MAX)],
    }
}

/// The numbers in both sets.
fn common(a: &Set, b: &Set) -> Set {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(first, last)| first <= last).collect()
}

/// The numbers that are not in the set.
fn others(set: &Set) -> Set {
    let mut rest = Vec::new();
    let mut next = Some(0);
    for (first, last) in set {
        if let Some(next) = next
            && next < *first
        {
            rest.push((next, first.wrapping_sub(1)));
        }
        next = last.checked_add(1);
    }
    rest.extend(next.map(|next| (next, u64::MAX)));
    rest
}

/// Whether the set contains one of `first`, `first + 2`, up to `first + 2 * more`, around the end of
/// the address space.
fn meets(set: &Set, first: u64, more: u64) -> bool {
    let last = first.wrapping_add(more.wrapping_mul(2));
    if last >= first {
        return meets_range(set, first, last);
    }
    meets_range(set, first, u64::MAX) || meets_range(set, first & 1, last)
}

/// Whether the set contains every second number of a range that starts with `first`.
fn meets_range(set: &Set, first: u64, last: u64) -> bool {
    set.iter().any(|(low, high)| {
        let from = (*low).max(first);
        let same_parity = from.checked_add((from ^ first) & 1);
        same_parity.is_some_and(|from| from <= last.min(*high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(combine: Combine, primary: (Function, u64), secondary: (Function, u64)) -> [bool; 4] {
        let comparator = Comparator { input: Input::Iaddress, primary, secondary, combine };
        let condition = Condition { comparators: vec![0], ..Condition::default() };
        let filter = Filter {
            comparators: vec![comparator],
            conditions: vec![condition],
            initially_on: true,
        };
        let mut qualifier = Qualifier::new(&filter);
        // Addresses 0x100 to 0x10c; the last one alone; the last address and 0.
        [(0x100, 8), (0x10c, 2), (u64::MAX - 1, 3), (0x101, 2)].map(|(iaddr, iretire)| {
            qualifier.qualify(&Retired { iretire, ..Retired::plain(iaddr) })
        })
    }

    #[test]
    fn a_block_matches_if_one_address_does() {
        use Combine::{Both, Latch, NotBoth, Primary};
        use Function::{Always, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let any = (Always, 0);
        assert_eq!(traced(Primary, (Equal, 0x10c), any), [true, true, false, false]);
        assert_eq!(traced(Primary, (Equal, 0x101), any), [false, false, false, true]);
        assert_eq!(traced(Primary, (NotEqual, 0x10c), any), [true, false, true, true]);
        assert_eq!(traced(Primary, (Less, 1), any), [false, false, true, false]);
        assert_eq!(traced(Primary, (Greater, u64::MAX - 2), any), [false, false, true, false]);
        assert_eq!(traced(Both, (Greater, 0x104), (Less, 0x106)), [false, false, false, false]);
        assert_eq!(
            traced(Both, (GreaterEqual, 0x104), (LessEqual, 0x106)),
            [true, false, false, false]
        );
        assert_eq!(
            traced(NotBoth, (GreaterEqual, 0x100), (LessEqual, 0x10c)),
            [false, false, true, false]
        );
        assert_eq!(traced(Latch, (Equal, 0x10c), (Equal, 0)), [true, true, true, false]);
    }
}
