//! Skips what two captures have in common, byte for byte.

use super::tape::{KEPT, Start, Tape, lock};
use hartrace_decoder::StreamPos;
use hartrace_decoder::stream::Cut;
use std::io::Read;
use std::sync::Mutex;

/// Bytes to look ahead for a stretch to skip.
const AHEAD: u64 = 1 << 22;

/// From places in two captures on, goes to the last places where decoding may start and up to which both captures are the
/// same; they are at least `context` bytes before the first difference. Without any, that is where it started.
/// `progress` is told the number of bytes so far.
pub(super) fn skip<I: Read>(
    [a, b]: [&mut Tape<'_, I>; 2],
    from: [Start; 2],
    context: u64,
    progress: &mut dyn FnMut(u64),
) -> [Start; 2] {
    let mut place = from;
    let mut common = Common::new(from.map(|start| start.at.byte));
    loop {
        let (grows, [end, _]) = (common.extend(a, b), common.ends());
        progress(end);
        let last =
            common.places(a, b).rev().find(|[cut, _]| cut.byte <= end.saturating_sub(context));
        if let Some(cuts) = last.filter(|[cut, _]| cut.byte > place[0].at.byte) {
            place = cuts.map(Start::from);
        }
        for (tape, start) in [&mut *a, b].into_iter().zip(place) {
            (tape.decoded, tape.needed) = (start.at.byte, u64::MAX);
            tape.forget(start.at.byte);
        }
        if !grows || end.saturating_sub(place[0].at.byte) > context.saturating_add(KEPT as u64) {
            return place;
        }
    }
}

/// A stretch in which two captures are the same.
struct Common {
    from: [u64; 2],
    len: u64,
}

impl Common {
    fn new(from: [u64; 2]) -> Self {
        Self { from, len: 0 }
    }

    /// Where it ends in both.
    fn ends(&self) -> [u64; 2] {
        self.from.map(|from| from.saturating_add(self.len))
    }

    /// Extends it by what can be read; returns whether there may be more.
    fn extend<I: Read>(&mut self, a: &mut Tape<'_, I>, b: &mut Tape<'_, I>) -> bool {
        let [at_a, at_b] = self.ends();
        let ready = |tape: &mut Tape<'_, I>, at: u64| tape.end() > at || tape.more();
        // Of both, so that neither is ahead of the other by much.
        if !(ready(a, at_a) & ready(b, at_b)) {
            return false;
        }
        let (a, b) = (a.from(at_a), b.from(at_b));
        let most = a.len().min(b.len());
        let (a, b) = (a.get(..most).unwrap_or_default(), b.get(..most).unwrap_or_default());
        let same = match a == b {
            true => most,
            false => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
        };
        self.len = self.len.saturating_add(same as u64);
        same == most && most > 0
    }

    /// The places in it where the decoding of both may start, in order.
    fn places<'t, I: Read>(
        &self,
        a: &'t Tape<'_, I>,
        b: &'t Tape<'_, I>,
    ) -> impl DoubleEndedIterator<Item = [Cut; 2]> + use<'t, I> {
        let ([from_a, from_b], [end, _]) = (self.from, self.ends());
        let cuts = a.cuts().iter().filter(move |cut| (from_a..=end).contains(&cut.byte));
        cuts.filter_map(move |cut| {
            let other = b.cut_at(cut.byte.wrapping_sub(from_a).wrapping_add(from_b))?;
            (cut.sync.options == other.sync.options).then_some([*cut, other])
        })
    }
}

/// Looks for the next stretch to skip, while two captures are decoded.
pub(super) struct Ahead<'t, 'a, I> {
    tapes: [&'t Mutex<Tape<'a, I>>; 2],
    /// Bytes that are worth skipping.
    least: u64,
    target: Option<Target>,
    /// Offset in the first capture from which on to look for a target.
    next: u64,
    /// Offsets from which on to forget what was compared.
    forget: [u64; 2],
}

