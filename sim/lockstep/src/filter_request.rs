//! What filters ask for: in the golden encoder, and at the ports of the hardware.

use crate::setup::place;
use hartrace_encoder_hdl::Config;
use hartrace_golden::encoder::{Combine, Comparator, Condition, Filter, Function, Input};
use std::collections::BTreeMap;

/// What one filter asks for. What is empty is not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterRequest {
    /// Privilege levels.
    pub privileges: Vec<u8>,
    /// The first and the last address of a range.
    pub range: Option<(u64, u64)>,
    /// The first and the last context of a range.
    pub context: Option<(u64, u64)>,
    /// Causes of a trap.
    pub causes: Vec<u64>,
    /// A trap that is an interrupt, or an exception.
    pub interrupt: Option<bool>,
    /// The first and the last value of a trap.
    pub tval: Option<(u64, u64)>,
}

impl FilterRequest {
    /// Whether it asks for traps.
    #[must_use]
    pub fn traps(&self) -> bool {
        !self.causes.is_empty() || self.interrupt.is_some() || self.tval.is_some()
    }

    /// Adds it to the filter of the golden encoder.
    pub(crate) fn add(&self, filter: &mut Filter) {
        let some = |list: &[u8]| (!list.is_empty()).then(|| list.to_vec());
        let mut condition = Condition {
            privileges: some(&self.privileges),
            causes: (!self.causes.is_empty()).then(|| self.causes.clone()),
            interrupt: self.interrupt,
            ..Condition::default()
        };
        let ranges = [
            (Input::Iaddress, self.range),
            (Input::Context, self.context),
            (Input::Tval, self.tval),
        ];
        for (input, range) in ranges {
            let Some((first, last)) = range else { continue };
            condition.comparators.push(filter.comparators.len());
            filter.comparators.push(match first == last {
                true => Comparator {
                    input,
                    primary: (Function::Equal, first),
                    secondary: (Function::Always, 0),
                    combine: Combine::Primary,
                },
                false => Comparator::within(input, first, last),
            });
        }
        filter.conditions.push(condition);
    }

    /// Whether an encoder has filter number `i`, and all that it would need.
    fn fits(&self, config: &Config, i: usize) -> bool {
        let has = |asked: bool, count: u8| !asked || i < usize::from(count);
        let most = config.comparators.max(config.context_comparators).max(config.tval_comparators);
        i < usize::from(most.max(1))
            && has(self.range.is_some(), config.comparators)
            && has(self.context.is_some(), config.context_comparators)
            && has(self.tval.is_some(), config.tval_comparators)
            && (config.filter_excint_p || (self.causes.is_empty() && self.interrupt.is_none()))
    }
}

/// Ports of the hardware that filters have, without `_i`.
pub(crate) const PORTS: [&str; 15] = [
    "filters",
    "privileges",
    "ranges",
    "low",
    "high",
    "contexts",
    "context_low",
    "context_high",
    "handlers",
    "causes",
    "exceptions",
    "interrupts",
    "tvals",
    "tval_low",
    "tval_high",
];

/// The values of these ports, as far as they are not 0; `None` if an encoder has no such filters.
pub(crate) fn values(
    config: &Config,
    asked: &[FilterRequest],
) -> Option<BTreeMap<&'static str, Vec<u64>>> {
    let etrace = &config.etrace;
    let levels = 1 << etrace.privilege_width_p.min(3);
    let causes = 1 << etrace.ecause_width_p.min(6);
    let (address, lsb) = (u32::from(etrace.iaddress_width_p), u32::from(etrace.iaddress_lsb_p));
    let context = etrace.context_bits();
    let mask = |bits: &mut dyn Iterator<Item = u64>| bits.fold(0, |mask, bit| mask | 1 << bit);
    // Without a filter, all levels are traced.
    let nothing = [FilterRequest::default()];
    let in_use = !asked.is_empty();
    let mut values = BTreeMap::new();
    for (n, one) in if in_use { asked } else { &nothing }.iter().enumerate() {
        if !one.fits(config, n) {
            return None;
        }
        let i = n as u32;
        let mut put = |name, width: u32, value: u64| {
            place(values.entry(name).or_insert_with(|| vec![0u64; 16]), i * width, width, value);
        };
        let all = |none: bool, mask: u64| if none { u64::MAX } else { mask };
        let chosen = mask(&mut one.privileges.iter().map(|level| u64::from(*level)));
        put("filters", 1, in_use.into());
        put("privileges", levels, all(one.privileges.is_empty(), chosen));
        put("handlers", 1, one.traps().into());
        let chosen = mask(&mut one.causes.iter().copied());
        put("causes", causes, all(one.causes.is_empty(), chosen));
        put("exceptions", 1, (one.interrupt != Some(true)).into());
        put("interrupts", 1, (one.interrupt != Some(false)).into());
        let ranges = [
            (["ranges", "low", "high"], address - lsb, lsb, one.range),
            (["contexts", "context_low", "context_high"], context, 0, one.context),
            (["tvals", "tval_low", "tval_high"], address, 0, one.tval),
        ];
        for ([used, low, high], width, lsb, range) in ranges {
            if let Some((first, last)) = range {
                put(used, 1, 1);
                put(low, width, first >> lsb);
                put(high, width, last >> lsb);
            }
        }
    }
    Some(values)
}
