//! Which instructions are traced.
//!
//! Spec: E-Trace 2.0, chapter 5 "Filtering" (informative), and 4.2.4 "Triggers".

use hartrace_etrace::ingress::{IType, Retired};

/// Input of a comparator.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Instruction addresses: matches if any instruction of the block does.
    Iaddress,
    /// The context.
    Context,
    /// The trap value.
    Tval,
}

/// Comparison that a comparator makes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    LessEqual,
    /// Greater than.
    Greater,
    /// Greater than or equal.
    GreaterEqual,
    /// Always matches.
    Always,
}

impl Function {
    const fn holds(self, value: u64, operand: u64) -> bool {
        match self {
            Self::Equal => value == operand,
            Self::NotEqual => value != operand,
            Self::Less => value < operand,
            Self::LessEqual => value <= operand,
            Self::Greater => value > operand,
            Self::GreaterEqual => value >= operand,
            Self::Always => true,
        }
    }
}

/// How the primary (P) and secondary (S) matches combine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// P alone.
    Primary,
    /// P and S.
    Both,
    /// Not both.
    NotBoth,
    /// From a match of P to a match of S, both included.
    Latch,
}

/// A pair of comparisons on one input.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    /// The input to compare.
    pub input: Input,
    /// Primary comparison: function and operand.
    pub primary: (Function, u64),
    /// Secondary comparison.
    pub secondary: (Function, u64),
    /// How they combine.
    pub combine: Combine,
}

impl Comparator {
    /// Instruction addresses in `first..=last`.
    pub const fn range(first: u64, last: u64) -> Self {
        Self {
            input: Input::Iaddress,
            primary: (Function::GreaterEqual, first),
            secondary: (Function::LessEqual, last),
            combine: Combine::Both,
        }
    }
}

/// A condition on a retired block; every part that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Indices of comparators that must match, three at most in hardware.
    pub comparators: Vec<usize>,
    /// Privilege levels that match.
    pub privileges: Option<Vec<u8>>,
    /// Trap causes that match, for rows that are traps.
    pub causes: Option<Vec<u64>>,
    /// For rows that are traps: interrupts only, or exceptions only.
    pub interrupt: Option<bool>,
}

/// The filter: a block is traced if any condition matches it, or if there are no conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The comparators.
    pub comparators: Vec<Comparator>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Whether tracing is on before the first trigger.
    pub initially_on: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self { comparators: Vec::new(), conditions: Vec::new(), initially_on: true }
    }
}

/// The filter and the state of its latches.
#[derive(Clone, Debug)]
pub(crate) struct Qualifier {
    filter: Filter,
    latched: Vec<bool>,
    on: bool,
}

impl Qualifier {
    pub(crate) fn new(filter: Filter) -> Self {
        let latched = vec![false; filter.comparators.len()];
        let on = filter.initially_on;
        Self { filter, latched, on }
    }

    /// Whether this block is traced. Call once per block, in order.
    pub(crate) fn qualify(&mut self, row: &Retired) -> bool {
        // Trace-on takes effect with this block, trace-off after it.
        self.on |= row.trigger.on;
        let on = self.on;
        self.on &= !row.trigger.off;

        let matches: Vec<bool> = (0..self.filter.comparators.len())
            .map(|i| {
                let comparator = self.filter.comparators[i];
                match_comparator(&comparator, &mut self.latched[i], row)
            })
            .collect();
        let conditions = &self.filter.conditions;
        on && (conditions.is_empty() || conditions.iter().any(|c| c.holds(&matches, row)))
    }
}

impl Condition {
    fn holds(&self, matches: &[bool], row: &Retired) -> bool {
        let trap = row.itype.is_trap();
        let interrupt = row.itype == IType::Interrupt;
        self.comparators.iter().all(|i| matches.get(*i).copied().unwrap_or(false))
            && self.privileges.as_ref().is_none_or(|list| list.contains(&row.privilege.0))
            && self.causes.as_ref().is_none_or(|list| trap && list.contains(&row.cause))
            && self.interrupt.is_none_or(|wanted| trap && wanted == interrupt)
    }
}

