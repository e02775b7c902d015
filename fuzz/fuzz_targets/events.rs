//! Any text is a log of events or is rejected with the line; queries of a log are consistent, and a decoder
//! that follows it ends.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_arm_decoder::{Capture, Etmv4, Layout, Memory};
use hartrace_etmv4::Registers;
use hartrace_fuzz::arm::Count;
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Holds, Log, Timeline};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let holds = *u.choose(&[Holds::Asid, Holds::AsidPid, Holds::AsidTid, Holds::Tid])?;
    let asked: [(u64, Option<u64>, u64); 4] = u.arbitrary()?;
    let length = u.int_in_range(0..=200usize)?.min(u.len());
    let trace = u.bytes(length)?;
    let text = String::from_utf8_lossy(u.take_rest());
    let log = match Log::parse("log", &text) {
        Ok(log) => log,
        Err(error) => {
            assert!(error.line > 0 && error.line <= text.lines().count());
            assert!(error.to_string().starts_with(&format!("log:{}: ", error.line)));
            return Ok(());
        }
    };
    for (id, bound) in log.bound(|id| (id % 2 == 0).then(|| "usual".to_owned())) {
        assert!((1..=0x6f).contains(&id) && bound.first().is_some_and(|first| first.since == 0));
        assert!(bound.windows(2).all(|two| two[0].since <= two[1].since));
    }
    // Some images are missing, and some have more than one segment.
    let timeline = Timeline::new(&log, holds, |image| match image.file.len() % 3 {
        0 => None,
        1 => Some(vec![(0, vec![0x1f; 40])]),
        _ => Some(vec![(0, vec![0xd5; 16]), (0x1000, vec![0; 8]), (4, vec![1; 4])]),
    });
    for (now, context, address) in asked {
        let space = timeline.space(now, context);
        if let Some(next) = timeline.changes(now, context) {
            assert!(next > now);
            // Nothing changes before the reported time.
            assert_eq!(timeline.space(next - 1, context), space);
        }
        let segments = timeline.segments(space);
        let starts = segments.iter().map(|segment| segment.start);
        for address in starts.chain([address]) {
            let first = timeline.code(space, address).bytes.and_then(|bytes| bytes.first());
            let found = segments.iter().find_map(|segment| {
                let offset = usize::try_from(address.checked_sub(segment.start)?).ok()?;
                segment.code[segment.part.clone()].get(offset)
            });
            assert_eq!(found, first, "{address:#x}");
        }
        assert!(segments.windows(2).all(|two| two[0].start < two[1].start));
    }
    // Contexts of 32 bits and timestamps.
    let registers = Registers {
        configr: 0x840,
        idr0: 0x2800_02a0,
        idr1: 0x4100_f420,
        idr2: 0x1000_0488,
        idr8: 0,
        devarch: None,
    };
    let memory = Memory::new();
    let capture = Capture::split(Layout::Raw, trace);
    let mut count = Count::default();
    let decoder = Etmv4::new(registers.config(), Arch::Later, &memory);
    decoder.with_timeline(&timeline).decode(&capture.streams[0], &mut count);
    assert!(count.0 <= 60 * trace.len() as u64 + 10, "{} of {} bytes", count.0, trace.len());
    Ok(())
}
