//! A capture at once and in pieces gives the same items; every byte is accounted for; what is written
//! is read back.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_encap::coresight::{Deformatter, Formatter, Item, Mode, Statistics, TraceId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn read(mode: Mode, bytes: &[u8], piece: usize) -> (Vec<String>, Vec<(u8, u8)>, Statistics) {
    let (mut items, mut data) = (Vec::new(), Vec::new());
    let mut out = |item: Item<'_>| {
        if let Item::Data(chunk) = item {
            assert!(!chunk.bytes.is_empty());
            data.extend(chunk.bytes.iter().map(|byte| (chunk.id.get(), *byte)));
        }
        items.push(format!("{item:?}"));
    };
    let mut deformatter = Deformatter::new(mode);
    for piece in bytes.chunks(piece) {
        deformatter.feed(piece, &mut out);
    }
    deformatter.finish(&mut out);
    (items, data, deformatter.statistics())
}

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let modes = [Mode::Aligned, Mode::AlignedReset, Mode::Fsync, Mode::FsyncHsync];
    let mode = *u.choose(&modes)?;
    let piece = u.int_in_range(1..=40usize)?;
    let bytes = u.take_rest();
    let whole = read(mode, bytes, usize::MAX);
    assert_eq!(whole, read(mode, bytes, piece));
    let s = whole.2;
    let all = s.data + s.unknown + s.null + s.reserved + s.overhead + s.unsynchronised;
    assert_eq!(all, bytes.len() as u64, "every byte is accounted for");

    let mut frames = Vec::new();
    let mut formatter = Formatter::new();
    let mut expected = Vec::new();
    for pair in bytes.chunks_exact(2) {
        let Some(id) = TraceId::new(pair[0] & 3) else { continue };
        formatter.write(id, &pair[1..], &mut |frame| frames.extend_from_slice(frame));
        expected.push((id.get(), pair[1]));
    }
    formatter.finish(&mut |frame| frames.extend_from_slice(frame));
    assert_eq!(read(Mode::Aligned, &frames, 16).1, expected);
    Ok(())
}
