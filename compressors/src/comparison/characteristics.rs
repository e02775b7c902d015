//! What executions are like, as far as compressors depend on it.

use super::workload::Workload;
use super::{Comparison, ComparisonError};
use crate::CompressError;
use crate::events::{Event, Events};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

/// The largest number of instructions in a stream, as in all schemes.
const LONGEST: u64 = 254;

/// Places of streams in the list of the last ones, with one for those that are not in it; as in table 4.2 of the source.
const PLACES: usize = 128;

/// Characteristics of an execution. A stream is what retires from the target of a taken branch or of a jump through a register
/// up to the next one, up to a trap, or up to 254 instructions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Characteristics {
    /// The name of the program.
    pub program: String,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Those of 16 bits.
    pub compressed: u64,
    /// Conditional branches.
    pub branches: u64,
    /// Those that were taken.
    pub taken: u64,
    /// Jumps whose target the program does not determine, returns among them.
    pub indirect: u64,
    /// Exceptions and interrupts.
    pub traps: u64,
    /// Streams.
    pub streams: u64,
    /// Streams that differ, by address or by length.
    pub unique_streams: u64,
    /// Streams whose address the one before does not determine.
    pub unknown_starts: u64,
    /// Instructions of the longest stream.
    pub longest_stream: u64,
    /// The smallest number of different streams that are 90 % of all.
    pub streams_for_90_percent: u64,
    /// Executions of a stream by its place in a list of the last 127 different ones, the most recent first: those at the place that is
    /// the most frequent one. All others than these 127 are one place.
    pub most_frequent_place: u64,
    /// The smallest number of places that are 90 % of all.
    pub places_for_90_percent: u64,
    /// Executions of streams that are not in that list.
    pub not_recent: u64,
}

impl Characteristics {
    /// Determines the characteristics of a workload.
    ///
    /// # Errors
    ///
    /// If the program has no code where something was executed.
    pub fn of(workload: &Workload) -> Result<Self, ComparisonError> {
        let failed = |error| ComparisonError::Compress {
            program: workload.name.clone(),
            scheme: "characteristics".into(),
            error,
        };
        let mut counter = Counter::new(workload.code.xlen());
        let mut events = Events::new(&workload.code);
        let mut take = |event| {
            counter.take(event);
            Ok::<(), CompressError>(())
        };
        workload.rows.iter().try_for_each(|row| events.push(row, &mut take)).map_err(failed)?;
        events.close(&mut take).map_err(failed)?;
        Ok(Self { program: workload.name.clone(), ..counter.finish() })
    }

    /// Instructions in a stream, on average.
    pub fn average_stream(&self) -> f64 {
        self.instructions as f64 / self.streams.max(1) as f64
    }
}

/// Counts events.
struct Counter {
    xlen: Xlen,
    counts: Characteristics,
    /// Number of executions of each stream, by address and length.
    seen: HashMap<(u64, u64), u64>,
    /// The last different streams, the most recent first.
    recent: Vec<(u64, u64)>,
    /// Executions by the place in that list.
    places: [u64; PLACES],
    /// The stream that has not ended.
    open: Option<(u64, u64)>,
    /// Whether the previous stream determines the address of the next one.
    known: bool,
}

impl Counter {
    fn new(xlen: Xlen) -> Self {
        let (counts, seen) = (Characteristics::default(), HashMap::new());
        let (recent, places) = (Vec::with_capacity(PLACES), [0; PLACES]);
        Self { xlen, counts, seen, recent, places, open: None, known: false }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Trap { epc, .. } => {
                self.counts.traps += 1;
                let (start, length) = self.open.take().unwrap_or((epc, 0));
                self.end(start, length, true);
            }
            Event::Retired { pc, insn, next } => {
                let fallthrough = insn.next(self.xlen, pc);
                // A branch to the next instruction is not seen as taken.
                let taken = insn.is_branch()
                    && next == insn.target(self.xlen, pc)
                    && next != Some(fallthrough);
                let indirect = insn.is_uninferable();
                self.counts.instructions += 1;
                self.counts.compressed += u64::from(insn.size == 2);
                self.counts.branches += u64::from(insn.is_branch());
                self.counts.taken += u64::from(taken);
                self.counts.indirect += u64::from(indirect);
                let (start, length) = self.open.take().unwrap_or((pc, 0));
                let length = length + 1;
                if taken || indirect || length == LONGEST {
                    self.end(start, length, !indirect);
                } else {
                    self.open = Some((start, length));
                }
            }
        }
    }

    /// Ends a stream; `known` if it determines where the next one starts.
    fn end(&mut self, start: u64, length: u64, known: bool) {
        self.counts.streams += 1;
        self.counts.unknown_starts += u64::from(!self.known);
        self.counts.longest_stream = self.counts.longest_stream.max(length);
        *self.seen.entry((start, length)).or_default() += 1;
        let place = self.recent.iter().position(|other| *other == (start, length));
        self.places[place.unwrap_or(PLACES - 1)] += 1;
        match place {
            Some(place) => self.recent[..=place].rotate_right(1),
            None => {
                self.recent.truncate(PLACES - 2);
                self.recent.insert(0, (start, length));
            }
        }
        self.known = known;
    }

    fn finish(mut self) -> Characteristics {
        if let Some((start, length)) = self.open.take() {
            self.end(start, length, false);
        }
        let unique_streams = self.seen.len() as u64;
        Characteristics {
            unique_streams,
            streams_for_90_percent: for_90_percent(self.seen.into_values().collect()),
            most_frequent_place: self.places.into_iter().max().unwrap_or(0),
            places_for_90_percent: for_90_percent(self.places.to_vec()),
            not_recent: self.places[PLACES - 1],
            ..self.counts
        }
    }
}

