//! Which instructions are traced.
//!
//! Spec: E-Trace 2.0, chapter 5 "Filtering" (informative), and 4.2.4 "Triggers".

use hartrace_etrace::encoder::{Combine, Comparator, Condition, Filter, Function, Input};
use hartrace_etrace::ingress::{IType, Retired};

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
        on && (conditions.is_empty()
            || conditions.iter().any(|c| condition_holds(c, &matches, row)))
    }
}

fn condition_holds(condition: &Condition, matches: &[bool], row: &Retired) -> bool {
    let trap = row.itype.is_trap();
    let interrupt = row.itype == IType::Interrupt;
    condition.comparators.iter().all(|i| matches.get(*i).copied().unwrap_or(false))
        && condition.privileges.as_ref().is_none_or(|list| list.contains(&row.privilege.0))
        && condition.causes.as_ref().is_none_or(|list| trap && list.contains(&row.cause))
        && condition.interrupt.is_none_or(|wanted| trap && wanted == interrupt)
}

const fn holds(function: Function, value: u64, operand: u64) -> bool {
    match function {
        Function::Equal => value == operand,
        Function::NotEqual => value != operand,
        Function::Less => value < operand,
        Function::LessEqual => value <= operand,
        Function::Greater => value > operand,
        Function::GreaterEqual => value >= operand,
        Function::Always => true,
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
    let primary = |v: u64| holds(c.primary.0, v, c.primary.1);
    let secondary = |v: u64| holds(c.secondary.0, v, c.secondary.1);
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
