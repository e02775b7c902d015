//! Text of parts, made by the threads that decode them, although the parts before are not known yet.

use super::writer::Writer;
use super::{InOrder, OrderedPart};
use crate::part::Item;
use hartrace_decoder::stream::Before;
use hartrace_decoder::{Event, Moment, StreamPos};
use std::collections::BTreeMap;

/// Bytes of text after which the rest of a part is left to the thread that joins: a few bytes of trace may
/// stand for a lot of text, of which several parts wait.
const MOST: usize = 1 << 22;

/// What a report depends on where it starts.
#[derive(Clone, Debug)]
pub(super) struct Start<S> {
    pub(super) form: S,
    pub(super) headings: bool,
    pub(super) source: Option<Option<u16>>,
    pub(super) moments: BTreeMap<Option<u16>, Moment>,
}

/// What it depends on after text of one source.
#[derive(Debug)]
pub(super) struct State<S> {
    pub(super) form: S,
    /// The source of what was reported last.
    pub(super) source: Option<Option<u16>>,
    /// Where the source of the text is.
    pub(super) moment: Option<Moment>,
}

/// How much is known of what came before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing.
    Nothing,
    /// Source and moment.
    Moment,
    /// Whatever text depends on, but the moments of other sources only if they had any since.
    Enough,
    /// Everything.
    All,
}

/// Makes text of parts, one after the other.
pub(super) struct Ahead<F: InOrder> {
    writer: Writer<F>,
    start: Start<F::State>,
    known: Known,
    /// Text that depends on what is not known.
    unused: Vec<u8>,
    /// See [`MOST`].
    most: usize,
}

impl<F: InOrder> Ahead<F> {
    pub(super) fn new(form: F, start: Start<F::State>) -> Self {
        let mut writer = Writer::new(form);
        writer.headings = start.headings;
        Self { writer, start, known: Known::Nothing, unused: Vec::new(), most: MOST }
    }

    /// Makes text of a part, from where nothing depends on what is not known.
    pub(super) fn prepare(
        &mut self,
        before: Before,
        source: Option<u16>,
        part: &mut OrderedPart<F::State>,
    ) {
        match before {
            Before::Nothing => self.begin(),
            Before::Last => {}
            Before::Other => self.known = Known::Nothing,
        }
        let of = &self.writer;
        let turns = of.source != Some(source) && !of.moments.contains_key(&source);
        if turns && self.known != Known::All {
            self.known = Known::Nothing;
        }
        let (mut head, mut end) = (End::default(), End::default());
        for (at, item) in part.head.iter() {
            if !matches!(self.known, Known::Enough | Known::All) {
                self.learn(source, at, item);
                end.add(item);
                head = end;
            } else if part.text.len() < self.most {
                self.writer.take(&mut part.text, source, at, item);
                end.add(item);
            } else {
                break;
            }
        }
        if head.items < end.items {
            part.after = self.writer.state(source);
        }
        if end.items < part.head.len() {
            // What the rest leads to is not known here.
            part.tail = part.head.split_off(end.items, end.addresses);
            self.known = Known::Nothing;
        }
        part.head.truncate(head.items, head.addresses);
    }

    /// Starts where the report does.
    fn begin(&mut self) {
        let Start { form, source, moments, .. } = self.start.clone();
        self.writer.form.resume(form);
        (self.writer.source, self.writer.moments) = (source, moments);
        self.known = Known::All;
    }

    /// Looks for what text depends on in an item that the thread that joins makes text of.
    fn learn(&mut self, source: Option<u16>, at: StreamPos, item: Item<'_>) {
        if self.known == Known::Nothing {
            // From the first context on, the moment is known.
            let Item::Event(Event::Context { .. }) = item else { return };
            self.writer.moments.clear();
            self.writer.source = Some(source);
            self.writer.form.turn(&mut self.unused, source);
            self.writer.form.forget();
            self.known = Known::Moment;
        }
        self.writer.take(&mut self.unused, source, at, item);
        self.unused.clear();
        if self.writer.form.state().is_some() {
            self.known = Known::Enough;
        }
    }
}

/// Where something ends in a part.
#[derive(Copy, Clone, Debug, Default)]
struct End {
    items: usize,
    /// Addresses before it.
    addresses: usize,
}

