//! Framings in which all bytes of a capture can be read, the most plausible first.

use hartrace_bits::BitReader;
use hartrace_encap::{
    AtbParams, EncapParams, Frame, FrameError, Framing, Item, Kind, MAX_FRAME, Null, SmiParams,
};
use std::collections::{BTreeMap, BTreeSet};

/// Readings of a capture that are decoded.
const READINGS: usize = 10;

/// Points of a reading that makes sense even if it is not decoded.
const PLAUSIBLE: i64 = 950;

/// Packets of a capture without a start that makes sense even if it is not decoded.
const CUT_PACKETS: u64 = 64;

/// Bytes with which starts and framings of such a capture are compared.
const CUT_BYTES: usize = 1 << 12;

/// A frame or damage, and where it is.
pub(super) type Piece<'a> = (u64, Result<Frame<'a>, FrameError>);

/// A capture, read in one framing.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// The framing.
    pub framing: Framing,
    /// Other framings in which the capture has the same payloads.
    pub alike: Vec<Framing>,
    /// The source with the most packets, if frames have one.
    pub source: Option<u16>,
    /// Packets by source.
    pub sources: BTreeMap<Option<u16>, u64>,
    /// Packets without content, and bytes of padding.
    pub nulls: u64,
    /// Bytes that are no frame of this framing.
    pub errors: u64,
    /// Whether the last frame is cut off.
    pub cut: bool,
    /// Bytes before the first packet with which a trace may start. Not 0 if the capture starts in the middle of a trace, as a part
    /// of a ring buffer does.
    pub skipped: u64,
    /// The frames of the source.
    pub(super) pieces: Vec<Piece<'a>>,
    /// Different payloads of format 0 if the bit after their format is the same in all of them; otherwise 0.
    pub(super) constant: u64,
    plausible: i64,
}

impl Reading<'_> {
    /// Number of packets of the source.
    pub fn packets(&self) -> u64 {
        self.sources.get(&self.source).copied().unwrap_or(0)
    }

    /// Whether packets look as those of a trace do, and the first one is a support packet.
    pub fn is_plausible(&self) -> bool {
        match self.skipped {
            0 => self.packets() > 1 && self.plausible >= PLAUSIBLE,
            // So many starts and framings are tried that some of them suit a few bytes of anything.
            _ => self.packets() >= CUT_PACKETS && self.plausible >= PLAUSIBLE,
        }
    }

    /// Bytes of the payloads that lead through the program.
    pub(super) fn leading_bytes(&self) -> u64 {
        self.payloads().fold(0, |sum, payload| sum.saturating_add(leading(&payload)))
    }

    pub(super) fn payloads(&self) -> impl Iterator<Item = BitReader<'_>> {
        self.pieces.iter().filter_map(|(_, piece)| piece.ok()).map(|frame| frame.payload())
    }
}

/// Length of a payload in bytes, rounded up.
pub(super) fn bytes(payload: &BitReader<'_>) -> u64 {
    payload.remaining().div_ceil(8)
}

/// Length of a payload that leads through the program: of format 0, 1 or 2. It is 0 for others.
pub(super) fn leading(payload: &BitReader<'_>) -> u64 {
    if format(payload).0 == 3 { 0 } else { bytes(payload) }
}

/// Format and, in format 3, subformat of a payload.
pub(super) fn format(payload: &BitReader<'_>) -> (u8, u8) {
    let low = payload.clone().read(4).unwrap_or(0) as u8;
    (low & 3, if low & 3 == 3 { low >> 2 } else { 0 })
}

/// Reads a capture in all framings. `whole` if `bytes` are all of it.
pub(super) fn readings(bytes: &[u8], whole: bool) -> Vec<Reading<'_>> {
    let mut found: Vec<Reading<'_>> = Vec::new();
    for framing in framings(bytes) {
        let Some(reading) = read(framing, bytes, whole) else { continue };
        add(&mut found, reading);
    }
    if !found.iter().any(Reading::is_plausible) {
        cut(bytes, whole).into_iter().for_each(|reading| add(&mut found, reading));
    }
    found
}

/// Adds a reading, unless it is one that is known; only the most plausible stay.
fn add<'a>(found: &mut Vec<Reading<'a>>, reading: Reading<'a>) {
    // The first of several alike is the most specific one.
    match found.iter_mut().find(|other| same(other, &reading)) {
        Some(other) => {
            let framing = reading.framing;
            if other.framing != framing && !other.alike.contains(&framing) {
                other.alike.push(framing);
            }
        }
        None => {
            // Others are dropped at once: every reading is as large as the capture.
            found.push(reading);
            found.sort_by_key(|reading| std::cmp::Reverse(reading.plausible));
            found.truncate(READINGS);
        }
    }
}

