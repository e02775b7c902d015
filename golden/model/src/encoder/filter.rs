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
    /// For each condition: traps that have not been returned from, since the first that matched.
    traps: Vec<u8>,
    on: bool,
}

impl Qualifier {
    pub(crate) fn new(filter: Filter) -> Self {
        let latched = vec![false; filter.comparators.len()];
        let traps = vec![0; filter.conditions.len()];
        let on = filter.initially_on;
        Self { filter, latched, traps, on }
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
        // Every condition is looked at, since each counts traps of its own.
        let mut holds = self.filter.conditions.is_empty();
        for (condition, traps) in self.filter.conditions.iter().zip(&mut self.traps) {
            let handled = in_handler(&self.filter, condition, traps, &matches, row);
            holds |= handled && block_matches(&self.filter, condition, &matches, row);
        }
        on && holds
    }

    /// Blocks are missing here, and with them, perhaps, returns from traps.
    pub(crate) fn miss(&mut self) {
        self.traps.fill(0);
    }
}

/// Comparators of a condition that compare values of a trap, or of every block.
fn comparators<'a>(
    filter: &'a Filter,
    condition: &'a Condition,
    of_trap: bool,
) -> impl Iterator<Item = usize> + 'a {
    let is = move |i: &usize| {
        filter.comparators.get(*i).is_some_and(|c| c.input == Input::Tval) == of_trap
    };
    condition.comparators.iter().copied().filter(is)
}

/// What a condition asks of every block.
fn block_matches(filter: &Filter, condition: &Condition, matches: &[bool], row: &Retired) -> bool {
    comparators(filter, condition, false).all(|i| matches.get(i).copied().unwrap_or(false))
        && condition.privileges.as_ref().is_none_or(|list| list.contains(&row.privilege.0))
}

/// Whether the block is between a trap that the condition asks for and the return from it, both included.
/// Without such a trap to ask for, every block is.
fn in_handler(
    filter: &Filter,
    condition: &Condition,
    traps: &mut u8,
    matches: &[bool],
    row: &Retired,
) -> bool {
    let asks = condition.causes.is_some()
        || condition.interrupt.is_some()
        || comparators(filter, condition, true).next().is_some();
    if !asks {
        return true;
    }
    let trap = row.itype.is_trap();
    let interrupt = row.itype == IType::Interrupt;
    let begins = trap
        && condition.causes.as_ref().is_none_or(|list| list.contains(&row.cause))
        && condition.interrupt.is_none_or(|wanted| wanted == interrupt)
        && comparators(filter, condition, true).all(|i| matches.get(i).copied().unwrap_or(false));
    let inside = begins || *traps > 0;
    if inside && trap && *traps < Condition::NESTED_TRAPS {
        *traps += 1;
    }
    if inside && row.itype == IType::TrapReturn && row.iretire > 0 {
        *traps -= 1;
    }
    if row.reset {
        *traps = 0;
    }
    inside
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
    // Only a trap has a value of its own.
    if c.input == Input::Tval && !row.itype.is_trap() {
        return false;
    }
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

    /// Rows at these addresses, of these types, with cause 5 and trap value 0x44.
    fn rows(itypes: &[IType]) -> Vec<Retired> {
        let row = |(iaddr, itype): (u64, &IType)| Retired {
            itype: *itype,
            cause: 5,
            tval: 0x44,
            ..Retired::plain(iaddr)
        };
        (0x100..).step_by(4).zip(itypes).map(row).collect()
    }

    #[test]
    fn handlers_are_traced_from_the_trap_to_its_return() {
        use IType::{Exception, Interrupt, None, TrapReturn};
        let of = |condition| Filter { conditions: vec![condition], ..Filter::default() };
        let causes =
            |causes: &[u64]| Condition { causes: Some(causes.into()), ..Default::default() };
        let kind = |interrupt| Condition { interrupt: Some(interrupt), ..Default::default() };
        let nested = rows(&[
            None, Interrupt, None, Exception, None, TrapReturn, None, TrapReturn, None, TrapReturn,
        ]);
        let all = [false, true, true, true, true, true, true, true, false, false];
        assert_eq!(traced(of(causes(&[1, 5])), &nested), all);
        assert_eq!(traced(of(causes(&[4])), &nested), [false; 10]);
        assert_eq!(traced(of(kind(true)), &nested), all);
        let inner = [false, false, false, true, true, true, false, false, false, false];
        assert_eq!(traced(of(kind(false)), &nested), inner);
        let both =
            Condition { causes: Some(vec![5]), interrupt: Some(false), ..Default::default() };
        assert_eq!(traced(of(both), &nested), inner);

        let filter = with(Comparator::within(Input::Tval, 0x44, 0x44));
        assert_eq!(traced(filter, &nested), all);
        assert_eq!(traced(with(Comparator::within(Input::Tval, 0, 0x43)), &nested), [false; 10]);
    }

    #[test]
    fn a_reset_and_missing_blocks_end_a_handler() {
        use IType::{Exception, None};
        let condition = Condition { causes: Some(vec![5]), ..Default::default() };
        let filter = Filter { conditions: vec![condition], ..Filter::default() };
        let mut rows = rows(&[Exception, None, None, None]);
        rows[1].reset = true;
        assert_eq!(traced(filter.clone(), &rows), [true, true, false, false]);
        let mut qualifier = Qualifier::new(filter);
        assert!(qualifier.qualify(&rows[0]));
        qualifier.miss();
        assert!(!qualifier.qualify(&rows[2]));
    }

    #[test]
    fn traps_within_traps_are_counted_to_a_limit() {
        let condition = Condition { causes: Some(vec![5]), ..Default::default() };
        let filter = Filter { conditions: vec![condition], ..Filter::default() };
        let most = usize::from(Condition::NESTED_TRAPS);
        for (traps, traced_returns) in [(most, most), (most + 1, most)] {
            let itypes = [vec![IType::Exception; traps], vec![IType::TrapReturn; traps]].concat();
            let expected =
                [vec![true; traps + traced_returns], vec![false; traps - traced_returns]];
            assert_eq!(traced(filter.clone(), &rows(&itypes)), expected.concat());
        }
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
