//! What a recording lacks: gaps and errors that say where.

use crate::*;

/// A recording of one CPU: what `write` adds to its description and mapping.
struct One {
    made: Made,
    ran: Ran,
    frames: Vec<u8>,
    writer: Writer,
}

impl One {
    fn new(name: &str, seed: u64) -> Self {
        let made = Made::new(name);
        let mut rng = Rng::with_seed(seed);
        let [program] = programs(&mut rng, true);
        let path = made.write("a", &file(&program));
        let ran = run(&ETM, Ids { context: 100, vmid: 0 }, &program, &mut rng);
        let frames = frames(&[(0x10, &ran.trace[..])]);
        let mut writer = Writer::new();
        writer.info(3, &coresight_info(1, false, &[(ETMV4, 0, words(&ETM, 0x10))]));
        writer.mmap(stamp(0, 0), map(100, &program, &path));
        Self { made, ran, frames, writer }
    }

    fn decode(&self, more: &[&str]) -> Output {
        decode(&self.made.write("perf.data", &self.writer.file()), more)
    }

    fn size(&self) -> u64 {
        self.frames.len() as u64
    }
}

/// The buffer was full: everything before is there, and a gap says what is not.
#[test]
fn truncated_and_partial() {
    for (flags, what) in [(1, "the buffer of the recording was full"), (4, "trace was lost within")]
    {
        let mut one = One::new(&format!("truncated-{flags}"), 20);
        let size = one.size();
        one.writer.auxtrace(0, 0, 0, &one.frames).aux(stamp(9, 0), 0, size, flags);
        let output = one.decode(&["--emit", "blocks"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(message(&output).contains(what), "{}", message(&output));
        let output = one.decode(&["--emit", "ranges"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(printed(&output), lines(0x10, &one.ran.ranges));
        // The gap is at the last byte of the piece.
        let elements = printed(&one.decode(&["--emit", "elements"]));
        let fault = elements.lines().last().unwrap();
        assert!(fault.contains(what), "{fault}");
        let byte: usize = fault.split('\t').next().unwrap().parse().unwrap();
        let data = one.writer.file();
        let start = data.windows(one.frames.len()).position(|part| part == one.frames).unwrap();
        assert!(
            (start + one.frames.len() - 16..start + one.frames.len()).contains(&byte),
            "{byte}"
        );
    }
    // Even if nothing at all was recorded.
    let mut one = One::new("truncated-all", 21);
    let size = one.size();
    one.writer.auxtrace(0, 0, 0, &one.frames).aux(stamp(8, 0), 0, 0, 1);
    one.writer.aux(stamp(9, 0), 0, size, 0);
    let output = one.decode(&["--emit", "ranges"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("trace was lost before"), "{}", message(&output));
    assert_eq!(printed(&output), lines(0x10, &one.ran.ranges));
}

/// Bytes without a record, records without bytes, numbers without a CPU.
#[test]
fn what_does_not_fit_together() {
    let mut one = One::new("unfit", 22);
    let size = one.size();
    let other = frames(&[(0x33, &[0x55; 100])]);
    one.writer.auxtrace(0, 0, 0, &[&one.frames[..], &other, &[0; 32]].concat());
    one.writer.aux(stamp(9, 0), 0, size, 0);
    one.writer.aux(stamp(10, 0), size, other.len() as u64, 0);
    one.writer.aux(stamp(11, 0), 0x10_0000, 48, 0);
    let output = one.decode(&["--emit", "ranges"]);
    let message = message(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(printed(&output), lines(0x10, &one.ran.ranges));
    let gaps: Vec<&str> = message.lines().filter(|line| line.starts_with("gap: byte ")).collect();
    let expected = [
        "32 bytes are in no AUX record",
        "48 bytes of this AUX record are not in the recording",
        "100 bytes of trace ID 0x33, which no CPU has",
    ];
    assert_eq!(gaps.len(), expected.len(), "{message}");
    for (gap, expected) in gaps.iter().zip(expected) {
        assert!(gap.contains(expected), "{gap}");
    }
}

#[test]
fn what_is_refused() {
    let made = Made::new("refused");
    let refused = |bytes: &[u8], status: i32, what: &str| {
        let output = decode(&made.write("perf.data", bytes), &["--emit", "ranges"]);
        assert_eq!(output.status.code(), Some(status), "{}", message(&output));
        assert!(message(&output).contains(what), "{}", message(&output));
    };
    refused(b"\x7fELF", 3, "perf.data: byte 0: this is no recording of perf");
    refused(&Writer::new().file(), 3, "no hardware trace");
    refused(&Writer::new().info(1, &[0]).file(), 3, "Intel PT");
    let mut cut = Writer::new().info(3, &[1, 0, 0]).file();
    cut.truncate(cut.len() - 10);
    refused(&cut, 3, "but the file has");
    refused(&Writer::new().info(3, &[1, 0, 0]).bare(81).file(), 3, "perf record without -z");
    refused(&Writer::new().info(3, &[1, 0, 0]).file(), 3, "no ETMv4, ETE or PTM trace");
    // ETMv3, which shares its description with PTM; and registers that the kernel did not provide.
    let etmv3 = (ETMV3, 0, vec![0, 0x10, 0, 0x411c_f250]);
    let unread = (ETMV4, 0, vec![0, 0x10, 0, 0, 0, 0, 0]);
    for (unit, what) in [(etmv3, "ETMv3 is not supported"), (unread, "lacks registers")] {
        let frames = frames(&[(0x10, &[0; 50])]);
        let mut writer = Writer::new();
        writer.info(3, &coresight_info(1, false, &[unit])).auxtrace(0, 0, 0, &frames);
        writer.aux(stamp(1, 0), 0, frames.len() as u64, 0);
        refused(&writer.file(), 3, what);
    }
}
