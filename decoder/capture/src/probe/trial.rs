//! Decodes a capture with one guess, and says how well that went.

use super::clues::{Clues, Watch};
use super::frames::{Piece, Reading, format, leading};
use super::guess::Guess;
use hartrace_bits::{BitReader, mask};
use hartrace_decoder::{Config, Event, Fault, Image, Run, Sink, StreamPos, Tracer};
use hartrace_etrace::{Ioptions, Layout, Payload};
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::{Ordering, Reverse};

/// Blocks to follow for one payload. A count of predicted branches may stand for more, but then all guesses end
/// there.
const MAX_BLOCKS: u64 = 1 << 20;

/// Instructions that are decoded again and again to vary parameters.
const SAMPLE: u64 = 1 << 18;

/// Instructions of a packet that are kept to say where readings differ.
const KEPT: usize = 1 << 16;

/// `c.jr t1`, which is neither a call nor a return.
const JUMP: [u8; 2] = [0x02, 0x83];

/// How well a capture can be decoded.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Bytes of payloads that lead through the program, and were followed. Synchronisations and traps do
    /// not count: any address in the program suits them.
    pub followed: u64,
    /// Bytes of such payloads that were not followed.
    pub lost: u64,
    /// Number of gaps.
    pub gaps: u64,
    /// Number of instructions.
    pub instructions: u64,
    /// The first gap.
    pub first_gap: Option<(StreamPos, Fault)>,
    /// The trace starts at this address, where the program has no code. It was assumed that code there
    /// leads into the program by a jump.
    pub assumed: Option<u64>,
    /// Synchronisations and traps whose fields are odd: reserved values, or bits after the last field.
    pub odd: u64,
    /// What the program is unlikely to have done.
    pub clues: Clues,
    /// Identifies the instructions and events.
    pub(super) digest: u64,
    /// Packets up to which [`SAMPLE`] instructions were decoded.
    pub(super) sample: usize,
}

impl Score {
    /// The share that was followed, in thousandths.
    pub(super) fn permille(&self) -> u64 {
        let all = self.followed.saturating_add(self.lost);
        self.followed.saturating_mul(1000).checked_div(all).unwrap_or(0)
    }

    /// Whether nothing was lost.
    pub(super) fn is_perfect(&self) -> bool {
        self.lost == 0 && self.gaps == 0 && self.odd == 0
    }

    /// Which one is better; the better one is greater.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let key = |score: &Self| (score.followed, Reverse(score.gaps), Reverse(score.odd));
        key(self).cmp(&key(other))
    }
}

/// What a trial must achieve; it ends as soon as it cannot.
#[derive(Copy, Clone, Debug)]
pub(super) enum Goal<'a> {
    /// Anything.
    Any,
    /// As good as this.
    AsGood(&'a Score),
    /// Better than this.
    Better(&'a Score),
}

impl Goal<'_> {
    /// Whether it can be reached if the `left` bytes are followed without a gap.
    fn is_reachable(self, score: &Score, left: u64) -> bool {
        let most = Score { followed: score.followed.saturating_add(left), ..*score };
        match self {
            Self::Any => true,
            Self::AsGood(other) => most.compare(other).is_ge(),
            Self::Better(other) => most.compare(other).is_gt(),
        }
    }
}

/// What is known of the program, and how much work may be done.
pub(super) struct Bench<'a> {
    pub(super) image: &'a Image,
    pub(super) tvec: &'a [(u8, u64)],
    /// Instructions that may still be decoded, over all trials.
    pub(super) budget: &'a Cell<u64>,
    /// Learns of each trial.
    pub(super) progress: &'a dyn Fn(),
}

