//! The packets of a capture, each with its place.

use hartrace_bits::{BitPos, Tail, mask};
use hartrace_decoder::stream::Transport;
use hartrace_encap::{Frame, FrameError, FrameHeader, Frames, Framing, Item, Kind};
use hartrace_etrace::{
    AddressReport, Branch, BranchFmt, Ioptions, Layout, Params, ParseError, Payload, QualStatus,
};
use std::collections::{BTreeSet, HashMap};

/// Offset of the first byte of the payload in a record of rv_tracer; the other bytes precede it.
const RV_TRACER_PAYLOAD: u64 = 30;

/// A packet, or a place where one should be.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// Running number of the packet, from 0; damage has the number of the packet after it.
    pub number: u64,
    /// Offset of its frame in bytes.
    pub frame: u64,
    /// Where its payload starts in the capture.
    pub at: BitPos,
    /// Its frame, or why there is none.
    pub body: Result<Frame<'a>, FrameError>,
}

impl Packet<'_> {
    /// The same in a longer capture: with another number, and so many bytes behind.
    #[must_use]
    pub fn moved(self, number: u64, bytes: u64) -> Self {
        let at = BitPos(self.at.0.saturating_add(BitPos::of_byte(bytes).0));
        Self { number, frame: self.frame.saturating_add(bytes), at, ..self }
    }

    /// The header of the frame, or an empty one if there is no frame.
    pub fn header(&self) -> FrameHeader {
        self.body.map_or_else(|_| FrameHeader::default(), |frame| frame.header())
    }

    /// The bytes of the payload, moved to a byte boundary; none if there is no frame.
    pub fn bytes(&self) -> Vec<u8> {
        self.body.map_or_else(
            |_| Vec::new(),
            |frame| {
                let bits = bits(&frame);
                let sign = bits.last().copied().unwrap_or(false);
                let fill = frame.payload().tail() == Tail::Sign && sign;
                let byte = |bits: &[bool]| {
                    let all = bits.iter().copied().chain(std::iter::repeat(fill)).take(8);
                    all.enumerate()
                        .fold(0, |byte, (i, bit)| byte | u8::from(bit).wrapping_shl(i as u32))
                };
                bits.chunks(8).map(byte).collect()
            },
        )
    }
}

fn bits(frame: &Frame<'_>) -> Vec<bool> {
    let mut reader = frame.payload();
    (0..reader.remaining()).map_while(|_| reader.read_bool().ok()).collect()
}

/// The packets of one source, or of all, and every damaged place.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    frames: Frames<'a>,
    transport: Transport,
    number: u64,
}

impl<'a> Packets<'a> {
    /// The packets of a whole capture.
    pub fn new(bytes: &'a [u8], transport: Transport) -> Self {
        let mut frames = transport.framing.frames(bytes);
        if transport.find_sync {
            frames.resync();
        }
        Self { frames, transport, number: 0 }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        loop {
            let (offset, body) = match self.frames.next()? {
                Ok((_, Item::Null(_))) => continue,
                Ok((offset, Item::Frame(frame))) => (offset, Ok(frame)),
                Err((offset, error)) => (offset, Err(error)),
            };
            let number = self.number;
            let at = match &body {
                Ok(frame) => {
                    let wanted = self.transport.source;
                    if wanted.is_some() && frame.header().source != wanted {
                        continue;
                    }
                    self.number = number.wrapping_add(1);
                    let reader = frame.payload();
                    // The bytes that `length` counts end the frame.
                    let counted = match self.transport.framing {
                        Framing::RvTracer => offset.saturating_add(RV_TRACER_PAYLOAD),
                        _ => self.frames.offset().saturating_sub(reader.bit_len() / 8),
                    };
                    BitPos(BitPos::of_byte(counted).0.saturating_add(reader.position().0))
                }
                Err(_) => BitPos::of_byte(offset),
            };
            return Some(Packet { number, frame: offset, at, body });
        }
    }
}

/// Every source id in a capture.
pub fn sources(bytes: &[u8], transport: Transport) -> BTreeSet<u16> {
    Packets::new(bytes, transport).filter_map(|packet| packet.header().source).collect()
}

/// Why a payload cannot be listed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// There is no frame.
    Frame(FrameError),
    /// The payload cannot be parsed.
    Payload(ParseError),
    /// Not instruction trace.
    Kind(Kind),
}

/// Reads payloads, keeping track of each source's modes and of the address that it reported last.
#[derive(Clone, Debug)]
pub struct Reader {
    layout: Layout,
    initial: Ioptions,
    sources: HashMap<Option<u16>, Known>,
    resolved: Option<u64>,
}

/// What is known of a source.
#[derive(Copy, Clone, Debug)]
struct Known {
    modes: Ioptions,
    /// The address that the next one is a difference from.
    address: Option<u64>,
}

impl Reader {
    /// A reader at the start of a capture. `initial` are the modes in force before the first support
    /// packet.
    pub fn new(layout: Layout, initial: Ioptions) -> Self {
        Self { layout, initial, sources: HashMap::new(), resolved: None }
    }

