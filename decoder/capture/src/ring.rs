//! Ring buffers: trace memory that is written from its start again when it is full.
//!
//! A ring that has wrapped starts in the middle of the trace, and most often in the middle of a frame. [`Ring::order`]
//! puts its bytes in order, oldest first. Reading then has to start where framing is certain, as
//! [`Transport::finding_sync`](crate::framing::Transport::finding_sync) does it: after a run of null packets, which the
//! encoder of this project writes on request (`trRamAsyncFreq`).
//!
//! The support packet at the start of a trace says which modes are on. A ring has overwritten it; but every later
//! one says it, too, and modes do not change without one: see [`modes`].

use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Ioptions, Layout, Payload};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Where the oldest byte of a ring buffer is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ring {
    /// At this offset: where the next byte would have been written.
    At(u64),
    /// Behind the support packet that ends the trace, wherever that is.
    Find,
}

/// Why the oldest byte of a ring buffer is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RingError {
    /// The offset is not in the buffer.
    #[error("offset {at} is not in a buffer of {len} bytes")]
    Outside {
        /// The offset.
        at: u64,
        /// Size of the buffer.
        len: u64,
    },
    /// There is nothing at which reading could start.
    #[error("no run of null packets, so nobody knows where a frame starts")]
    NoRun,
    /// No support packet ends the trace.
    #[error("no packet that ends the trace, so the newest byte is not known")]
    NoEnd,
    /// Several support packets may end the trace.
    #[error("the trace may end before any of the bytes {}", list(.0))]
    Ends(Vec<u64>),
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// A text that is neither a number nor `find`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("expected the offset of the oldest byte, such as 4096 or 0x1000, or `find`")]
pub struct NoRing;

impl FromStr for Ring {
    type Err = NoRing;

    fn from_str(text: &str) -> Result<Self, NoRing> {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None if text == "find" => return Ok(Self::Find),
            None => text.parse(),
        };
        number.map(Self::At).map_err(|_| NoRing)
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(offset) => write!(f, "{offset}"),
            Self::Find => f.write_str("find"),
        }
    }
}

impl Ring {
    /// Puts the bytes of a buffer in order, the oldest first, and returns where that was.
    ///
    /// # Errors
    ///
    /// If it is not known which byte is the oldest; the bytes are then as they were.
    pub fn order(self, bytes: &mut [u8], framing: Framing) -> Result<u64, RingError> {
        let len = bytes.len() as u64;
        let oldest = match self {
            // The pointer stays behind the last word until the next one is written.
            Self::At(at) if at == len => 0,
            Self::At(at) => at,
            Self::Find => find(bytes, framing)?,
        };
        match usize::try_from(oldest) {
            Ok(at) if at < bytes.len() || at == 0 => {
                bytes.rotate_left(at);
                Ok(oldest)
            }
            _ => Err(RingError::Outside { at: oldest, len }),
        }
    }
}

/// Returns the modes that the first support packet of a stream states, which were in force before it: one that
/// changes them is preceded by one that ends the trace with the old ones.
pub fn modes(bytes: &[u8], framing: Framing, layout: &Layout) -> Option<Ioptions> {
    let mut frames = framing.frames(bytes);
    frames.resync();
    frames.find_map(|item| {
        let Ok((_, Item::Frame(frame))) = item else { return None };
        match Payload::parse(layout, Ioptions::default(), &mut frame.payload()) {
            Ok(Payload::Support(support)) => Some(support.ioptions),
            _ => None,
        }
    })
}

/// What a payload says about the trace: whether it starts or ends.
fn announces(frame: &hartrace_encap::Frame<'_>) -> Option<bool> {
    // Format 3, subformat 3, then ienable, in every unit.
    let bits = frame.payload().read(5).ok()?;
    (bits & 0xf == 0xf).then_some(bits >> 4 == 1)
}

/// The byte behind the trace: behind a support packet that ends it, and that none follows that starts it again.
fn find(bytes: &mut [u8], framing: Framing) -> Result<u64, RingError> {
    let len = bytes.len() as u64;
    // From a certain start around to the same place; a run may lie across the end of the buffer.
    let first = framing.sync_forward(bytes, 0).filter(|at| *at < bytes.len());
    let start = match first {
        Some(start) => start,
        None => {
            bytes.rotate_left(bytes.len() / 2);
            let start = framing.sync_forward(bytes, 0);
            bytes.rotate_right(bytes.len() / 2);
            let start = start.ok_or(RingError::NoRun)?.wrapping_add(bytes.len() / 2);
            start.checked_rem(bytes.len()).ok_or(RingError::NoRun)?
        }
    };
    bytes.rotate_left(start);
    let ends = ends(bytes, framing);
    bytes.rotate_right(start);
    let place = |end: &u64| end.wrapping_add(start as u64).checked_rem(len).unwrap_or(0);
    match ends.as_slice() {
        [] => Err(RingError::NoEnd),
        [end] => Ok(place(end)),
        _ => Err(RingError::Ends(ends.iter().map(place).collect())),
    }
}

