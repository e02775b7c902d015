use super::*;
use fastrand::Rng;
use hartrace_golden::arm::{Program, Step, expected};
use hartrace_isa::arm::Spaces;

/// A random program, and the steps of a core up to its first exception, which ends a range in its own
/// way.
fn walked(seed: u64, wide: bool) -> (Program, Vec<Step>) {
    let mut rng = Rng::with_seed(seed);
    let program = Program::random(&mut rng, 300, wide);
    let (_, mut steps) = program.walk(&mut rng, 2000);
    steps.retain(|step| matches!(step, Step::Executed(_) | Step::Exception { .. }));
    let end = steps.iter().position(|step| matches!(step, Step::Exception { .. }));
    steps.truncate(end.map_or(steps.len(), |end| end + 1));
    (program, steps)
}

fn compressed(
    scheme: ArmScheme,
    program: &Program,
    steps: &[Step],
    every: Option<NonZeroU64>,
) -> Compressed {
    let mut compressor = scheme.compressor(every);
    for step in steps {
        match step {
            Step::Executed(walked) => compressor.retire(&program.executed(walked)),
            Step::Exception { before, .. } => compressor.exception(true, program.place(*before)),
            _ => {}
        }
    }
    compressor.finish().unwrap()
}

#[test]
fn everything_comes_back() {
    let mut told = 0;
    for (seed, scheme) in (0..400).zip(ArmScheme::ALL.into_iter().cycle()) {
        let wide = scheme.traces(Isa::A64) && seed % 8 < 4;
        let (program, steps) = walked(seed, wide);
        let mut memory = Memory::new();
        memory.add(program.base, program.bytes.clone(), Spaces::ALL);
        let every = NonZeroU64::new(seed % 3 * 20);
        let compressed = compressed(scheme, &program, &steps, every);
        let (mut found, wanted) = (Vec::new(), expected(&program, &steps).0);
        let result =
            scheme.decompress(&memory, &compressed.bits, compressed.instructions, &mut |range| {
                found.push(range);
            });
        assert_eq!(result, Ok(()), "seed {seed}, {scheme}");
        assert_eq!(found, wanted, "seed {seed}, {scheme}");
        let frames = compressed.payload_bits.div_ceil(120);
        assert!(
            compressed.framed_bits >= 128 * frames && compressed.framed_bits.is_multiple_of(128)
        );
        told += found.len();
        // Asking for one instruction too many is detected.
        let more = compressed.instructions + 1;
        let result = scheme.decompress(&memory, &compressed.bits, more, &mut |_| {});
        assert!(matches!(result, Err(DecodeError { fault: Fault::Truncated, .. })));
    }
    assert!(told > 4000, "{told}");
}

#[test]
fn any_bits_come_to_an_end() {
    let (program, steps) = walked(7, false);
    let mut memory = Memory::new();
    memory.add(program.base, program.bytes.clone(), Spaces::ALL);
    let mut rng = Rng::with_seed(1);
    for scheme in ArmScheme::ALL {
        let good = compressed(scheme, &program, &steps, None);
        for _ in 0..200 {
            let mut bytes = good.bits.bytes().to_vec();
            for _ in 0..3 {
                let at = rng.usize(0..bytes.len());
                bytes[at] = rng.u8(..);
            }
            let (bits, mut count) = (Bits::of_bytes(bytes), 0);
            // The result may be wrong, but it is never longer than requested.
            let _ = scheme.decompress(&memory, &bits, good.instructions, &mut |range| {
                count += u64::from(range.2);
            });
            assert!(count <= good.instructions);
        }
    }
}
