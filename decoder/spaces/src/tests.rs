use crate::*;
use proptest::prelude::*;

/// Images are sixteen bytes of the last letter of their name, in two segments.
fn load(image: &Image) -> Option<Vec<(u64, Vec<u8>)>> {
    let letter = image.file.bytes().last()?;
    (image.file != "none").then(|| vec![(0, vec![letter; 8]), (8, vec![letter; 8])])
}

fn timeline(holds: Holds, log: &str) -> Timeline {
    Timeline::new(&Log::parse("log", log).unwrap(), holds, load)
}

/// The first byte at an address.
fn byte(timeline: &Timeline, now: u64, context: u64, address: u64) -> Option<char> {
    let space = timeline.space(now, Some(context));
    timeline.code(space, address).bytes.map(|bytes| char::from(bytes[0]))
}

#[test]
fn processes_share_addresses() {
    let log = "10 declare_process state=START pid=1 base_address=0x100 image_file=a\n\
               10 declare_process state=START pid=2 base_address=0x100 image_file=b\n\
               20 declare_thread state=START tid=9 pid=2 # a thread of b\n\
               30 declare_process state=END pid=1 base_address=0x100 image_file=a\n";
    let timeline = timeline(Holds::Tid, log);
    for (now, context, expected) in [
        (9, 1, None),
        (10, 1, Some('a')),
        (10, 2, Some('b')),
        (19, 9, None),
        (20, 9, Some('b')),
        (29, 1, Some('a')),
        (30, 1, None),
        (30, 2, Some('b')),
    ] {
        assert_eq!(byte(&timeline, now, context, 0x108), expected, "{now} {context}");
    }
    assert_eq!(byte(&timeline, 20, 1, 0x110), None);
    assert_eq!(timeline.space(20, Some(2)), timeline.space(20, Some(9)));
    assert_ne!(timeline.space(20, Some(2)), timeline.space(20, Some(1)));
    assert_eq!((timeline.changes(10, Some(1)), timeline.changes(30, Some(1))), (Some(20), None));
}

#[test]
fn what_contexts_hold() {
    let declared = "0 declare_process state=CURRENT pid=3 base_address=0 image_file=c\n\
                    0 declare_thread state=CURRENT tid=5 pid=3\n\
                    0 declare_asid state=CURRENT asid=0x44 pid=3\n\
                    50 declare_asid state=START asid=0x44 pid=4\n";
    for (holds, known, unknown) in [
        (Holds::Asid, 0x9944, 0x9945),
        (Holds::AsidPid, 0x0344, 0x0444),
        (Holds::AsidTid, 0x0501, 0x0601),
        (Holds::Tid, 5, 6),
    ] {
        let timeline = timeline(holds, declared);
        assert_eq!(byte(&timeline, 7, known, 0), Some('c'), "{holds:?}");
        assert_eq!(byte(&timeline, 7, unknown, 0), None, "{holds:?}");
        // The identifier was given to another process.
        let later = (holds != Holds::Asid).then_some('c');
        assert_eq!(byte(&timeline, 50, known, 0), later, "{holds:?}");
    }
}

#[test]
fn patches_lie_over_code_until_the_process_ends() {
    let log = "0 declare_process state=START pid=1 base_address=0 image_file=a\n\
               5 declare_library state=START pid=1 base_address=0x20 image_file=l\n\
               10 patch_code pid=1 start_address=4 length=2 code=7071\n\
               20 patch_code pid=1 start_address=5 length=1 id=q\n\
               30 patch_code pid=1 start_address=0 length=4\n\
               40 declare_library state=END pid=1 base_address=0x20 image_file=l\n\
               50 declare_process state=END pid=1 base_address=0 image_file=a\n\
               60 declare_process state=START pid=1 base_address=0 image_file=b\n";
    let timeline = timeline(Holds::Tid, log);
    let all = |now: u64| -> String {
        (0..8).map(|at| byte(&timeline, now, 1, at).unwrap_or('-')).collect()
    };
    for (now, expected) in [
        (9, "aaaaaaaa"),
        (10, "aaaapqaa"),
        (20, "aaaapqaa"),
        (30, "----pqaa"),
        (50, "--------"),
        (60, "bbbbbbbb"),
    ] {
        assert_eq!(all(now), expected, "{now}");
    }
    // The returned code ends where something else covers it, or where its segment ends.
    let code = |now, address| timeline.code(timeline.space(now, Some(1)), address);
    assert_eq!(code(10, 0), Code { bytes: Some(b"aaaa"), length: 4 });
    assert_eq!(code(10, 6), Code { bytes: Some(b"aa"), length: 2 });
    assert_eq!(code(30, 0), Code { bytes: None, length: 4 });
    assert_eq!(byte(&timeline, 39, 1, 0x20), Some('l'));
    assert_eq!(byte(&timeline, 40, 1, 0x20), None);
}