impl Bench<'_> {
    /// Decodes a capture; `None` if it cannot reach `goal`, or the budget is exhausted.
    pub(super) fn decode(
        &self,
        reading: &Reading<'_>,
        guess: &Guess,
        goal: Goal<'_>,
    ) -> Option<Score> {
        self.decode_each(reading, guess, goal, &mut |_, _| {})
    }

    /// The same; `packet_done` receives the number of each packet, and the score up to it.
    pub(super) fn decode_each(
        &self,
        reading: &Reading<'_>,
        guess: &Guess,
        goal: Goal<'_>,
        packet_done: &mut dyn FnMut(usize, &Score),
    ) -> Option<Score> {
        self.judge(reading, guess, goal, None, packet_done).map(|(score, _)| score)
    }

    /// Addresses of the first instructions that a packet leads to.
    pub(super) fn addresses(
        &self,
        reading: &Reading<'_>,
        guess: &Guess,
        packet: usize,
    ) -> Vec<u64> {
        let judged = self.judge(reading, guess, Goal::Any, Some(packet as u64), &mut |_, _| {});
        judged.map_or_else(Vec::new, |(_, addresses)| addresses)
    }

    fn judge(
        &self,
        reading: &Reading<'_>,
        guess: &Guess,
        goal: Goal<'_>,
        kept: Option<u64>,
        packet_done: &mut dyn FnMut(usize, &Score),
    ) -> Option<(Score, Vec<u64>)> {
        self.spend(1)?;
        (self.progress)();
        let assumed = self.missing_start(reading, guess);
        let mut image = Cow::Borrowed(self.image);
        if let Some(address) = assumed {
            image.to_mut().add(address, &JUMP);
        }
        let config = Config {
            params: guess.params,
            unit: guess.unit,
            compat: guess.compat,
            tvec: self.tvec.to_vec(),
            max_blocks: MAX_BLOCKS,
            block_cap: 1 << 16,
            path_cap: 0,
            ..Config::default()
        };
        let layout = guess.layout()?;
        let mut tracer = Tracer::new(config, &*image).ok()?;
        tracer.set_options(guess.options);
        let mut judge = Judge::new(&image, kept);
        let mut left = reading.leading_bytes();
        for (packet, piece) in reading.pieces.iter().enumerate() {
            let (gaps, before) = (judge.score.gaps, judge.score.instructions);
            if before < SAMPLE {
                judge.score.sample = packet.saturating_add(1);
            }
            if let (_, Ok(frame)) = piece
                && is_odd(&layout, tracer.options(), frame.payload())
            {
                judge.score.odd = judge.score.odd.saturating_add(1);
            }
            let length = feed(&mut tracer, packet as u64, piece, &mut judge);
            left = left.saturating_sub(length);
            let score = &mut judge.score;
            let followed = !judge.lost && gaps == score.gaps;
            let counted = if followed { &mut score.followed } else { &mut score.lost };
            *counted = counted.saturating_add(length);
            packet_done(packet, &judge.score);
            self.spend(judge.score.instructions.saturating_sub(before).saturating_add(1))?;
            if !goal.is_reachable(&judge.score, left) {
                return None;
            }
        }
        tracer.finish(&mut judge);
        judge.settle();
        packet_done(reading.pieces.len(), &judge.score);
        let mut clues = judge.watch.clues;
        clues.constant = if guess.params.f0s_width_p == 0 { reading.constant } else { 0 };
        Some((Score { assumed, clues, ..judge.score }, judge.addresses))
    }

    fn spend(&self, work: u64) -> Option<()> {
        let left = self.budget.get().checked_sub(work);
        self.budget.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// The address where the trace starts, if the program has no code there.
    fn missing_start(&self, reading: &Reading<'_>, guess: &Guess) -> Option<u64> {
        let start = reading.payloads().find(|payload| matches!(format(payload), (3, 0 | 1)))?;
        let layout = guess.layout()?;
        let mut bits = start;
        let payload = Payload::parse(&layout, guess.options, &mut bits).ok()?;
        let Payload::Start(start) = payload else { return None };
        let address = start.address.wrapping_shl(guess.params.iaddress_lsb_p.into());
        let address = address & mask(guess.params.iaddress_width_p.into());
        (address & 1 == 0 && self.image.insn(address).is_none()).then_some(address)
    }
}