/// Where both captures may be the same for a while.
#[derive(Copy, Clone, Debug)]
struct Target {
    /// Synchronisations from which on they are.
    sync: [u64; 2],
    /// Others, up to which they are.
    place: [Start; 2],
}

impl<'t, 'a, I: Read> Ahead<'t, 'a, I> {
    /// Looks for stretches of `least` bytes or more; for none if that is `None`.
    pub(super) fn new(tapes: [&'t Mutex<Tape<'a, I>>; 2], least: Option<u64>) -> Self {
        let next = if least.is_some() { 0 } else { u64::MAX };
        let least = least.unwrap_or_default().max(1);
        Self { tapes, least, target: None, next, forget: [AHEAD; 2] }
    }

    /// What has been compared is no longer needed.
    pub(super) fn forget(&mut self, at: [StreamPos; 2]) {
        for ((tape, at), next) in self.tapes.iter().zip(at).zip(&mut self.forget) {
            if at.byte >= *next {
                *next = at.byte.saturating_add(AHEAD);
                lock(tape).forget(at.byte);
            }
        }
    }

    /// Both traces differ here.
    pub(super) fn differs(&mut self) {
        self.target = None;
    }

    /// Both traces are the same here, and have been since they last differed; `alike` says whether they have the same piece, or
    /// one of them only a part of the other's. Returns where to go on, if they are the same up to there.
    pub(super) fn passes(&mut self, at: [StreamPos; 2], alike: bool) -> Option<[Start; 2]> {
        if let Some(Target { sync: [a, b], place }) = self.target {
            match (at[0].byte > a, at[1].byte > b) {
                (false, false) => return None,
                // Both pass the synchronisation at once: what follows it follows the same instruction.
                (true, true) if alike && self.keep(place) => return Some(place),
                _ => self.target = None,
            }
        }
        if at[0].byte >= self.next {
            self.target = self.look(at);
        }
        None
    }

    /// Keeps what follows these places, however far decoding is ahead; returns whether it was kept until now.
    fn keep(&self, [at_a, at_b]: [Start; 2]) -> bool {
        let [a, b] = self.tapes;
        let (a, b) = (&mut *lock(a), &mut *lock(b));
        let kept = a.keeps(at_a.at.byte) && b.keeps(at_b.at.byte);
        if kept {
            (a.needed, b.needed) = (at_a.at.byte, at_b.at.byte);
        }
        kept
    }

    /// Looks for the next target.
    fn look(&mut self, at: [StreamPos; 2]) -> Option<Target> {
        let [a, b] = self.tapes;
        let (a, b) = (&mut *lock(a), &mut *lock(b));
        let Some(sync) = first(a, at[0].byte) else {
            self.next = at[0].byte.saturating_add(AHEAD);
            return None;
        };
        self.next = sync.byte.saturating_add(1);
        let other = first(b, at[1].byte)?;
        if sync.sync.options != other.sync.options {
            return None;
        }
        let mut common = Common::new([sync.byte, other.byte]);
        let least = sync.byte.saturating_add(self.least);
        loop {
            let grows = common.extend(a, b);
            if let Some(place) = common.places(a, b).find(|[cut, _]| cut.byte >= least) {
                let sync = [sync.byte, other.byte];
                return Some(Target { sync, place: place.map(Start::from) });
            }
            if !grows || common.len > AHEAD.saturating_add(self.least) {
                return None;
            }
        }
    }
}

/// The first synchronisation from an offset on, if it is near.
fn first<I: Read>(tape: &mut Tape<'_, I>, offset: u64) -> Option<Cut> {
    loop {
        let cuts = tape.cuts();
        if let Some(cut) = cuts.get(cuts.partition_point(|cut| cut.byte < offset)) {
            return Some(*cut);
        }
        if tape.end() > offset.saturating_add(AHEAD) || !tape.more() {
            return None;
        }
    }
}
