//! What is wrong with a package, or worth knowing: gaps, images that are others, triggers and flushes.

use crate::{Made, clean, decode, package};
use std::fs::{self, File};
use std::process::Command;

fn message(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A gap names the packet, by the number that it has among those of its source.
#[test]
fn gaps_name_their_packet() {
    let mut gaps = 0;
    for seed in 20..26 {
        let (made, _) = package("gaps", seed);
        fs::write(made.0.join("system-event-log"), "").unwrap();
        let packets = clean(&decode(&made.0, &["--emit", "packets"]));
        let packets: Vec<&str> = packets.lines().collect();
        assert!(packets.iter().all(|packet| !packet.ends_with("I_NOT_SYNC")));
        for line in message(&decode(&made.0, &["--emit", "pcs"])).lines() {
            let Some((_, rest)) = line.split_once("gap at byte ") else { continue };
            for place in rest.split("resumed at byte ") {
                let (byte, rest) = place.split_once(", packet ").unwrap();
                let number: usize = rest.split([':', ';']).next().unwrap().trim().parse().unwrap();
                assert_eq!(packets[number].split('\t').next(), Some(byte), "{line}");
                gaps += usize::from(number > 0);
            }
        }
    }
    assert!(gaps > 20, "{gaps}");
}

/// Files that nobody has named on the command line are inputs too.
#[test]
fn no_file_of_a_package_is_destroyed() {
    let (made, ranges) = package("destroyed", 7);
    let read = |file: &str| fs::read(made.0.join(file)).unwrap();
    let hartrace = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
        command.args(words).arg("--snapshot").arg(&made.0).current_dir(&made.0);
        command
    };
    fs::create_dir(made.0.join("links")).unwrap();
    for file in
        ["contents.ini", "trace.ini", "t.bin", "code.bin", "library.bin", "system-event-log"]
    {
        let before = read(file);
        let link = format!("links/{file}");
        fs::hard_link(made.0.join(file), made.0.join(&link)).unwrap();
        for output in [file, &link] {
            for command in [&["report"][..], &["export", "--to", "folded"]] {
                let ended = hartrace(&[command, &["-o", output]].concat()).output().unwrap();
                assert_eq!(ended.status.code(), Some(2), "{output}: {}", message(&ended));
                assert!(message(&ended).contains("is an input of the same command"), "{output}");
                assert!(read(file) == before, "{command:?} {output}");
            }
        }
        let out = File::options().append(true).open(made.0.join(file)).unwrap();
        let ended = hartrace(&["decode", "--emit", "ranges"]).stdout(out).output().unwrap();
        assert_ne!(ended.status.code(), Some(0), "{file}");
        assert!(message(&ended).contains("would be destroyed"), "{file}: {}", message(&ended));
        assert!(read(file) == before, "appended to {file}");
    }
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), ranges);
}

/// An ELF file with code and an identifier, each in a segment.
fn elf(code: &[u8], id: &[u8; 20]) -> Vec<u8> {
    let note = [&[4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", id].concat();
    let header = 64 + 2 * 56;
    let mut file = vec![0; header];
    file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
    let mut put = |at: usize, value: u64, len: usize| {
        file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    for (at, value) in [(16, 3), (18, 183), (52, 64), (54, 56), (56, 2), (58, 64)] {
        put(at, value, 2);
    }
    put(20, 1, 4); // e_version
    put(32, 64, 8); // e_phoff
    let segments = [(1, header, code.len(), 4), (4, header + code.len(), note.len(), 4)];
    for ((kind, offset, size, align), at) in segments.into_iter().zip([64, 64 + 56]) {
        put(at, kind, 4);
        put(at + 8, offset as u64, 8);
        put(at + 32, size as u64, 8);
        put(at + 40, size as u64, 8);
        put(at + 48, align, 8);
    }
    [&file[..], code, &note].concat()
}

/// An image with another identifier than the log has is not believed, even where other code is below.
#[test]
fn images_of_the_same_name() {
    let (made, ranges) = package("uuid", 4);
    let code = fs::read(made.0.join("library.bin")).unwrap();
    fs::write(made.0.join("library.bin"), elf(&code, b"\x01\x23456789abcdefghijkl")).unwrap();
    let log = made.0.join("system-event-log");
    let line = fs::read_to_string(&log).unwrap();
    let line = line.trim_end();
    let id = "0123-3435-36373839616263646566-6768696A6b6c";
    fs::write(&log, format!("{line} uuid={id}\n")).unwrap();
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), ranges);
    let other = id.replace("0123", "0124");
    fs::write(&log, format!("{line} uuid={other}\n")).unwrap();
    let output = decode(&made.0, &["--emit", "ranges"]);
    let told = message(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let expected = "gap: event log: image library.bin has build-id 0123";
    assert!(told.contains(expected) && told.contains(&other), "{told}");
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!found.is_empty() && found.lines().count() < ranges.lines().count());
    // Nothing of it is followed, although memory has the same code at its addresses.
    let contents = fs::read_to_string(made.0.join("contents.ini")).unwrap();
    let base = line.split("base_address=").nth(1).unwrap().split(' ').next().unwrap();
    fs::write(made.0.join("code2.bin"), &code).unwrap();
    let more = format!("{contents}[dump2]\nfile=code2.bin\naddress={base}\n");
    fs::write(made.0.join("contents.ini"), more).unwrap();
    assert_eq!(decode(&made.0, &["--emit", "ranges"]).stdout, output.stdout);
    fs::write(&log, "").unwrap();
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), ranges);
    // Bare code has no identifier.
    fs::write(made.0.join("library.bin"), &code).unwrap();
    fs::write(&log, format!("{line} uuid={id}\n")).unwrap();
    let output = decode(&made.0, &["--emit", "ranges"]);
    assert_eq!(clean(&output), ranges);
    assert!(message(&output).contains("no build-id to compare"), "{}", message(&output));
}