impl End {
    fn add(&mut self, item: Item<'_>) {
        self.items = self.items.saturating_add(1);
        if let Item::Retired(run) = item {
            self.addresses = self.addresses.saturating_add(run.addresses.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Collect;
    use crate::lists::{Blocks, Json, Listing, Ordered};
    use crate::report::Report;
    use hartrace_capture::programs::Programs;
    use hartrace_decoder::{Fault, Leaves, Run, Time};
    use hartrace_etrace::QualStatus;
    use hartrace_executions::executed::bundled::PROGRAMS;
    use hartrace_isa::Xlen;
    use hartrace_tests::case::Dice;

    /// Something of a source, at random. Runs often continue each other, and contexts are often repeated.
    fn add(part: &mut impl Collect, at: StreamPos, dice: &mut Dice, pc: &mut u64) {
        const OFFSETS: [u16; 6] = [0, 4, 8, 12, 16, 20];
        let event = match dice.range(0, 19) {
            0..14 => {
                if dice.one_in(3) {
                    *pc = 0x8000_0000 + 4 * dice.range(0, 40);
                }
                let insns = dice.range(1, 6) as usize;
                let end = *pc + 4 * insns as u64;
                let leaves = [Leaves::No, Leaves::Branch, Leaves::Jump][dice.range(0, 2) as usize];
                let run = Run::new(*pc, &OFFSETS[..insns], end, leaves).expect("it is not empty");
                part.run(at, run);
                *pc = end;
                return;
            }
            14 => Event::Time(Time::Cycles(Some(dice.range(0, 9)))),
            15 => Event::Off(QualStatus::EndedRep),
            16 => Event::Gap(Fault::NoCode(*pc)),
            _ => {
                let (privilege, context) = (dice.range(0, 1) as u8, dice.range(0, 2));
                Event::Context { privilege, context, time: at.packet }
            }
        };
        match dice.one_in(8) {
            true => part.aside(at, event),
            false => part.event(at, event),
        }
    }

    /// Joins the same items whole, and with text that several threads have made ahead. Returns the text, and how much of
    /// it was made ahead.
    fn check<F: InOrder>(make: impl Fn() -> F, seed: u64) -> (usize, usize) {
        let (mut dice, headings) = (Dice::new(seed), seed.is_multiple_of(2));
        let (mut plain, mut expected) = (Ordered::new(make()).headings(headings), Vec::new());
        let (mut report, mut out) = (Ordered::new(make()).headings(headings), Vec::new());
        // Something may have been reported already, as of another capture.
        if dice.one_in(2) {
            for (report, out) in [(&mut plain, &mut expected), (&mut report, &mut out)] {
                let (mut part, mut dice, mut pc) = (OrderedPart::default(), Dice::new(seed), 0);
                (0..5).for_each(|_| add(&mut part, StreamPos::default(), &mut dice, &mut pc));
                report.join(Some(1), part, out).expect("memory");
            }
        }
        let (form, start) = (report.writer.form.maker(), report.writer.start().expect("known"));
        let most = [30, 1000, MOST][dice.range(0, 2) as usize];
        let mut threads: Vec<_> =
            (0..3).map(|_| Ahead { most, ..Ahead::new(form(), start.clone()) }).collect();
        let (sources, mut last, mut ahead) = (dice.range(1, 3), None, 0);
        let mut pcs = [0x8000_0000; 3];
        for number in 0..dice.range(1, 40) {
            let source = dice.range(0, sources - 1);
            let (mut one, mut other) = (OrderedPart::default(), OrderedPart::default());
            for packet in 0..dice.range(0, 25) {
                let at = StreamPos { packet: number * 100 + packet, byte: number * 1000 + packet };
                let before = dice.clone();
                let mut pc = pcs[source as usize];
                add(&mut one, at, &mut dice, &mut pc);
                add(&mut other, at, &mut before.clone(), &mut pcs[source as usize]);
            }
            let source = Some(source as u16).filter(|_| sources > 1);
            plain.join(source, one, &mut expected).expect("memory");
            let thread = dice.range(0, 2) as usize;
            let before = match last.replace(thread) {
                None => Before::Nothing,
                Some(last) if last == thread => Before::Last,
                _ => Before::Other,
            };
            if !dice.one_in(10) {
                threads[thread].prepare(before, source, &mut other);
                ahead += other.text.len();
            } else {
                last = Some(usize::MAX);
            }
            report.join(source, other, &mut out).expect("memory");
        }
        plain.finish(&mut expected).expect("memory");
        report.finish(&mut out).expect("memory");
        let [out, expected] = [out, expected].map(|text| String::from_utf8(text).expect("text"));
        assert_eq!(out, expected, "seed {seed}");
        (expected.len(), ahead)
    }

    #[test]
    fn text_made_ahead_is_the_same() {
        let mut programs = Programs::new(Xlen::Rv64);
        let elf = |name| PROGRAMS.iter().find(|(other, _)| *other == name).expect("bundled").1;
        programs.add_elf(elf("calls").to_vec(), 0).expect("an ELF file");
        programs.add_context_elf(1, elf("sort").to_vec(), 0).expect("an ELF file");
        let (mut all, mut ahead) = ([0; 4], [0; 4]);
        for seed in 0..400 {
            let found = [
                check(|| Json::new(Xlen::Rv64), seed),
                check(|| Blocks::new(&programs, Xlen::Rv64, false), seed),
                check(|| Blocks::new(&programs, Xlen::Rv64, true), seed),
                check(|| Listing::new(&programs, Xlen::Rv64), seed),
            ];
            for (form, (text, by_threads)) in found.into_iter().enumerate() {
                all[form] += text;
                ahead[form] += by_threads;
            }
        }
        // With long texts, few parts and one thread it would be nearly all.
        for (all, ahead) in all.into_iter().zip(ahead) {
            assert!(all > 100_000 && ahead > all / 10 && ahead < all, "{ahead} of {all} bytes");
        }
    }
}