/// Where the trace ends and does not start again, in bytes that start with a frame; or, if there is no such place,
/// where it ends.
fn ends(bytes: &[u8], framing: Framing) -> Vec<u64> {
    let (mut ends, mut restarted) = (Vec::new(), Vec::new());
    let mut frames = framing.frames(bytes);
    let mut end = None;
    loop {
        let item = frames.next();
        let announced = match &item {
            None => None,
            Some(Ok((_, Item::Null(_)))) => continue,
            Some(Ok((_, Item::Frame(frame)))) => announces(frame),
            Some(Err(_)) => None,
        };
        match end.take() {
            Some(end) if announced == Some(true) => restarted.push(end),
            Some(end) => {
                // What follows is older, and starts anywhere in a frame.
                ends.push(end);
                if item.is_some() {
                    frames.resync();
                }
            }
            None if announced == Some(false) => end = Some(frames.offset()),
            None => {}
        }
        if item.is_none() {
            // What looked like a new start may be the middle of an older frame.
            return if ends.is_empty() { restarted } else { ends };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_encap::EncapParams;
    use hartrace_etrace::{Params, Unit};

    const RUN: [u8; 32] = [0; 32];

    fn framing() -> Framing {
        Framing::Encap(EncapParams::new(0, 0, 0).unwrap())
    }

    /// The start of a trace, some packets, runs between them, and the end.
    fn trace(packets: u8) -> Vec<u8> {
        let mut bytes = vec![0x02, 0x1f, 0x04];
        for i in 0..packets {
            bytes.extend([0x03, 0x01, i, 0x1f]);
            if i % 8 == 7 {
                bytes.extend(RUN);
            }
        }
        bytes.extend([0x02, 0x4f, 0x04]);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// A ring of this size after the trace was written, and where the next byte would go.
    fn ring(trace: &[u8], size: usize) -> (Vec<u8>, usize) {
        let mut ring = vec![0xee; size];
        for (i, byte) in trace.iter().enumerate() {
            ring[i % size] = *byte;
        }
        (ring, trace.len() % size)
    }

    #[test]
    fn the_oldest_byte_is_first() {
        let trace = trace(100);
        for size in (96..400).step_by(8) {
            let (mut bytes, at) = ring(&trace, size);
            let whole = bytes.clone();
            assert_eq!(Ring::At(at as u64).order(&mut bytes, framing()), Ok(at as u64));
            assert_eq!(bytes, trace[trace.len() - size..], "{size}");
            // Found without being told; the padding may be on either side.
            let mut bytes = whole;
            let found = Ring::Find.order(&mut bytes, framing()).unwrap() as usize;
            let padding = (at + size - found) % size;
            assert!(padding < 8, "{size}: {found} instead of {at}");
        }
    }

    #[test]
    fn several_traces_in_one_ring() {
        let mut both = trace(20);
        both.extend(trace(60));
        let (mut bytes, at) = ring(&both, 600);
        let found = Ring::Find.order(&mut bytes, framing()).unwrap() as usize;
        assert!((at + 600 - found) % 600 < 8);
    }

    #[test]
    fn what_cannot_be_known() {
        let order = |ring: Ring, mut bytes: Vec<u8>| ring.order(&mut bytes, framing());
        assert_eq!(order(Ring::Find, vec![0x01; 64]), Err(RingError::NoRun));
        assert_eq!(order(Ring::Find, Vec::new()), Err(RingError::NoRun));
        let mut endless = RUN.to_vec();
        endless.extend([0x03, 0x01, 0x02, 0x1f].repeat(20));
        assert_eq!(order(Ring::Find, endless), Err(RingError::NoEnd));
        assert_eq!(order(Ring::At(8), vec![0; 8]), Ok(0));
        let outside = RingError::Outside { at: 9, len: 8 };
        assert_eq!(order(Ring::At(9), vec![0; 8]), Err(outside));
        assert_eq!(order(Ring::At(0), Vec::new()), Ok(0));
    }

    #[test]
    fn modes_of_any_support_packet() {
        let layout = Params::default().layout(Unit::Reference).unwrap();
        let trace = trace(40);
        assert_eq!(modes(&trace[..20], framing(), &layout), None);
        let found = modes(&trace[20..], framing(), &layout).unwrap();
        assert!(found.full_address || found != Ioptions::default());
    }

    #[test]
    fn texts() {
        assert_eq!("0x40".parse(), Ok(Ring::At(64)));
        assert_eq!("64".parse(), Ok(Ring::At(64)));
        assert_eq!("find".parse(), Ok(Ring::Find));
        assert_eq!("-1".parse::<Ring>(), Err(NoRing));
        assert_eq!(Ring::At(64).to_string().parse(), Ok(Ring::At(64)));
    }
}