/// Readings of a capture that starts anywhere in a frame. A trace can be followed only from a synchronisation on, so what is before
/// the first one is left out.
fn cut(bytes: &[u8], whole: bool) -> Vec<Reading<'_>> {
    let start = bytes.get(..CUT_BYTES).unwrap_or(bytes);
    let mut found: Vec<(i64, usize, Framing)> = Vec::new();
    for skip in 0..MAX_FRAME.min(start.len()) {
        let rest = start.get(skip..).unwrap_or_default();
        for framing in framings(rest) {
            if let Some(reading) = read_from(framing, rest, false, false) {
                found.push((reading.plausible, skip, framing));
            }
        }
    }
    // From the wrong start, the right framing soon finds the right frames, but the first ones look odd. Headers that could not have
    // any value show more.
    let is_free = |framing: &Framing| matches!(framing, Framing::Encap(_) | Framing::Atb(_));
    found.sort_by_key(|(plausible, skip, framing)| {
        (std::cmp::Reverse(*plausible), is_free(framing), *skip)
    });
    let best = found.first().map_or(0, |(plausible, ..)| *plausible);
    found.retain(|(plausible, ..)| *plausible >= best.saturating_sub(50));
    found.truncate(READINGS.saturating_mul(4));
    // Frames start where reading from most other bytes leads to.
    let mut agreed: Vec<(Framing, BTreeSet<u64>)> = Vec::new();
    for (_, _, framing) in &found {
        if !agreed.iter().any(|(known, _)| known == framing) {
            agreed.push((*framing, agreement(*framing, start)));
        }
    }
    let read = |(_, skip, framing): (i64, usize, Framing)| {
        let (_, agreed) = agreed.iter().find(|(known, _)| *known == framing)?;
        let rest = bytes.get(skip..).unwrap_or_default();
        let mut reading = read_from(framing, rest, whole, false)?;
        let is_start = |(at, piece): &Piece<'_>| {
            let at = at.saturating_add(skip as u64);
            // Records of rv_tracer are as long as they are, wherever reading starts.
            let certain = agreed.is_empty() || at >= start.len() as u64 || agreed.contains(&at);
            certain && piece.as_ref().is_ok_and(starts)
        };
        let first = reading.pieces.iter().position(is_start)?;
        reading.pieces.drain(..first);
        // Widths of what no frame has are those of another framing.
        let mut frames = reading.pieces.iter().filter_map(|(_, piece)| piece.ok());
        if has_stamp(framing) && !frames.any(|frame| frame.header().timestamp.is_some()) {
            return None;
        }
        reading.pieces.iter_mut().for_each(|(at, _)| *at = at.saturating_add(skip as u64));
        reading.skipped = reading.pieces.first().map_or(0, |(at, _)| *at);
        Some(reading)
    };
    found.into_iter().filter_map(read).collect()
}

/// Where frames start, whichever of most bytes is the first that is read.
fn agreement(framing: Framing, bytes: &[u8]) -> BTreeSet<u64> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    let skips = MAX_FRAME.min(bytes.len());
    for skip in 0..skips {
        let rest = bytes.get(skip..).unwrap_or_default();
        for (at, _) in framing.frames(rest).filter_map(Result::ok) {
            let count = votes.entry(at.saturating_add(skip as u64)).or_default();
            *count = count.saturating_add(1);
        }
    }
    votes
        .into_iter()
        .filter(|(_, count)| count.saturating_mul(2) > skips)
        .map(|(at, _)| at)
        .collect()
}

/// Whether frames of a framing may have a timestamp, whose width it determines.
fn has_stamp(framing: Framing) -> bool {
    match framing {
        Framing::Encap(params) => params.timestamp_bytes() > 0,
        Framing::Atb(params) => params.timestamp_bytes() > 0,
        _ => false,
    }
}

fn same(a: &Reading<'_>, b: &Reading<'_>) -> bool {
    a.pieces.len() == b.pieces.len()
        && a.errors == b.errors
        && a.pieces.iter().zip(&b.pieces).all(|((at, a), (other, b))| {
            at == other
                && match (a, b) {
                    (Ok(a), Ok(b)) => same_bits(a.payload(), b.payload()),
                    (Err(a), Err(b)) => a == b,
                    _ => false,
                }
        })
}