proptest! {
    /// All code at once is the same as the code address by address, whatever covers it.
    #[test]
    fn segments_are_code(
        patches in prop::collection::vec((0..2u64, 0..40u64, 0..20u64, 0..30u64), 0..30),
        now in 0..40u64,
        context in prop::option::of(0..3u64),
    ) {
        let mut log = "5 declare_process state=START pid=1 base_address=0x10 image_file=a\n\
                       9 declare_process state=START pid=0 base_address=0x18 image_file=k\n"
            .to_owned();
        for ((pid, start, length, time), letter) in patches.into_iter().zip(b'A'..) {
            // Some are in memory, and some are shorter than their stated length.
            let code = match letter % 4 {
                0 => String::new(),
                1 => format!("id={}", char::from(letter)),
                _ => format!("code={}", format!("{letter:02x}").repeat(length as usize)),
            };
            log += &format!("{time} patch_code pid={pid} start_address={start} length={length} {code}\n");
        }
        let timeline = timeline(Holds::Tid, &log);
        let space = timeline.space(now, context);
        let mut found = [None; 64];
        for segment in timeline.segments(space) {
            prop_assert!(!segment.part.is_empty());
            let bytes = &segment.code[segment.part];
            for (to, byte) in found[segment.start as usize..].iter_mut().zip(bytes) {
                prop_assert_eq!(to.replace(*byte), None, "an overlap");
            }
        }
        for (found, address) in found.into_iter().zip(0..) {
            let code = timeline.code(space, address);
            prop_assert_eq!(found, code.bytes.and_then(|bytes| bytes.first()).copied());
            // It is the same within the stated length.
            let all = code.bytes.unwrap_or_default();
            prop_assert!(all.len() as u64 <= code.length);
            for (byte, at) in all.iter().zip(address..) {
                prop_assert_eq!(timeline.code(space, at).bytes.map(|bytes| bytes[0]), Some(*byte));
            }
        }
    }
}

/// Threads of one number and processes by the thousands: work must not grow with the square of a log.
#[test]
fn long_logs() {
    let mut log = String::new();
    for n in 1..30_000u64 {
        let image = "base_address=0 image_file=a";
        log += &match n % 5 {
            0 => format!("{n} declare_thread state=START tid=7 pid={n}\n"),
            1 => format!("{n} declare_thread state=START tid={n} pid=1\n"),
            2 => format!("{n} declare_process state=END pid=1 {image}\n"),
            3 => format!("{n} patch_code pid=0 start_address={n} length=1 code=50\n"),
            _ => format!("{n} declare_process state=START pid={n} {image}\n"),
        };
    }
    let timeline = timeline(Holds::Tid, &log);
    assert_eq!(timeline.process(29_999, 7), Some(29_995));
    // Its own code covers older patches of the kernel.
    let at = |address| byte(&timeline, 29_999, 29_994, address);
    assert_eq!((at(8), at(18), at(19)), (Some('a'), Some('P'), None));
    assert_eq!(timeline.segments(timeline.space(29_999, Some(29_994))).len(), 2 + 6_000 - 3);
}

#[test]
fn all_see_the_kernel_and_its_patches() {
    let log = "0 declare_process state=CURRENT pid=0 base_address=0x1000 image_file=k\n\
               0 declare_process state=CURRENT pid=1 base_address=0 image_file=a\n\
               10 patch_code pid=0 start_address=0x1000 length=1 code=50\n";
    let timeline = timeline(Holds::Asid, log);
    for context in [Some(1), Some(77), None] {
        let at = |now| {
            let space = timeline.space(now, context);
            timeline.code(space, 0x1000).bytes.map(|bytes| bytes[0])
        };
        assert_eq!((at(9), at(10)), (Some(b'k'), Some(b'P')), "{context:?}");
    }
    // The process is not known: nothing is guessed.
    assert_eq!(byte(&timeline, 9, 1, 0), None);
}

