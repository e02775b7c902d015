//! Properties of every framing.

use crate::*;
use hartrace_bits::{BitReader, Tail};
use proptest::prelude::*;
use std::vec::Vec;

/// Items and errors in the order found.
type Found<'a> = Vec<(u64, Result<Item<'a>, FrameError>)>;

fn encap() -> impl Strategy<Value = EncapParams> {
    (0u8..=16, 0u8..=8, 0u8..=8, any::<u8>()).prop_map(|(src_id, timestamp, kind, code)| {
        let params = EncapParams::new(src_id, timestamp, kind).unwrap();
        params.with_instruction_type(code).unwrap_or(params)
    })
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![
        Just(Framing::Reference),
        encap().prop_map(Framing::Encap),
        (0u8..=16).prop_map(|bits| Framing::Smi(SmiParams::new(bits).unwrap())),
        Just(Framing::RvTracer),
        (0u8..128, 0u8..=8).prop_map(|(id, time)| Framing::Atb(AtbParams::new(id, time).unwrap())),
        Just(Framing::Esp32),
    ]
}

/// A header that `framing` can carry, made of arbitrary bits.
fn fit(framing: Framing, bits: [u64; 5]) -> FrameHeader {
    let [source, timestamp, flow, kind, index] = bits;
    let low = |value, width: u8| value & hartrace_bits::mask(width.into());
    let stamp = |bytes: u8| (bytes > 0 && flow & 4 != 0).then(|| low(timestamp, bytes * 8));
    let plain = FrameHeader::default();
    let flow = (flow & 3) as u8;
    match framing {
        Framing::Reference => plain,
        Framing::Encap(params) => {
            let width = params.src_id_bits();
            let raw = low(kind, params.type_bits()) as u8;
            FrameHeader {
                source: (width > 0).then(|| low(source, width) as u16),
                timestamp: stamp(params.timestamp_bytes()),
                flow,
                kind: Kind::of(raw, params.instruction_type()),
                index: None,
            }
        }
        Framing::Smi(params) => {
            let width = params.hart_index_bits();
            FrameHeader {
                source: (width > 0).then(|| low(source, width) as u16),
                timestamp: (flow & 1 != 0).then(|| low(timestamp, 16)),
                kind: Kind::of(low(kind, 2) as u8, 2),
                ..plain
            }
        }
        Framing::RvTracer => FrameHeader { timestamp: Some(timestamp), flow, ..plain },
        Framing::Atb(params) => FrameHeader {
            source: Some(params.atid().into()),
            timestamp: stamp(params.timestamp_bytes()),
            flow,
            ..plain
        },
        Framing::Esp32 => FrameHeader { index: Some(index as u16), ..plain },
    }
}

/// Bits of the payload with the framing's extension.
fn bits(mut reader: BitReader<'_>) -> Vec<bool> {
    (0..264).map(|_| reader.read_bool().unwrap()).collect()
}

fn tail(framing: Framing) -> Tail {
    if framing == Framing::RvTracer { Tail::Zero } else { Tail::Sign }
}

/// Emits a header that fits and a payload; returns the header and the bytes.
fn emitted(framing: Framing, raw: [u64; 5], payload: &[u8]) -> (FrameHeader, Vec<u8>) {
    let header = fit(framing, raw);
    let mut out = [0xa5; MAX_FRAME];
    let len = framing.emit(&header, payload, &mut out).unwrap();
    assert!(out[len..].iter().all(|byte| *byte == 0xa5), "wrote past the frame");
    (header, out[..len].to_vec())
}

fn at_once(framing: Framing, bytes: &[u8]) -> Found<'_> {
    let mut frames = framing.frames(bytes);
    let found = frames
        .by_ref()
        .take(bytes.len() + 1)
        .map(|item| match item {
            Ok((offset, item)) => (offset, Ok(item)),
            Err((offset, error)) => (offset, Err(error)),
        })
        .collect();
    assert_eq!(frames.next(), None, "more items than bytes");
    assert_eq!(frames.offset(), bytes.len() as u64);
    found
}