fn same_bits(mut a: BitReader<'_>, mut b: BitReader<'_>) -> bool {
    let mut same = a.remaining() == b.remaining() && a.tail() == b.tail();
    while same && a.remaining() > 0 {
        same = a.read(64) == b.read(64);
    }
    same
}

/// All framings that the first bytes allow, the most specific first.
fn framings(bytes: &[u8]) -> Vec<Framing> {
    let mut list = vec![Framing::RvTracer, Framing::Reference, Framing::Esp32];
    list.extend(
        [0, 8, 16].into_iter().filter_map(|bits| SmiParams::new(bits).ok()).map(Framing::Smi),
    );
    let stamped = [0, 1, 2].map(|src_bytes| is_stamped(src_bytes, bytes));
    // If every frame has a timestamp, its length and that of srcID are one number: the usual ones first.
    for stamp in STAMPS {
        for (src_bytes, stamped) in (0..).zip(stamped) {
            for odd in (0..=15).filter(|_| stamped || stamp == 0) {
                list.extend(encap(src_bytes, stamp, odd, bytes).map(Framing::Encap));
            }
        }
    }
    // The ATID is not in the stream.
    let atb = STAMPS.into_iter().filter(|stamp| stamped[0] || *stamp == 0);
    list.extend(atb.filter_map(|stamp| AtbParams::new(1, stamp).ok()).map(Framing::Atb));
    list
}

/// Lengths of timestamps, the usual ones first.
const STAMPS: [u8; 9] = [0, 8, 4, 2, 6, 1, 3, 5, 7];

/// Whether a frame announces a timestamp. If not, the length of timestamps does not matter.
fn is_stamped(src_bytes: u8, bytes: &[u8]) -> bool {
    let Ok(params) = EncapParams::new(src_bytes.saturating_mul(8), 0, 0) else { return false };
    Framing::Encap(params).frames(bytes).any(|item| match item {
        Ok((at, Item::Frame(_))) => {
            usize::try_from(at).ok().and_then(|at| bytes.get(at)).is_some_and(|head| head >> 7 != 0)
        }
        _ => false,
    })
}

/// Encapsulation with `odd` bits of srcID and type in front of the payload. Nothing in the stream shows
/// where the one ends and the other starts.
fn encap(src_bytes: u8, stamp: u8, odd: u8, bytes: &[u8]) -> Option<EncapParams> {
    // The examples of the E-Trace text have a byte of srcID and type, in which the type has two bits, and the
    // code 2.
    let typed = (odd == 8).then(|| {
        let src_bits = src_bytes.saturating_mul(8).saturating_add(odd.saturating_sub(2));
        EncapParams::new(src_bits, stamp, 2).ok()?.with_instruction_type(2).ok()
    });
    if let Some(Some(params)) = typed
        && let Ok(first) = first(Framing::Encap(params), bytes)
        && first.header().kind == Kind::Instruction
    {
        return Some(params);
    }
    let src_bits = src_bytes.saturating_mul(8).saturating_add(odd.min(7));
    EncapParams::new(src_bits, stamp, odd.saturating_sub(7)).ok()
}

/// The first frame.
fn first(framing: Framing, bytes: &[u8]) -> Result<Frame<'_>, ()> {
    let mut items = framing.frames(bytes);
    loop {
        match items.next() {
            Some(Ok((_, Item::Frame(frame)))) => return Ok(frame),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(()),
        }
    }
}

/// Reads a capture in one framing; `None` if it makes no sense.
fn read(framing: Framing, bytes: &[u8], whole: bool) -> Option<Reading<'_>> {
    // The first frame rejects most framings.
    if !starts(&first(framing, bytes).ok()?) {
        return None;
    }
    read_from(framing, bytes, whole, true)
}

