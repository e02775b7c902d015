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
    let space = timeline.space(now, Some(context))?;
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
    // What is returned ends where something else lies over it, or behind it.
    let code = |now, address| timeline.code(timeline.space(now, Some(1)).unwrap(), address);
    assert_eq!(code(10, 0), Code { bytes: Some(b"aaaa"), length: 4 });
    assert_eq!(code(10, 6), Code { bytes: Some(b"aa"), length: 2 });
    assert_eq!(code(30, 0), Code { bytes: None, length: 4 });
    assert_eq!(byte(&timeline, 39, 1, 0x20), Some('l'));
    assert_eq!(byte(&timeline, 40, 1, 0x20), None);
}

#[test]
fn all_versions_at_once() {
    let log = "0 declare_process state=CURRENT pid=1 base_address=0 image_file=a\n\
               10 declare_thread state=START tid=5 pid=1\n\
               20 patch_code pid=1 start_address=4 length=2 code=7071\n\
               30 patch_code pid=1 start_address=0 length=4\n";
    let timeline = timeline(Holds::Tid, log);
    let spaces = timeline.spaces();
    let listed: Vec<_> = spaces.iter().map(|(context, since, _)| (*context, *since)).collect();
    let one = [0, 20, 30].map(|since| (Some(1), since));
    // Before it was a thread of the first one, the fifth is not known.
    let five = [0, 10, 20, 30].map(|since| (Some(5), since));
    assert_eq!(listed, [&[(None, 0)][..], &one, &five].concat());
    for (context, since, space) in spaces {
        assert_eq!(timeline.space(since, context), Some(space));
        let mut found = [None; 16];
        for (start, bytes) in timeline.segments(space) {
            for (to, byte) in found[start as usize..].iter_mut().zip(bytes) {
                assert_eq!(to.replace(char::from(*byte)), None, "an overlap");
            }
        }
        let expected = |at| context.and_then(|context| byte(&timeline, since, context, at));
        assert_eq!(
            found.to_vec(),
            (0..16).map(expected).collect::<Vec<_>>(),
            "{context:?} {since}"
        );
    }
}

#[test]
fn all_see_the_kernel_and_its_patches() {
    let log = "0 declare_process state=CURRENT pid=0 base_address=0x1000 image_file=k\n\
               0 declare_process state=CURRENT pid=1 base_address=0 image_file=a\n\
               10 patch_code pid=0 start_address=0x1000 length=1 code=50\n";
    let timeline = timeline(Holds::Asid, log);
    for context in [Some(1), Some(77), None] {
        let at = |now| {
            let space = timeline.space(now, context).unwrap();
            timeline.code(space, 0x1000).bytes.map(|bytes| bytes[0])
        };
        assert_eq!((at(9), at(10)), (Some(b'k'), Some(b'P')), "{context:?}");
    }
    // Which process it is is not known: nothing is guessed.
    assert_eq!(byte(&timeline, 9, 1, 0), None);
}

#[test]
fn logs_that_lack_their_start() {
    let process = "declare_process state=CURRENT pid=1 base_address=0 image_file=a";
    // A list of what is there at the end.
    let last = timeline(Holds::Tid, &format!("900 {process}"));
    assert_eq!(byte(&last, 0, 1, 0), Some('a'));
    // Only its end is known.
    let ended = timeline(Holds::Tid, &format!("900 {}", process.replace("CURRENT", "END")));
    assert_eq!((byte(&ended, 899, 1, 0), byte(&ended, 900, 1, 0)), (Some('a'), None));
    // Another one with the same number ended before: it cannot have been there earlier.
    let other = process.replace("CURRENT", "END").replace("=a", "=b");
    let reused = timeline(Holds::Tid, &format!("100 {other}\n900 {process}"));
    let at = |now| byte(&reused, now, 1, 0);
    assert_eq!((at(99), at(100), at(900)), (Some('b'), Some('a'), Some('a')));
    let missing =
        timeline(Holds::Tid, &process.replace("=a", "=none").replace("declare", "1 declare"));
    assert_eq!(byte(&missing, 5, 1, 0), None);
    assert_eq!(missing.missing, ["image none"]);
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
    assert_eq!((log.events.len(), log.ignored.len(), log.clock), (0, 1, Clock::Position));
}

proptest! {
    /// Whatever events of a process are lost, what is told of it is never wrong: between its start and its
    /// end there is its code, or none if all of them are lost.
    #[test]
    fn any_part_of_a_log(
        spans in prop::collection::vec((1u64..50, 1u64..50), 1..6),
        lost: u32,
        now in 0u64..300,
    ) {
        // One after the other, each with a number and an image of its own.
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
