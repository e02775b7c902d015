//! Skips what two captures have in common, byte for byte.

use hartrace_capture::follow::{Filling, Follow};
use hartrace_decoder::StreamPos;
use hartrace_decoder::stream::Cuts;
use hartrace_etrace::Ioptions;
use std::io::{self, Read};

/// Bytes that are compared at once.
const CHUNK: usize = 1 << 18;

/// Bytes to keep while no synchronisation is found. If there are more, they are decoded.
const KEPT: usize = 1 << 26;

/// Where decoding starts: a synchronisation up to which both captures are the same.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skipped {
    /// Its place in both captures.
    pub(super) at: StreamPos,
    /// The modes in force there.
    pub(super) options: Ioptions,
}

/// Where decoding starts, unless that is the start, and what was read of both captures from there on.
type Tails = (Option<Skipped>, [Vec<u8>; 2]);

/// Reads both captures up to the first difference, and returns what has to be decoded: the last synchronisation that is at least
/// `context` bytes before it, and for each capture what was read from there on. Without such a synchronisation, that is
/// everything, and nothing is skipped. `progress` is told the number of bytes so far.
///
/// # Errors
///
/// If one of them cannot be read, its number comes with the reason.
pub(super) fn skip<I: Read>(
    follow: &Follow,
    [a, b]: [&mut I; 2],
    context: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Tails, (usize, io::Error)> {
    // Parameters that no encoder can have are reported when it is decoded.
    let Ok(mut cuts) = Cuts::new(&follow.decode()) else {
        return Ok((None, Default::default()));
    };
    let (mut a, mut b) = (Filling(a), Filling(b));
    let (mut skipped, mut kept, mut read): (_, Vec<u8>, u64) = (None, Vec::new(), 0);
    let [mut own, mut other] = [vec![0; CHUNK], vec![0; CHUNK]];
    loop {
        let of_a = a.read(&mut own).map_err(|error| (0, error))?;
        let of_b = b.read(&mut other).map_err(|error| (1, error))?;
        let own = own.get(..of_a).unwrap_or_default();
        let other = other.get(..of_b).unwrap_or_default();
        let same = match own == other {
            true => own.len(),
            false => own.iter().zip(other).take_while(|(a, b)| a == b).count(),
        };
        let (common, rest) = own.split_at(same);
        cuts.feed(common);
        kept.extend_from_slice(common);
        read = read.saturating_add(same as u64);
        progress(read);
        if let Some(cut) = cuts.last_before(read.saturating_sub(context)) {
            let at = StreamPos { packet: cut.packets, byte: cut.byte };
            // A selection of synchronisations may lack one that was chosen before.
            let start = read.saturating_sub(kept.len() as u64);
            let more = usize::try_from(at.byte.saturating_sub(start)).unwrap_or(usize::MAX);
            if more > 0 {
                kept.drain(..more.min(kept.len()));
                skipped = Some(Skipped { at, options: cut.sync.options });
            }
        }
        let other = other.get(same..).unwrap_or_default();
        if !rest.is_empty() || !other.is_empty() || same == 0 || kept.len() > KEPT {
            let all = |rest: &[u8]| [&kept, rest].concat();
            return Ok((skipped, [all(rest), all(other)]));
        }
    }
}