/// Triggers and flushes are neither lost nor taken for trace.
#[test]
fn triggers_and_flushes() {
    let (made, ranges) = package("triggers", 5);
    let metadata = fs::read_to_string(made.0.join("trace.ini")).unwrap();
    let plain = metadata.replace("wrapped: 1", "wrapped: 0");
    let oldest = metadata.split("write_pointer: ").nth(1).unwrap().lines().next().unwrap();
    let mut frames = fs::read(made.0.join("t.bin")).unwrap();
    frames.rotate_left(oldest.parse().unwrap());
    // A frame with trigger 5, a flush, and padding; then the source goes on, in a frame that names it.
    let middle = frames.len() / 32 * 16;
    let mark = [0xfb, 5, 0xf7, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0x21, 0];
    let marked = [&frames[..middle], &mark, &frames[middle..]].concat();
    let plain = plain.replace(oldest, &marked.len().to_string());
    fs::write(made.0.join("trace.ini"), plain).unwrap();
    fs::write(made.0.join("t.bin"), marked).unwrap();
    assert_eq!(clean(&decode(&made.0, &["--emit", "ranges"])), ranges);
    let (trigger, flush) = (middle, middle + 2);
    let elements = clean(&decode(&made.0, &["--emit", "elements"]));
    for line in
        [format!("{trigger}\t7d\tFRAME_TRIGGER(0x05)"), format!("{flush}\t7b\tFRAME_FLUSH()")]
    {
        assert_eq!(elements.lines().filter(|other| *other == line).count(), 1, "{line}");
    }
    let packets = clean(&decode(&made.0, &["--emit", "packets"]));
    let marks: Vec<&str> = packets.lines().filter(|line| line.contains("\tFRAME_")).collect();
    assert_eq!(
        marks,
        [format!("{trigger}\t7d\t05\tFRAME_TRIGGER"), format!("{flush}\t7b\t\tFRAME_FLUSH")]
    );
    // In their place.
    let at = packets.lines().position(|line| line == marks[0]).unwrap();
    let index = |line: &str| line.split('\t').next().unwrap().parse::<usize>().unwrap();
    let all: Vec<usize> = packets.lines().map(index).collect();
    assert!(all[at - 1] < trigger && all[at + 2] + 40 >= trigger, "{:?}", &all[at - 1..at + 3]);
    let json = clean(&decode(&made.0, &["--emit", "json"]));
    let line = format!(r#"{{"byte":{trigger},"event":"trigger","number":5}}"#);
    assert!(json.lines().any(|other| other == line));
}

/// DS-5 writes both files; the snapshot is the one that describes the sources.
#[test]
fn a_snapshot_that_is_also_a_package() {
    let (made, _) = package("both", 6);
    let Made(folder) = &made;
    fs::write(folder.join("snapshot.ini"), "[device_list]\na=none.ini\n").unwrap();
    let output = decode(folder, &["--emit", "packets"]);
    assert!(message(&output).contains("none.ini"), "{}", message(&output));
}

/// A buffer without a synchronisation is not passed over in silence.
#[test]
fn no_synchronisation() {
    let (made, _) = package("silence", 13);
    let metadata = fs::read_to_string(made.0.join("trace.ini")).unwrap();
    fs::write(made.0.join("trace.ini"), metadata.replace("wrapped: 1", "wrapped: 0")).unwrap();
    // Frames of source 16 with atoms only.
    let frame = [
        0x21, 0xf7, 0xf6, 0xf7, 0xf6, 0xf7, 0xf6, 0xf7, 0xf6, 0xf7, 0xf6, 0xf7, 0xf6, 0xf7, 0xf6, 0,
    ];
    fs::write(made.0.join("t.bin"), frame.repeat(1000)).unwrap();
    for emit in ["pcs", "ranges", "elements", "edges", "listing", "json"] {
        let output = decode(&made.0, &["--emit", emit]);
        let told = message(&output);
        assert_eq!(output.status.code(), Some(1), "{emit}: {told}");
        assert!(told.contains("gap"), "{emit}: {told}");
    }
}
