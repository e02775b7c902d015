//! A slice at once and the same bytes in pieces give the same items; every byte is accounted for;
//! what was parsed can be emitted again.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_encap::{
    AtbParams, Deframer, EncapParams, FrameError, Framing, Item, MAX_FRAME, SmiParams,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn framing(u: &mut Unstructured<'_>) -> Result<Option<Framing>> {
    Ok(match u.int_in_range(0..=5u8)? {
        0 => Some(Framing::Reference),
        1 => {
            let (src_id, timestamp, kind) =
                (u.int_in_range(0..=17)?, u.int_in_range(0..=9)?, u.int_in_range(0..=9)?);
            let code = u.int_in_range(0..=3)?;
            EncapParams::new(src_id, timestamp, kind)
                .and_then(|params| params.with_instruction_type(code))
                .ok()
                .map(Framing::Encap)
        }
        2 => SmiParams::new(u.int_in_range(0..=17)?).ok().map(Framing::Smi),
        3 => Some(Framing::RvTracer),
        4 => AtbParams::new(u.arbitrary()?, u.int_in_range(0..=9)?).ok().map(Framing::Atb),
        _ => Some(Framing::Esp32),
    })
}

type Found<'a> = (u64, std::result::Result<Item<'a>, FrameError>);

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let Some(framing) = framing(&mut u)? else { return Ok(()) };
    let pieces: [u8; 4] = u.arbitrary()?;
    let resync_at: u8 = u.arbitrary()?;
    let bytes = u.take_rest();

    let mut whole: Vec<Found<'_>> = Vec::new();
    let mut frames = framing.frames(bytes);
    let mut last = None;
    while let Some(item) = frames.next() {
        let (offset, item) = match item {
            Ok((offset, item)) => (offset, Ok(item)),
            Err((offset, error)) => (offset, Err(error)),
        };
        assert!(last.is_none_or(|last| last < offset), "offsets grow");
        last = Some(offset);
        if let Ok(item) = &item {
            let parsed = framing.parse(&bytes[offset as usize..]).expect("parsed before");
            assert_eq!(&parsed.item, item);
            assert!((1..=MAX_FRAME).contains(&parsed.used));
            assert_eq!(frames.offset(), offset + parsed.used as u64, "nothing is left out");
            emit_again(framing, item);
        }
        whole.push((offset, item));
    }
    assert_eq!(frames.offset(), bytes.len() as u64, "every byte is accounted for");
    assert!(whole.len() <= bytes.len());
    assert!(frames.next().is_none());

    let mut expected = whole.iter();
    let mut deframer = Deframer::new(framing);
    let mut rest = bytes;
    let mut sizes = pieces.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(1, |n| usize::from(*n) % 50 + 1).min(rest.len());
        let (piece, after) = rest.split_at(size);
        deframer.feed(piece, &mut |offset, item| {
            assert_eq!(Some(&(offset, item)), expected.next());
        });
        rest = after;
    }
    let cut_off = deframer.finish().map(|(offset, error)| (offset, Err(error)));
    assert_eq!(cut_off.as_ref(), expected.next());
    assert_eq!(expected.next(), None);

    // Resynchronisation ends, whatever precedes and follows it.
    let (head, rest) = bytes.split_at(usize::from(resync_at).min(bytes.len()));
    let mut deframer = Deframer::new(framing);
    deframer.feed(head, &mut |_, _| {});
    deframer.resync(&mut |_, _| {});
    let mut items = 0;
    deframer.feed(rest, &mut |_, _| items += 1);
    assert!(items <= bytes.len());
    let mut frames = framing.frames(bytes);
    frames.next();
    frames.resync();
    assert!(frames.count() <= bytes.len());
    Ok(())
}

fn emit_again(framing: Framing, item: &Item<'_>) {
    let Item::Frame(frame) = item else { return };
    let mut bits = frame.payload();
    if bits.position().bit() != 0 {
        return;
    }
    let bytes = bits.remaining() / 8;
    let payload: Vec<u8> = (0..bytes).map(|_| bits.read(8).expect("within it") as u8).collect();
    if let Some(bytes) = frame.payload_bytes() {
        assert_eq!(bytes, payload);
    }
    let mut out = [0; MAX_FRAME];
    let len = framing.emit(&frame.header(), &payload, &mut out);
    let len = len.unwrap_or_else(|error| panic!("{frame:?}: {error}"));
    let parsed = framing.parse(&out[..len]).expect("just emitted");
    assert_eq!(parsed.used, len);
    let Item::Frame(again) = parsed.item else { panic!("{frame:?} became {:?}", parsed.item) };
    assert_eq!(&again, frame);
}
