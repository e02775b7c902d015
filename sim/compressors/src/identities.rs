//! Exact properties of every trace, whatever its contents: how many bits each kind of event uses, and that
//! both sides end with equal tables.

use crate::compressor::Coder;
use crate::dmtf::DmtfCoder;
use crate::events::{Event, Events};
use crate::sdc::SdcCoder;
use crate::stream::{End, Stream, StreamCoder, Streams};
use crate::{BitSource, Bits, Code, Scheme, Setup, Tmbp};
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
fn both_sides<C: StreamCoder>(pristine: &C, streams: &[Stream]) -> (C, C, u64) {
    let (mut writer, mut reader, mut out) = (pristine.clone(), pristine.clone(), Bits::default());
    streams.iter().for_each(|stream| writer.encode(stream, &mut out));
    writer.flush(&mut out).unwrap();
    let mut from = BitSource::new(&out);
    for stream in streams {
        let known = stream.known.then_some(stream.start);
        assert_eq!(reader.decode(known, &mut from), Ok(*stream));
    }
    assert_eq!((from.left(), reader.pending()), (0, 0));
    (writer, reader, out.len())
}

#[test]
fn tables_of_both_sides_are_equal() {
    let dmtf = ["bDMTF(16,4)", "hDMTF(9,3)", "eDMTF(192,4)"];
    let sdc = ["bSDC-8x1", "eSDC-32", "rSDC-128"];
    for seed in 0..30 {
        let (walk, code) = walk(seed, Shape::random(seed));
        let streams = streams(&walk, &code);
        for name in dmtf {
            let coder = name.parse::<Scheme>().unwrap().dmtf().unwrap().coder(32);
            let (writer, reader, _) = both_sides(&coder, &streams);
            assert_eq!(writer.tables(), reader.tables(), "{seed} {name}");
        }
        for name in sdc {
            let coder = name.parse::<Scheme>().unwrap().sdc().unwrap().coder(32);
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
        let setup = Setup { code: &code, sync_every: None, tvec: &[] };
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

        let config = "bDMTF(64,8)".parse::<Scheme>().unwrap().dmtf().unwrap();
        let (DmtfCoder { tally, .. }, _, bits) = both_sides(&config.coder(32), &streams);
        let crate::dmtf::Tally { zero, near, far, miss, unknown } = tally;
        assert_eq!(bits, zero + 4 * near + 10 * (far + miss) + 8 * miss + 32 * unknown);

        let config = "bSDC-128".parse::<Scheme>().unwrap().sdc().unwrap();
        let (SdcCoder { tally, .. }, _, bits) = both_sides(&config.coder(32), &streams);
        let crate::sdc::Tally { predicted, cached, miss, unknown } = tally;
        assert_eq!(bits, predicted + 8 * (cached + miss) + 8 * miss + 32 * unknown);
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
        assert_eq!(coder.tally.told + coder.tail(), branches);
    }
}