    /// The fields of payloads.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The address that the last payload reported, which often contains only the difference from the one
    /// before. `None` if it reported none, or if a program is needed to find it.
    pub fn resolved(&self) -> Option<u64> {
        self.resolved
    }

    /// Reads the payload of a packet.
    pub fn read(&mut self, packet: &Packet<'_>) -> Result<Payload, Unread> {
        let frame = packet.body.map_err(|error| {
            // The frame that is missing may have reported an address.
            self.sources.values_mut().for_each(|known| known.address = None);
            self.resolved = None;
            Unread::Frame(error)
        })?;
        self.read_frame(&frame)
    }

    /// Reads the payload of a frame.
    pub fn read_frame(&mut self, frame: &Frame<'_>) -> Result<Payload, Unread> {
        self.resolved = None;
        let FrameHeader { source, kind, .. } = frame.header();
        if kind != Kind::Instruction {
            return Err(Unread::Kind(kind));
        }
        let new = Known { modes: self.initial, address: None };
        let known = self.sources.entry(source).or_insert(new);
        let payload = Payload::parse(&self.layout, known.modes, &mut frame.payload());
        let payload = payload.map_err(|error| {
            known.address = None;
            Unread::Payload(error)
        })?;
        self.resolved = known.resolve(self.layout.params(), &payload);
        Ok(payload)
    }
}

impl Known {
    /// Follows the addresses and modes of a source. Returns the address that the payload reports.
    fn resolve(&mut self, params: &Params, payload: &Payload) -> Option<u64> {
        let all = mask(params.iaddress_width_p.into());
        let whole = |field: u64| field.wrapping_shl(params.iaddress_lsb_p.into()) & all;
        let base = if self.modes.full_address { Some(0) } else { self.address };
        let report = |report: &AddressReport| Some(base?.wrapping_add(whole(report.address)) & all);
        let resolved = match payload {
            Payload::Start(p) => Some(whole(p.address)),
            Payload::Trap(p) => p.address.map(whole),
            Payload::Address(p) => report(p),
            Payload::Branch(Branch { address: Some(p), .. }) => report(p),
            Payload::BranchCount(p) => match &p.branch_fmt {
                BranchFmt::Address(p) | BranchFmt::MispredictedAddress(p) => report(p),
                BranchFmt::NoAddress => return None,
            },
            // It reports an entry of a table, which depends on the program.
            Payload::JumpTarget(_) => None,
            Payload::Support(p) => {
                self.modes = p.ioptions;
                if p.qual_status == QualStatus::NoChange && p.ienable {
                    return None;
                }
                None
            }
            Payload::Branch(_) | Payload::Context(_) | Payload::History(_) => return None,
        };
        self.address = resolved;
        resolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_encap::EncapParams;

    fn packets(framing: Framing, bytes: &[u8]) -> Vec<Packet<'_>> {
        Packets::new(bytes, Transport::new(framing)).collect()
    }

    fn encap(src_bits: u8, timestamp_bytes: u8, type_bits: u8) -> Framing {
        Framing::Encap(EncapParams::new(src_bits, timestamp_bytes, type_bits).unwrap())
    }

    #[test]
    fn offsets_are_those_of_payloads() {
        let found = packets(Framing::Reference, &[0x42, 0x1f, 0x04, 0xff, 0x41, 0x05]);
        let places: Vec<_> = found.iter().map(|p| (p.number, p.frame, p.at.0)).collect();
        assert_eq!(places, [(0, 0, 8), (1, 3, 24), (1, 4, 40)]);
        assert_eq!(found[1].body, Err(FrameError::Header(0xff)));

        // srcID and type take the first bits of what `length` counts.
        let found = packets(encap(10, 2, 1), &[0x82, 0x01, 0xaa, 0xbb, 0xf8, 0x20]);
        assert_eq!(found[0].at, BitPos(4 * 8 + 3));
        assert_eq!(found[0].body.map(|frame| bits(&frame).len()), Ok(13));
        assert_eq!(found[0].bytes(), [0x1f, 0x04]);

        let mut record = [0; 80];
        record[79] = 0x82;
        record[70] = 0x0f;
        record[69] = 0x40;
        let found = packets(Framing::RvTracer, &record);
        assert_eq!((found[0].frame, found[0].at), (40, BitPos::of_byte(70)));
        assert_eq!(found[0].bytes(), [0x0f, 0x40]);
    }

    #[test]
    fn one_source_is_selected() {
        let bytes = [0x01, 7, 0x03, 0x01, 9, 0x03, 0x01, 7, 0x03];
        assert_eq!(packets(encap(8, 0, 0), &bytes).len(), 3);
        let one = Transport { source: Some(7), ..Transport::new(encap(8, 0, 0)) };
        let found: Vec<_> = Packets::new(&bytes, one).collect();
        assert_eq!(found.iter().map(|p| (p.number, p.frame)).collect::<Vec<_>>(), [(0, 0), (1, 6)]);
    }
}