/// How many of the largest counts make up 90 % of all.
fn for_90_percent(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = counts.iter().sum();
    let mut covered = 0;
    let needed = counts.iter().take_while(|count| {
        let enough = 10 * u128::from(covered) >= 9 * u128::from(all);
        covered += **count;
        !enough
    });
    needed.count() as u64
}

impl Comparison {
    /// Prints what the programs of a suite are like.
    pub(super) fn print_characteristics(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(suite) = self.suite.as_ref().filter(|_| !self.programs.is_empty()) else {
            return Ok(());
        };
        writeln!(out, "\n{}: the programs", suite.name)?;
        writeln!(
            out,
            "{:15} {:>12} {:>9} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}",
            "program",
            "instructions",
            "of 16 bit",
            "branches",
            "taken",
            "indirect",
            "traps",
            "streams",
            "longest",
            "average",
            "for 90 %"
        )?;
        for one in &self.programs {
            let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
            writeln!(
                out,
                "{:15} {:>12} {:>8.1}% {:>7.2}% {:>8.1}% {:>8.3}% {:>8} {:>8} {:>8} {:>8.1} {:>8}",
                one.program,
                one.instructions,
                share(one.compressed, one.instructions),
                share(one.branches, one.instructions),
                share(one.taken, one.branches),
                share(one.indirect, one.instructions),
                one.traps,
                one.unique_streams,
                one.longest_stream,
                one.average_stream(),
                one.streams_for_90_percent,
            )?;
        }
        if suite.mean {
            // Table 4.1 of the source: means weighted by instructions, of programs with instructions of one size.
            let (name, count) = ("published", "816 million");
            writeln!(
                out,
                "{name:15} {count:>12} {:>9} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8.1} {:>8.1}",
                "-", "-", "-", "-", "-", 1791, 145, 21.6, 77.8
            )?;
        }
        writeln!(
            out,
            "\nof 16 bit, branches, indirect: of all instructions; taken: of all branches. streams: different ones, each up to a \
             taken branch or an indirect jump; for 90 %: the most frequent ones that make up so many of all."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Suite, SuiteProgram, chosen, figures};
    use hartrace_executions::executed::bundled::PROGRAMS;

    /// BASE sends 8 bits for each stream, an address where it is not known, and 8 bits and an address for a trap.
    #[test]
    fn base_sends_as_many_streams() {
        let suite = Suite::corner_cases();
        let schemes = chosen(&["BASE,bDMTF(128,16)".into()], &[]).unwrap();
        let mut trapped = false;
        for program in &suite.programs {
            let workload = SuiteProgram::workload(program, Some(200_000), 1).unwrap();
            let found = Characteristics::of(&workload).unwrap();
            let base = figures::measure(&workload, &schemes[0], None).unwrap().unwrap();
            let xlen = u64::from(base.xlen);
            let bits = 8 * found.streams + xlen * found.unknown_starts + (8 + xlen) * found.traps;
            assert_eq!((found.instructions, bits), (base.instructions, base.bits), "{found:?}");
            assert!(found.taken <= found.branches && found.longest_stream <= LONGEST, "{found:?}");
            assert!(found.streams_for_90_percent <= found.unique_streams, "{found:?}");
            assert!(found.unique_streams <= found.streams, "{found:?}");
            // DMTF has the same list, except that traps are in no list.
            let dmtf = figures::measure(&workload, &schemes[1], None).unwrap().unwrap();
            let streams = dmtf.records.iter().map(|one| one.streams).sum::<u64>();
            assert_eq!(streams, found.streams, "{found:?}");
            let misses = dmtf.records.iter().find(|one| one.kind == "miss").unwrap().streams;
            if found.traps == 0 {
                assert_eq!(misses, found.not_recent, "{found:?}");
            }
            trapped |= found.traps > 0;
        }
        assert!(trapped && suite.programs.len() == PROGRAMS.len());
    }

    /// Ten streams, eight of them equal: those and one more are 90 %.
    #[test]
    fn the_most_frequent_streams() {
        let mut counter = Counter::new(Xlen::Rv64);
        for start in [0x10; 8].into_iter().chain([0x20, 0x30]) {
            counter.end(start, 3, true);
        }
        let found = counter.finish();
        assert_eq!((found.streams, found.unique_streams), (10, 3));
        assert_eq!((found.streams_for_90_percent, found.unknown_starts), (2, 1));
        // Seven find the stream in front, and three are new.
        assert_eq!((found.most_frequent_place, found.places_for_90_percent), (7, 2));
    }

    /// Round and round: of 127 streams each is in the list, at its end; of 128 none is.
    #[test]
    fn the_list_of_the_last_streams() {
        for (streams, not_recent) in [(127, 127), (128, 1280)] {
            let mut counter = Counter::new(Xlen::Rv64);
            (0..10 * streams).for_each(|number| counter.end(number % streams, 3, true));
            let found = counter.finish();
            assert_eq!(found.not_recent, not_recent);
            let at_the_end = if streams == 127 { 9 * streams } else { not_recent };
            assert_eq!(found.most_frequent_place, at_the_end);
        }
    }
}