/// The same for bytes that start with a frame, whatever it is; `started` if that of each source is to start a trace.
fn read_from(framing: Framing, bytes: &[u8], whole: bool, started: bool) -> Option<Reading<'_>> {
    let mut reading = Reading {
        framing,
        alike: Vec::new(),
        source: None,
        sources: BTreeMap::new(),
        nulls: 0,
        errors: 0,
        cut: false,
        skipped: 0,
        pieces: Vec::new(),
        constant: 0,
        plausible: 0,
    };
    let mut pieces: Vec<(u64, Result<Frame<'_>, FrameError>, Option<u16>)> = Vec::new();
    let (mut frames, mut indices, mut index) = (0u64, 0u64, None);
    for item in framing.frames(bytes) {
        match item {
            Ok((at, Item::Frame(frame))) => {
                let header = frame.header();
                frames = frames.saturating_add(1);
                if let Some(next) = header.index {
                    let follows = index.is_none_or(|index: u16| index.wrapping_add(1) == next);
                    indices = indices.saturating_add(follows.into());
                    index = Some(next);
                }
                if header.kind == Kind::Instruction {
                    let count = reading.sources.entry(header.source).or_default();
                    *count = count.saturating_add(1);
                    pieces.push((at, Ok(frame), header.source));
                } else if !matches!(header.kind, Kind::Data) {
                    reading.errors = reading.errors.saturating_add(1);
                }
            }
            Ok((_, Item::Null(Null::Padding | Null::Idle | Null::Alignment))) => {
                reading.nulls = reading.nulls.saturating_add(1);
            }
            Err((_, FrameError::Incomplete { .. })) => reading.cut = true,
            Err((at, error)) => {
                reading.errors = reading.errors.saturating_add(1);
                pieces.push((at, Err(error), None));
            }
        }
        // One damaged frame in eight is too much for this to be the framing.
        if reading.errors > 8 && reading.errors > frames >> 3 {
            return None;
        }
    }
    // The trace of every source starts with a support packet or a synchronisation.
    let mut seen = BTreeSet::new();
    for (_, piece, source) in pieces.iter().filter(|_| started) {
        if let Ok(frame) = piece
            && seen.insert(*source)
            && !starts(frame)
        {
            return None;
        }
    }
    let most = reading.sources.iter().max_by_key(|(_, count)| **count);
    let source = most.and_then(|(source, _)| *source);
    pieces.retain(|(_, piece, other)| piece.is_err() || *other == source);
    reading.pieces = pieces.into_iter().map(|(at, piece, _)| (at, piece)).collect();
    reading.source = source;
    reading.constant = constant(&reading);
    reading.plausible = plausible(&reading, frames, indices, whole, started);
    (reading.plausible > 0).then_some(reading)
}

/// How many different payloads of format 0 there are, if the bit after the format is the same in all of them.
fn constant(reading: &Reading<'_>) -> u64 {
    let payloads = reading.payloads().filter(|payload| format(payload).0 == 0);
    let words: BTreeSet<u64> = payloads.map(|mut payload| payload.read(36).unwrap_or(0)).collect();
    let first = words.first().map_or(0, |word| word & 4);
    let is_same = words.iter().all(|word| word & 4 == first);
    if is_same { words.len() as u64 } else { 0 }
}

/// Whether a trace may start with this.
fn starts(frame: &Frame<'_>) -> bool {
    matches!(format(&frame.payload()), (3, 0 | 1 | 3))
}

/// How much a reading looks like a trace, without any parameter: out of 1000, and a little more.
fn plausible(reading: &Reading<'_>, frames: u64, indices: u64, whole: bool, started: bool) -> i64 {
    let (mut all, mut bad) = (0i64, 0i64);
    // Without a start, modes may have been announced before.
    let mut extensions = !started;
    for payload in reading.payloads() {
        let length = bytes(&payload);
        let (format, subformat) = format(&payload);
        let wrong = match (format, subformat) {
            // Modes that allow format 0 are announced. The lowest bits of ioptions differ from unit to
            // unit, but all of them are in the first two bytes.
            (3, 3) => {
                extensions |= payload.clone().read(20).unwrap_or(0) >> 8 != 0;
                length > 3
            }
            (0, _) => !extensions,
            // The longest: 64 bits of address, three flags, irdepth.
            (2, _) => length > 13,
            (1, _) => length > 17,
            _ => false,
        };
        all = all.saturating_add(1);
        bad = bad.saturating_add(wrong.into());
    }
    bad = bad.saturating_add(reading.errors as i64);
    let mut points =
        1000i64.saturating_sub(bad.saturating_mul(4000).checked_div(all).unwrap_or(4000));
    // Frames that are numbered one by one.
    if reading.framing == Framing::Esp32 && indices < frames {
        return 0;
    }
    if reading.cut && whole {
        points = points.saturating_sub(50);
    }
    // A trace starts with a support packet.
    if reading.payloads().next().is_some_and(|payload| format(&payload) == (3, 3)) {
        points = points.saturating_add(50);
    }
    // Few of many possible sources.
    let many = (reading.sources.len() as i64).saturating_sub(1).saturating_mul(5);
    points.saturating_sub(many)
}