/// Checks that pieces of these sizes give the same items as the whole stream.
fn check_in_pieces(framing: Framing, bytes: &[u8], sizes: &[usize], whole: &Found<'_>) {
    let mut whole = whole.iter();
    let mut deframer = Deframer::new(framing);
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        let (piece, more) = rest.split_at((*size).min(rest.len()));
        deframer.feed(piece, &mut |offset, item| assert_eq!(whole.next(), Some(&(offset, item))));
        rest = more;
        if rest.is_empty() {
            break;
        }
    }
    let cut_off = deframer.finish().map(|(offset, error)| (offset, Err(error)));
    assert_eq!(whole.next(), cut_off.as_ref());
    assert_eq!(whole.next(), None);
}

/// Frames with nulls and garbage between them.
fn stream(framing: Framing) -> impl Strategy<Value = Vec<u8>> {
    let frame = (any::<[u64; 5]>(), prop::collection::vec(any::<u8>(), 1..=20))
        .prop_map(move |(raw, payload)| emitted(framing, raw, &payload).1);
    let part = prop_oneof![
        6 => frame,
        1 => prop::collection::vec(prop::sample::select(&[0x00u8, 0x80][..]), 1..60),
        1 => prop::collection::vec(any::<u8>(), 1..60),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn framing_and_stream() -> impl Strategy<Value = (Framing, Vec<u8>)> {
    framing().prop_flat_map(|framing| (Just(framing), stream(framing)))
}

proptest! {
    #[test]
    fn emit_then_parse(
        framing in framing(),
        raw: [u64; 5],
        payload in prop::collection::vec(any::<u8>(), 1..=28),
        behind in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let (header, mut bytes) = emitted(framing, raw, &payload);
        let len = bytes.len();
        bytes.extend(behind);
        let parsed = framing.parse(&bytes).unwrap();
        prop_assert_eq!(parsed.used, len);
        let Item::Frame(frame) = parsed.item else { panic!("null") };
        prop_assert_eq!(frame.header(), header);
        prop_assert_eq!(
            bits(frame.payload()),
            bits(BitReader::new(&payload, tail(framing)))
        );
        if let Some(bytes) = frame.payload_bytes() {
            prop_assert_eq!(bytes, &payload[..]);
        }
    }

    #[test]
    fn shifted_payloads_are_as_short_as_can_be(
        params in encap(),
        raw: [u64; 5],
        payload in prop::collection::vec(prop::sample::select(&[0x00u8, 0xff, 0x7f, 0x80][..]), 1..=28),
    ) {
        let framing = Framing::Encap(params);
        let (_, mut bytes) = emitted(framing, raw, &payload);
        let shifted = (params.src_id_bits() + params.type_bits()) % 8 != 0;
        let Item::Frame(frame) = framing.parse(&bytes).unwrap().item else { panic!("null") };
        prop_assert_eq!(frame.payload_bytes().is_none(), shifted);
        let read = bits(frame.payload());
        // A frame that is one byte shorter must read differently or not at all.
        if shifted && bytes[0] & LENGTH > 1 {
            bytes[0] -= 1;
            if let Ok(Parsed { item: Item::Frame(shorter), .. }) = framing.parse(&bytes) {
                prop_assert_ne!(bits(shorter.payload()), read);
            }
        }
    }

    #[test]
    fn every_prefix_is_incomplete(
        framing in framing(),
        raw: [u64; 5],
        payload in prop::collection::vec(any::<u8>(), 1..=28),
    ) {
        let (_, bytes) = emitted(framing, raw, &payload);
        for len in 0..bytes.len() {
            let Err(FrameError::Incomplete { missing }) = framing.parse(&bytes[..len]) else {
                panic!("{len} bytes are enough");
            };
            prop_assert!((1..=bytes.len() - len).contains(&missing));
        }
    }

    #[test]
    fn short_buffers_stay_untouched(framing in framing(), raw: [u64; 5], room in 0..MAX_FRAME) {
        let (header, bytes) = emitted(framing, raw, &[0x55]);
        let mut out = [0xa5; MAX_FRAME];
        let outcome = framing.emit(&header, &[0x55], &mut out[..room]);
        if room < bytes.len() {
            prop_assert_eq!(outcome, Err(EmitError::BufferTooSmall { needed: bytes.len() }));
            prop_assert_eq!(out, [0xa5; MAX_FRAME]);
        } else {
            prop_assert_eq!(outcome, Ok(bytes.len()));
        }
    }

    #[test]
    fn pieces_do_not_matter(
        (framing, bytes) in framing_and_stream(),
        sizes in prop::collection::vec(1usize..50, 1..8),
    ) {
        let whole = at_once(framing, &bytes);
        check_in_pieces(framing, &bytes, &[1], &whole);
        check_in_pieces(framing, &bytes, &[bytes.len().max(1)], &whole);
        check_in_pieces(framing, &bytes, &sizes, &whole);
    }

    #[test]
    fn hostile_bytes(framing in framing(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        // Where the next item has to start, unless boundaries were lost.
        let mut next = Some(0);
        for (offset, outcome) in at_once(framing, &bytes) {
            prop_assert_eq!(offset, next.unwrap_or(offset));
            let parsed = framing.parse(&bytes[offset as usize..]);
            prop_assert_eq!(parsed.map(|parsed| parsed.item), outcome);
            let used = parsed.map_or_else(|error| error.skip(), |parsed| Some(parsed.used));
            prop_assert_ne!(used, Some(0));
            next = used.map(|used| offset + used as u64);
        }
        prop_assert!(next.is_none_or(|end| end == bytes.len() as u64));
    }

    #[test]
    fn any_emit_is_parsed_or_refused(
        framing in framing(),
        source: Option<u16>,
        timestamp: Option<u64>,
        flow: u8,
        other: Option<u8>,
        index: Option<u16>,
        payload in prop::collection::vec(any::<u8>(), 0..=40),
    ) {
        let kind = other.map_or(Kind::Instruction, Kind::Other);
        let header = FrameHeader { source, timestamp, flow, kind, index };
        let mut out = [0; MAX_FRAME];
        if let Ok(len) = framing.emit(&header, &payload, &mut out) {
            let parsed = framing.parse(&out[..len]).unwrap();
            let Item::Frame(frame) = parsed.item else { panic!("null") };
            prop_assert_eq!((parsed.used, frame.header()), (len, header));
        }
    }

    #[test]
    fn nulls_recover_what_follows(
        params in encap(),
        garbage in prop::collection::vec(any::<u8>(), 0..60),
        raw: [u64; 5],
        payload in prop::collection::vec(any::<u8>(), 1..=28),
        cut in 1usize..30,
    ) {
        let framing = Framing::Encap(params);
        let (_, frame) = emitted(framing, raw, &payload);
        let mut bytes = garbage;
        bytes.resize(bytes.len() + params.null_run(), 0);
        let start = bytes.len();
        bytes.extend(frame);

        let mut frames = framing.frames(&bytes);
        frames.resync();
        // Garbage could contain such a run only by a chance of more than 31 bytes; none does.
        prop_assert_eq!(frames.offset(), start as u64);
        let expected = frames.next().unwrap().unwrap();

        let mut found = 0;
        let mut deframer = Deframer::new(framing);
        deframer.resync(&mut |_, _| {});
        for piece in bytes.chunks(cut) {
            deframer.feed(piece, &mut |offset, item| {
                assert_eq!((offset, item.unwrap()), expected);
                found += 1;
            });
        }
        prop_assert_eq!(found, 1);
    }
}

#[test]
fn resync_within_an_unfinished_frame() {
    // 0x1f announces 31 bytes of no known type that never arrive; a frame follows instead.
    let mut found = Vec::new();
    let mut deframer = Deframer::new(Framing::Smi(SmiParams::new(0).unwrap()));
    deframer.feed(&[0x41, 0xff], &mut |_, _| {});
    deframer.feed(&[0x1f, 0x00, 0x42, 0x1f, 0x04, 0x43], &mut |_, _| panic!("unfinished"));
    assert_eq!(deframer.offset(), 2);
    deframer.resync(&mut |offset, item| found.push((offset, item.is_ok())));
    assert_eq!(found, [(4, true)]);
    let cut = FrameError::Incomplete { missing: 3 };
    assert_eq!(deframer.finish(), Some((7, cut)));
}