fn match_comparator(c: &Comparator, latched: &mut bool, row: &Retired) -> bool {
    // All values that the block offers; one match is enough.
    let any = |matches: &dyn Fn(u64) -> bool| match c.input {
        // Every address between the first and the last instruction at which one could start.
        Input::Iaddress => {
            // A block may claim to be shorter than its last instruction.
            let last = 1u32.checked_shl(row.ilastsize.into()).unwrap_or(u32::MAX);
            let half_words = u64::from(row.iretire.saturating_sub(last));
            (0..=half_words).any(|half| matches(row.iaddr.wrapping_add(2 * half)))
        }
        Input::Context => matches(row.context),
        Input::Tval => matches(row.tval),
    };
    let primary = |v: u64| c.primary.0.holds(v, c.primary.1);
    let secondary = |v: u64| c.secondary.0.holds(v, c.secondary.1);
    match c.combine {
        Combine::Primary => any(&primary),
        Combine::Both => any(&|v| primary(v) && secondary(v)),
        Combine::NotBoth => any(&|v| !(primary(v) && secondary(v))),
        Combine::Latch => {
            *latched |= any(&primary);
            let inside = *latched;
            *latched &= !any(&secondary);
            inside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_etrace::ingress::{Privilege, Trigger};

    fn traced(filter: Filter, rows: &[Retired]) -> Vec<bool> {
        let mut qualifier = Qualifier::new(filter);
        rows.iter().map(|row| qualifier.qualify(row)).collect()
    }

    fn addresses(from: u64, to: u64) -> Vec<Retired> {
        (from..=to).step_by(4).map(Retired::plain).collect()
    }

    fn with(comparator: Comparator) -> Filter {
        let condition = Condition { comparators: vec![0], ..Condition::default() };
        Filter { comparators: vec![comparator], conditions: vec![condition], ..Filter::default() }
    }

    #[test]
    fn address_range_includes_both_ends() {
        let rows = addresses(0x100, 0x110);
        assert_eq!(
            traced(with(Comparator::range(0x104, 0x10a)), &rows),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn a_block_is_traced_if_one_instruction_matches() {
        let block = Retired { iretire: 8, ..Retired::plain(0x100) };
        assert_eq!(traced(with(Comparator::range(0x108, 0x108)), &[block]), [true]);
        assert_eq!(traced(with(Comparator::range(0x110, 0x120)), &[block]), [false]);
    }

    #[test]
    fn a_block_shorter_than_its_last_instruction_is_one_address() {
        let odd = Retired { iretire: 1, ilastsize: 200, ..Retired::plain(0x100) };
        assert_eq!(traced(with(Comparator::range(0x104, 0x10a)), &[odd]), [false]);
        assert_eq!(traced(with(Comparator::range(0x100, 0x10a)), &[odd]), [true]);
    }

    #[test]
    fn latch_holds_from_primary_to_secondary() {
        let latch = Comparator {
            input: Input::Iaddress,
            primary: (Function::Equal, 0x104),
            secondary: (Function::Equal, 0x10c),
            combine: Combine::Latch,
        };
        assert_eq!(traced(with(latch), &addresses(0x100, 0x110)), [false, true, true, true, false]);
    }

    #[test]
    fn conditions_are_alternatives() {
        let only = |p: u8| Condition { privileges: Some(vec![p]), ..Condition::default() };
        let filter = Filter { conditions: vec![only(0), only(1)], ..Filter::default() };
        let rows = [Privilege::U, Privilege::S, Privilege::M]
            .map(|privilege| Retired { privilege, ..Retired::plain(0) });
        assert_eq!(traced(filter, &rows), [true, true, false]);
    }

    #[test]
    fn triggers() {
        let mut rows = addresses(0x100, 0x114);
        rows[1].trigger = Trigger { on: true, ..Trigger::default() };
        rows[2].trigger = Trigger { off: true, ..Trigger::default() };
        rows[4].trigger = Trigger { on: true, off: true, notify: false };
        let off = Filter { initially_on: false, ..Filter::default() };
        assert_eq!(traced(off, &rows), [false, true, true, false, true, false]);
    }
}
