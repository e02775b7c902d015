//! Exact properties of every trace, whatever its contents: how many bits each kind of event uses, and that
//! both sides end with equal tables.

use crate::compressor::Coder;
use crate::events::{Event, Events};
use crate::stream::{End, Stream, StreamCoder, Streams};
use crate::{BitSource, Bits, Code, Dmtf, Records, Scheme, SchemeSetup, Sdc, Tmbp};
use hartrace_decoder::Image;
use hartrace_golden::walk::{Shape, Walk, generate};
use hartrace_isa::{Isa, Xlen};

/// Keeps the streams it is given.
#[derive(Clone, Debug, Default)]
struct Keep(Vec<Stream>);

impl StreamCoder for Keep {
    fn encode(&mut self, stream: &Stream, _: &mut Bits) {
        self.0.push(*stream);
    }

    fn decode(
        &mut self,
        _: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, crate::DecodeError> {
        Err(from.error(crate::Fault::Truncated))
    }
}

/// A random walk on RV32, its code and its streams.
fn walk(seed: u64, shape: Shape) -> (Walk, Code) {
    let shape = Shape { xlen: Xlen::Rv32, address_bits: 32, steps: 3000, ..shape };
    let walk = generate(seed, &shape.without_sideband());
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    for (address, bytes) in &walk.program.segments {
        image.add(*address, bytes);
    }
    let code = Code::new(&image);
    (walk, code)
}

fn events(walk: &Walk, code: &Code) -> Vec<Event> {
    let (mut events, mut found) = (Events::new(code), Vec::new());
    let mut take = |event| {
        found.push(event);
        Ok(())
    };
    walk.rows.iter().try_for_each(|row| events.push(row, &mut take)).unwrap();
    events.close(&mut take).unwrap();
    found
}

fn streams(walk: &Walk, code: &Code) -> Vec<Stream> {
    let mut coder = Streams::new(code, Keep::default(), None);
    let mut out = Bits::default();
    events(walk, code).iter().try_for_each(|event| coder.event(event, &mut out)).unwrap();
    coder.finish(&mut out).unwrap();
    coder.into_coder().0
}

/// Writes streams, reads them back, and returns both sides and the bits.
fn both_sides<C: StreamCoder>(pristine: &C, streams: &[Stream]) -> (C, C, Bits) {
    let (mut writer, mut reader, mut out) = (pristine.clone(), pristine.clone(), Bits::default());
    streams.iter().for_each(|stream| writer.encode(stream, &mut out));
    writer.flush(&mut out).unwrap();
    let mut from = BitSource::new(&out);
    for stream in streams {
        let known = stream.known.then_some(stream.start);
        assert_eq!(reader.decode(known, &mut from), Ok(*stream));
    }
    assert_eq!((from.left(), reader.pending()), (0, 0));
    (writer, reader, out)
}

#[test]
fn tables_of_both_sides_are_equal() {
    let dmtf = ["bDMTF(16,4)", "hDMTF(9,3)", "eDMTF(192,4)"];
    let sdc = ["bSDC-8x1", "eSDC-32", "rSDC-128"];
    for seed in 0..30 {
        let (walk, code) = walk(seed, Shape::random(seed));
        let streams = streams(&walk, &code);
        for name in dmtf {
            let coder = name.parse::<Scheme>().unwrap().config::<Dmtf>().unwrap().coder(32);
            let (writer, reader, _) = both_sides(&coder, &streams);
            assert_eq!(writer.tables(), reader.tables(), "{seed} {name}");
        }
        for name in sdc {
            let coder = name.parse::<Scheme>().unwrap().config::<Sdc>().unwrap().coder(32);
            let (writer, reader, _) = both_sides(&coder, &streams);
            assert_eq!(writer.tables(), reader.tables(), "{seed} {name}");
        }
    }
}

#[test]
fn bits_follow_from_events() {
    for seed in 0..30 {
        // Traps have additional fields, which the identities do not count.
        let (walk, code) = walk(seed, Shape::random(seed).without_traps());
        let streams = streams(&walk, &code);
        let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
        let mut base = "BASE".parse::<Scheme>().unwrap().compressor(&setup).unwrap();
        walk.rows.iter().try_for_each(|row| base.retire(row)).unwrap();
        let base = base.finish().unwrap();
        let unknown = streams.iter().filter(|stream| !stream.known).count() as u64;
        assert_eq!(base.payload_bits, 8 * streams.len() as u64 + 32 * unknown);

        let lengths = streams.iter().map(|stream| match stream.end {
            End::Natural(length) => u64::from(length),
            End::Cut => 254,
            End::Trap { retired, .. } => retired.into(),
        });
        assert_eq!(lengths.sum::<u64>(), base.instructions);

        let config = "bDMTF(64,8)".parse::<Scheme>().unwrap().config::<Dmtf>().unwrap();
        let (mut writer, _, bits) = both_sides(&config.coder(32), &streams);
        // The header, the place, and for a place that is not in the second list, the place in the first.
        let read = read_records(["zero", "near", "far", "miss"], &bits, &streams, |from| {
            match (from.get_bool()?, 7) {
                (false, _) => Ok(0),
                (true, outside) if from.get(3)? < outside => Ok(1),
                _ => Ok(if from.get(6)? < 63 { 2 } else { 3 }),
            }
        });
        assert_eq!(writer.tally().unwrap().records(), read);
        assert_eq!(read.map(|one| one.streams), distances(&streams, 63, 7));

        let config = "bSDC-128".parse::<Scheme>().unwrap().config::<Sdc>().unwrap();
        let (mut writer, _, bits) = both_sides(&config.coder(32), &streams);
        let read = read_records(["predicted", "cached", "miss"], &bits, &streams, |from| {
            Ok(if from.get_bool()? {
                0
            } else if from.get(7)? > 0 {
                1
            } else {
                2
            })
        });
        assert_eq!(writer.tally().unwrap().records(), read);
    }
}

/// Counts the records in bits. `kind` reads one up to what the last kind, a miss, has in addition: an address unless it is known, and a
/// length.
fn read_records<const N: usize>(
    kinds: [&str; N],
    bits: &Bits,
    streams: &[Stream],
    kind: impl Fn(&mut BitSource<'_>) -> Result<usize, crate::DecodeError>,
) -> [Records; N] {
    let mut records = kinds.map(|kind| Records { kind: kind.into(), streams: 0, bits: 0 });
    let mut from = BitSource::new(bits);
    for stream in streams {
        let at = from.position();
        let kind = kind(&mut from).unwrap();
        if kind == N - 1 {
            from.get(if stream.known { 8 } else { 40 }).unwrap();
        }
        records[kind].streams += 1;
        records[kind].bits += from.position() - at;
    }
    assert_eq!(from.left(), 0);
    records
}

/// The kinds of records of DMTF without its lists. The place of a stream in a list is the number of others since it occurred last, each
/// counted once.
fn distances(streams: &[Stream], first: usize, second: usize) -> [u64; 4] {
    fn distance<T: PartialEq + Copy>(before: &[T], one: T, room: usize) -> Option<usize> {
        let mut others: Vec<T> = Vec::new();
        for other in before.iter().rev() {
            if *other == one {
                return Some(others.len()).filter(|place| *place < room);
            }
            if !others.contains(other) {
                others.push(*other);
            }
        }
        None
    }
    let keys: Vec<(u64, u8)> = streams.iter().map(|one| (one.start, one.length())).collect();
    let (mut places, mut kinds) = (Vec::new(), [0; 4]);
    for (number, key) in keys.iter().enumerate() {
        let kind = match distance(&keys[..number], *key, first) {
            None => 3,
            Some(place) => {
                let kind = match distance(&places, place, second) {
                    Some(0) => 0,
                    Some(_) => 1,
                    None => 2,
                };
                places.push(place);
                kind
            }
        };
        kinds[kind] += 1;
    }
    kinds
}

/// Records and their bits are all streams and all bits, in every variant and with tables that are emptied.
#[test]
fn records_are_all_bits() {
    for (seed, name) in (0..12).zip(
        ["bDMTF(16,4)", "hDMTF(9,3)", "eDMTF(192,4)", "bSDC-32", "eSDC-32", "rSDC-128"]
            .iter()
            .cycle(),
    ) {
        let (walk, code) = walk(seed, Shape::random(seed));
        for every in [None, std::num::NonZeroU64::new(100)] {
            let setup = SchemeSetup { code: &code, sync_every: every, tvec: &[] };
            let mut coder = name.parse::<Scheme>().unwrap().compressor(&setup).unwrap();
            walk.rows.iter().try_for_each(|row| coder.retire(row)).unwrap();
            let found = coder.finish().unwrap();
            let bits = found.records.iter().map(|one| one.bits).sum::<u64>();
            assert_eq!(bits, found.payload_bits, "{seed} {name}");
            // Runs are written before the next record, and are not part of it.
            for (variant, kind, size) in [
                ("eDMTF(192,4)", "near", 3),
                ("eDMTF(192,4)", "far", 11),
                ("eSDC-32", "cached", 6),
                ("rSDC-128", "cached", 8),
            ] {
                for one in found.records.iter().filter(|one| *name == variant && one.kind == kind) {
                    assert_eq!(one.bits, size * one.streams, "{seed} {name}");
                }
            }
            let count = found.records.iter().map(|one| one.streams).sum::<u64>();
            if every.is_none() {
                assert_eq!(count, streams(&walk, &code).len() as u64, "{seed} {name}");
            } else {
                assert!(count > streams(&walk, &code).len() as u64, "{seed} {name}");
            }
        }
    }
}

#[test]
fn all_branches_are_told_or_predicted() {
    for seed in 0..30 {
        let (walk, code) = walk(seed, Shape::random(seed).without_traps());
        let mut coder = Tmbp::SMALL.coder(&code, None);
        let mut out = Bits::default();
        let mut branches = 0;
        for event in events(&walk, &code) {
            if let Event::Retired { insn, .. } = event {
                branches += u64::from(insn.is_branch() || insn.is_uninferable());
            }
            coder.event(&event, &mut out).unwrap();
        }
        assert_eq!(coder.tally.branches, branches);
        assert_eq!(coder.tally.reported + coder.tail(), branches);
    }
}