#[test]
fn logs_that_lack_their_start() {
    let process = "declare_process state=CURRENT pid=1 base_address=0 image_file=a";
    // A list of what exists at the end.
    let last = timeline(Holds::Tid, &format!("900 {process}"));
    assert_eq!(byte(&last, 0, 1, 0), Some('a'));
    // Only its end is known.
    let ended = timeline(Holds::Tid, &format!("900 {}", process.replace("CURRENT", "END")));
    assert_eq!((byte(&ended, 899, 1, 0), byte(&ended, 900, 1, 0)), (Some('a'), None));
    // Another process with the same number ended before: it cannot have existed earlier.
    let other = process.replace("CURRENT", "END").replace("=a", "=b");
    let reused = timeline(Holds::Tid, &format!("100 {other}\n900 {process}"));
    let at = |now| byte(&reused, now, 1, 0);
    assert_eq!((at(99), at(100), at(900)), (Some('b'), Some('a'), Some('a')));
    let missing =
        timeline(Holds::Tid, &process.replace("=a", "=none").replace("declare", "1 declare"));
    assert_eq!(byte(&missing, 5, 1, 0), None);
    assert_eq!(missing.missing, ["image none cannot be read"]);
}

#[test]
fn lines_that_cannot_be_read() {
    let message = |text: &str| Log::parse("log", text).unwrap_err().to_string();
    assert_eq!(
        message("\n5 declare_thread state=START tid=1"),
        "log:2: declare_thread needs pid=..."
    );
    assert!(message("x declare_thread").contains("expected a time"));
    assert!(message("5 declare_thread state=NOW tid=1 pid=1").contains("START, END or CURRENT"));
    assert!(message("5 dance").contains("declare_process"));
    assert!(message("5 patch_code pid=1 start_address=0 length=2 code=ab").contains("2 bytes"));
    assert!(message("5 patch_code pid=1 start_address=0 length=1 code=ag").contains("1 bytes"));
    assert!(message("5 declare_thread state=END tid=1 pid=q").contains("pid=q"));
    assert!(message("5 declare_thread state=END tid=1 pid=1\n@6 dance").contains("in one log"));
    let log = Log::parse("log", "@5 define_trace state=START id=1 source=x\n").unwrap();
    assert_eq!((log.events.len(), log.traces.len(), log.clock), (0, 1, Clock::Position));
    assert!(message("5 define_trace state=START id=0x70 source=x").contains("1 to 111"));
    assert!(message("5 define_trace state=START id=1").contains("source="));
    assert!(
        message("5 define_trace state=START id=1 source=x etmcr=0x100000000").contains("32 bits")
    );
}

proptest! {
    /// Whatever events of a process are lost, the result is never wrong: between its start and its end
    /// there is its code, or none if all events are lost.
    #[test]
    fn any_part_of_a_log(
        spans in prop::collection::vec((1u64..50, 1u64..50), 1..6),
        lost: u32,
        now in 0u64..300,
    ) {
        // Processes in sequence, each with its own number and image.
        let (mut time, mut log, mut bit) = (0, String::new(), 0);
        let mut there = Vec::new();
        for ((before, length), letter) in spans.into_iter().zip('a'..) {
            let (start, end) = (time + before, time + before + length);
            let rest = format!("pid={} base_address=0 image_file={letter}", letter as u32);
            let mut kept = 0;
            for (when, state) in [(start, "START"), ((start + end) / 2, "CURRENT"), (end, "END")] {
                if lost >> bit & 1 == 0 {
                    log += &format!("{when} declare_process state={state} {rest}\n");
                    kept += 1;
                }
                bit += 1;
            }
            there.push((start..end, letter, kept));
            time = end;
        }
        let timeline = timeline(Holds::Tid, &log);
        for (when, letter, kept) in there {
            let found = byte(&timeline, now, letter.into(), 0);
            prop_assert!(found.is_none() || found == Some(letter));
            if when.contains(&now) {
                prop_assert_eq!(found.is_some(), kept > 0, "{} {} in {}", now, letter, log);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9@a-z_= \n#]{0,200}") {
        let _ = Log::parse("log", &text);
    }
}