/// Whether the fields of a payload are what no encoder is likely to send.
fn is_odd(layout: &Layout, options: Ioptions, mut payload: BitReader<'_>) -> bool {
    // What a support packet changes is not known yet.
    if !matches!(format(&payload), (0..=2, _) | (3, 0 | 1)) {
        return false;
    }
    let Ok(parsed) = Payload::parse(layout, options, &mut payload) else { return true };
    let odd = match parsed {
        Payload::Start(start) => start.privilege == 2,
        Payload::Trap(trap) => {
            let cause = match trap.interrupt {
                // Standard interrupts have odd numbers.
                true => trap.ecause < 16 && trap.ecause & 1 == 0,
                false => matches!(trap.ecause, 10 | 14 | 17 | 24..),
            };
            cause
                || trap.privilege == 2
                || trap.tval == Some(mask(layout.params().iaddress_width_p.into()))
        }
        _ => false,
    };
    // Only copies of the last bit may follow.
    let left = payload.remaining();
    let rest = payload.read_wide(left.min(128) as u32).unwrap_or(0);
    odd || (rest != 0 && rest != !u128::MAX.checked_shl(left as u32).unwrap_or(0))
}

/// Decodes a payload. Returns its length if it leads through the program.
fn feed(
    tracer: &mut Tracer<'_>,
    packet: u64,
    (byte, piece): &Piece<'_>,
    judge: &mut Judge<'_>,
) -> u64 {
    let at = StreamPos { packet, byte: *byte };
    match piece {
        Ok(frame) => {
            let payload = frame.payload();
            let length = leading(&payload);
            tracer.feed_bits(at, payload, judge);
            length
        }
        Err(error) => {
            tracer.damage(at, Fault::Frame(*error), judge);
            0
        }
    }
}

/// Counts what was followed.
#[derive(Debug)]
struct Judge<'a> {
    score: Score,
    watch: Watch<'a>,
    /// Within a gap.
    lost: bool,
    /// The address after the latest instruction, since when nothing else has happened.
    end: Option<u64>,
    /// The packet whose instructions are kept.
    kept: Option<u64>,
    /// Their addresses.
    addresses: Vec<u64>,
}

impl<'a> Judge<'a> {
    fn new(image: &'a Image, kept: Option<u64>) -> Self {
        let (score, watch) = (Score::default(), Watch::new(image));
        Self { score, watch, lost: false, end: None, kept, addresses: Vec::new() }
    }

    fn note(&mut self, value: u64) {
        let mixed = (self.score.digest ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.score.digest = mixed ^ (mixed >> 29);
    }

    /// Notes where the latest instructions end. How they are divided into runs does not matter.
    fn settle(&mut self) {
        if let Some(end) = self.end.take() {
            self.note(end);
        }
    }
}

impl Sink for Judge<'_> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.score.instructions = self.score.instructions.saturating_add(run.insns().into());
        self.watch.run(&run);
        if self.end != Some(run.start()) {
            self.settle();
            self.note(run.start());
        }
        self.end = Some(run.end());
        if self.kept == Some(at.packet) && self.addresses.len() < KEPT {
            run.addresses(|address| self.addresses.push(address));
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.watch.event(&event);
        if !matches!(event, Event::Time(_) | Event::Restart | Event::On | Event::Trigger) {
            self.settle();
        }
        match event {
            Event::Gap(fault) => {
                self.lost = true;
                self.score.gaps = self.score.gaps.saturating_add(1);
                self.score.first_gap.get_or_insert((at, fault));
                self.note(1);
            }
            Event::On => self.lost = false,
            Event::Off(_) => self.note(3),
            Event::Trap { cause, interrupt, tval, epc } => {
                for value in [5, cause, interrupt.into(), tval.unwrap_or(7), epc.unwrap_or(7)] {
                    self.note(value);
                }
            }
            Event::Time(_) | Event::Restart | Event::Trigger | Event::LeftOut { .. } => {}
            Event::Context { privilege, context, time } => {
                for value in [9, privilege.into(), context, time] {
                    self.note(value);
                }
            }
        }
    }
}
