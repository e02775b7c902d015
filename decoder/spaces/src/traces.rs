//! Changes of the number of a source on the trace bus, and of its configuration.

use crate::{Log, State};
use std::collections::BTreeMap;

/// `define_trace`: a source has a number, with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// Whether the source has the number.
    pub state: State,
    /// The number in frames.
    pub id: u8,
    /// The source, by its name.
    pub source: String,
    /// Its configuration.
    pub setup: ChangedRegisters,
}

/// Registers of a source that differ from its other description.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedRegisters {
    /// ETMCR of a PTM.
    pub etmcr: Option<u32>,
    /// TRCCONFIGR of an ETMv4 or ETE.
    pub trcconfigr: Option<u32>,
}

/// The source of a number from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The time.
    pub since: u64,
    /// The source and its configuration; `None` if no source has the number.
    pub source: Option<(String, ChangedRegisters)>,
}

impl Log {
    /// For every number that the log defines, its sources in chronological order. `usual` returns the source
    /// of a number where the log does not define it.
    pub fn bound(&self, usual: impl Fn(u8) -> Option<String>) -> BTreeMap<u8, Vec<Bound>> {
        let mut all: BTreeMap<u8, Vec<Bound>> = BTreeMap::new();
        for (now, defined) in &self.traces {
            let bound = all.entry(defined.id).or_insert_with(|| {
                let source = usual(defined.id).map(|name| (name, ChangedRegisters::default()));
                vec![Bound { since: 0, source }]
            });
            defined.take(*now, bound);
        }
        all
    }
}

impl Defined {
    fn take(&self, now: u64, bound: &mut Vec<Bound>) {
        let told = Some((self.source.clone(), self.setup));
        // Before this event, only the usual source of the number is known.
        let first = bound.len() == 1;
        let Some(last) = bound.last_mut() else { return };
        let known = last.source.as_ref().is_some_and(|(name, _)| *name == self.source);
        match self.state {
            State::Start => bound.push(Bound { since: now, source: told }),
            State::Current | State::End => {
                // Every event is complete: it also applied before, if its start was lost.
                if first || (known && self.setup != ChangedRegisters::default()) {
                    last.source = told;
                } else if !known && self.state == State::Current {
                    bound.push(Bound { since: now, source: told });
                } else if !known {
                    // Another source has the number by now.
                    return;
                }
                if self.state == State::End {
                    bound.push(Bound { since: now, source: None });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source and its ETMCR.
    type Source = Option<(String, Option<u32>)>;

    /// The sources of number 1, with times and ETMCR; the usual source is `a`.
    fn bound(log: &str) -> Vec<(u64, Source)> {
        let bound = Log::parse("log", log).unwrap().bound(|id| (id == 1).then(|| "a".to_owned()));
        let one = bound.get(&1).cloned().unwrap_or_default();
        let told =
            |bound: Bound| (bound.since, bound.source.map(|(source, setup)| (source, setup.etmcr)));
        one.into_iter().map(told).collect()
    }

    fn of(name: &str, etmcr: Option<u32>) -> Source {
        Some((name.to_owned(), etmcr))
    }

    #[test]
    fn numbers_move_between_sources() {
        let log = "10 define_trace state=END id=1 source=a\n\
                   10 define_trace state=START id=2 source=a etmcr=0x10\n\
                   20 define_trace state=START id=1 source=b etmcr=7\n\
                   30 define_trace state=END id=1 source=b etmcr=7\n";
        let expected = [(0, of("a", None)), (10, None), (20, of("b", Some(7))), (30, None)];
        assert_eq!(bound(log), expected);
        let both = Log::parse("log", log).unwrap().bound(|_| None);
        let setup = ChangedRegisters { etmcr: Some(0x10), trcconfigr: None };
        let two = [
            Bound { since: 0, source: None },
            Bound { since: 10, source: Some(("a".to_owned(), setup)) },
        ];
        assert_eq!(both[&2], two);
    }

    #[test]
    fn starts_that_were_lost() {
        // A source that ends existed before, with the configuration given at its end.
        let ended = bound("30 define_trace state=END id=1 source=b etmcr=7\n");
        assert_eq!(ended, [(0, of("b", Some(7))), (30, None)]);
        let current = bound("30 define_trace state=CURRENT id=1 source=b\n");
        assert_eq!(current, [(0, of("b", None))]);
        // Another source had the number in between.
        let log = "10 define_trace state=START id=1 source=b\n\
                   20 define_trace state=CURRENT id=1 source=c\n\
                   30 define_trace state=END id=1 source=b\n\
                   40 define_trace state=CURRENT id=1 source=c etmcr=9\n";
        let expected = [(0, of("a", None)), (10, of("b", None)), (20, of("c", Some(9)))];
        assert_eq!(bound(log), expected);
        assert_eq!(bound("5 define_trace state=START id=2 source=b\n"), []);
    }
}
