//! Linux programs that use the files of this process.

use crate::linux::Caller;
use hartrace_iss::{Exit, Xlen};
use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, process};

const HERE: u64 = -100_i64 as u64;

/// A folder that is removed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("hartrace-iss-{name}-{}", process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path.canonicalize().expect("it is there"))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("text").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A caller that shares files, with pipes to its standard input and from its standard output.
fn caller(xlen: Xlen, stop: fn() -> Option<i32>) -> (Caller, PipeWriter, PipeReader) {
    let mut caller = Caller::new(xlen);
    let ((input, writer), (reader, output)) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
    let null = File::options().write(true).open("/dev/null").expect("it is there");
    let [input, output] = [OwnedFd::from(input), output.into()].map(File::from);
    let streams = [input, output, null];
    caller.hart.share("/bin/sh".as_ref(), streams, stop).expect("a folder");
    (caller, writer, reader)
}

fn quiet(xlen: Xlen) -> (Caller, PipeWriter, PipeReader) {
    caller(xlen, || None)
}

#[test]
fn streams_are_read_and_written() {
    for xlen in [Xlen::Rv64, Xlen::Rv32] {
        let (mut caller, mut writer, mut reader) = quiet(xlen);
        let buffer = Caller::BUFFER;
        writer.write_all(b"typed").expect("room");
        // What is there, not what fits.
        assert_eq!(caller.call(63, &[0, buffer, 4]), 4);
        assert_eq!(caller.call(63, &[0, buffer + 4, 100]), 1);
        assert_eq!(caller.bytes(buffer, 5), b"typed");
        assert_eq!(caller.call(64, &[1, buffer + 1, 3]), 3);
        let mut found = [0; 3];
        reader.read_exact(&mut found).expect("three bytes");
        assert_eq!(&found, b"ype");
        // Neither way round, and nowhere.
        assert_eq!(caller.call(64, &[0, buffer, 1]), -9);
        assert_eq!(caller.call(63, &[1, buffer, 1]), -9);
        assert_eq!(caller.call(63, &[0, 16, 1]), -14);
        assert_eq!(caller.call(64, &[1, 16, 1]), -14);
        assert_eq!(caller.call(64, &[1, u64::MAX, u64::MAX]), -14);
        assert_eq!(caller.call(64, &[1, 16, 0]), 0);
        assert_eq!(caller.call(63, &[7, buffer, 1]), -9);
        // It is no terminal, and says how much can be read.
        writer.write_all(b"ab").expect("room");
        assert_eq!(caller.call(29, &[0, 0x5401, buffer]), -25);
        assert_eq!(caller.call(29, &[0, 0x541b, buffer]), 0);
        assert_eq!(caller.bytes(buffer, 4), [2, 0, 0, 0]);
        drop(writer);
        assert_eq!(caller.call(63, &[0, buffer, 9]), 2);
        assert_eq!(caller.call(63, &[0, buffer, 9]), 0);
    }
}

/// The calls that RV32 makes in another way: offsets in two registers, and `statx` only.
#[test]
fn offsets_and_structures() {
    for xlen in [Xlen::Rv64, Xlen::Rv32] {
        let folder = Folder::new(if xlen == Xlen::Rv64 { "offsets-64" } else { "offsets-32" });
        fs::write(folder.path("a"), "0123456789").expect("room");
        fs::set_permissions(folder.path("a"), PermissionsExt::from_mode(0o640)).expect("ours");
        let (mut caller, _writer, _reader) = quiet(xlen);
        let (buffer, name) = (Caller::BUFFER, caller.name(&folder.path("a")));
        let file = caller.call(56, &[HERE, name, 2, 0]) as u64;
        assert_eq!(file, 3);
        let halves = |offset: i64| match xlen {
            Xlen::Rv64 => vec![offset as u64],
            Xlen::Rv32 => vec![offset as u64 & 0xffff_ffff, (offset as u64) >> 32],
        };
        let at = |first: &[u64], offset| [first, &halves(offset)].concat();
        assert_eq!(caller.call(67, &at(&[file, buffer, 3], 4)), 3);
        assert_eq!(caller.bytes(buffer, 3), b"456");
        assert_eq!(caller.call(67, &at(&[file, buffer, 3], 1 << 33)), 0);
        assert_eq!(caller.call(67, &at(&[file, buffer, 3], -1)), -22);
        assert_eq!(caller.call(68, &at(&[file, buffer, 1], 8)), 1);
        assert_eq!(caller.call(46, &at(&[file], 9)), 0);
        assert_eq!(fs::read(folder.path("a")).expect("a file"), b"012345674");
        let found = fs::metadata(folder.path("a")).expect("a file");
        assert_eq!(caller.call(291, &[HERE, name, 0, 0x7ff, buffer]), 0);
        let number = |at: u64, size: u64| {
            let bytes = caller.bytes(buffer + at, size).iter().rev();
            bytes.fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        assert_eq!((number(40, 8), number(32, 8)), (9, found.ino()));
        assert_eq!((number(28, 2), number(16, 4)), (0o100640, 1));
        assert_eq!(number(112, 8) as i64, found.mtime());
        assert_eq!(u64::from(number(120, 4) as u32) as i64, found.mtime_nsec());
        // By descriptor, with an empty path.
        assert!(caller.hart.write_memory(buffer, &[0; 256]));
        let empty = caller.name("");
        assert_eq!(caller.call(291, &[file, empty, 0x1000, 0x7ff, buffer]), 0);
        assert_eq!(caller.bytes(buffer + 40, 8), 9u64.to_le_bytes());
        assert_eq!(caller.call(291, &[file, empty, 0, 0x7ff, buffer]), -2);
    }
}

/// Copies share a position, and each has its own end.
#[test]
fn descriptors_are_numbers_of_the_program() {
    let folder = Folder::new("descriptors");
    fs::write(folder.path("a"), "0123456789").expect("room");
    let (mut caller, _writer, _reader) = quiet(Xlen::Rv64);
    let (buffer, name) = (Caller::BUFFER, caller.name(&folder.path("a")));
    assert_eq!(caller.call(57, &[0]), 0);
    // The first that is free.
    assert_eq!(caller.call(56, &[HERE, name, 0, 0]), 0);
    assert_eq!(caller.call(23, &[0]), 3);
    assert_eq!(caller.call(25, &[0, 0, 10]), 10);
    assert_eq!(caller.call(24, &[0, 5, 0o200_0000]), 5);
    assert_eq!((caller.call(25, &[5, 1]), caller.call(25, &[10, 1])), (1, 0));
    assert_eq!((caller.call(25, &[5, 2, 0]), caller.call(25, &[5, 1])), (0, 0));
    assert_eq!(caller.call(24, &[0, 0, 0]), -22);
    assert_eq!(caller.call(24, &[0, 1024, 0]), -9);
    assert_eq!(caller.call(24, &[77, 4, 0]), -9);
    assert_eq!(caller.call(25, &[0, 0, 5000]), -22);
    for (descriptor, expected) in [(0, b'0'), (3, b'1'), (10, b'2'), (5, b'3')] {
        assert_eq!(caller.call(63, &[descriptor, buffer, 1]), 1);
        assert_eq!(caller.bytes(buffer, 1), [expected]);
        assert_eq!(caller.call(57, &[descriptor]), 0);
        assert_eq!(caller.call(57, &[descriptor]), -9);
    }
    // As many as there may be.
    let opened = (0..2000).map(|_| caller.call(56, &[HERE, name, 0, 0]));
    assert_eq!(opened.max(), Some(1023));
    assert_eq!(caller.call(56, &[HERE, name, 0, 0]), -24);
}

/// What leads into the process of the hart leads to the program.
#[test]
fn the_process_is_that_of_the_program() {
    let (mut caller, _writer, mut reader) = quiet(Xlen::Rv64);
    let buffer = Caller::BUFFER;
    let own = format!("/proc/{}/environ", process::id());
    for name in ["/proc/self/maps", "/proc/self/environ", "/proc/thread-self/stat", &own] {
        let name = caller.name(name);
        assert_eq!(caller.call(56, &[HERE, name, 0, 0]), -2);
        assert_eq!(caller.call(48, &[HERE, name, 4]), -2);
    }
    let name = caller.name("/proc/self/exe");
    let length = caller.call(78, &[HERE, name, buffer, 100]) as u64;
    let program = fs::canonicalize("/bin/sh").expect("a shell");
    assert_eq!(caller.bytes(buffer, length), program.to_str().expect("text").as_bytes());
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let name = caller.name(name);
        let copy = caller.call(56, &[HERE, name, 1, 0]) as u64;
        assert!(copy > 2);
        assert_eq!(caller.call(64, &[copy, name, 4]), 4);
        let mut found = [0; 4];
        reader.read_exact(&mut found).expect("four bytes");
        assert_eq!(&found[..2], &b"/d/p"[if found[1] == b'd' { 0..2 } else { 2..4 }]);
    }
}

#[test]
fn waiting_for_several_streams() {
    let (mut caller, mut writer, _reader) = quiet(Xlen::Rv64);
    let buffer = Caller::BUFFER;
    let entry = |number: i32, events: u16| {
        [&number.to_le_bytes()[..], &events.to_le_bytes(), &[0xff; 2]].concat()
    };
    // Standard input for reading, standard output for writing, none, and one that is not open.
    let table = [entry(0, 1), entry(1, 4), entry(-1, 1)].concat();
    assert!(caller.hart.write_memory(buffer, &table));
    assert!(caller.hart.write_memory(buffer + 64, &[0; 16]));
    let revents = |caller: &Caller, n: u64| caller.bytes(buffer + 8 * n + 6, 1)[0];
    assert_eq!(caller.call(73, &[buffer, 3, 0, 0]), 1);
    assert_eq!([0, 1, 2].map(|n| revents(&caller, n)), [0, 4, 0]);
    // Nothing, at once.
    assert_eq!(caller.call(73, &[buffer, 1, buffer + 64, 0]), 0);
    writer.write_all(b"x").expect("room");
    assert_eq!(caller.call(73, &[buffer, 1, 0, 0]), 1);
    assert!(caller.hart.write_memory(buffer, &entry(55, 1)));
    assert_eq!(caller.call(73, &[buffer, 1, 0, 0]), 1);
    assert_eq!(revents(&caller, 0), 0x20);
    assert_eq!(caller.call(73, &[buffer, u64::MAX, 0, 0]), -22);
}

#[test]
fn a_run_can_be_ended_while_the_program_waits() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    let stop = || ENDS.load(Ordering::Relaxed).then_some(15);
    let buffer = Caller::BUFFER;
    // For input, for a place to write to, for either.
    for call in [[63, 0, buffer, 1], [64, 1, buffer, 1 << 20], [73, buffer + 8, 1, 0]] {
        ENDS.store(false, Ordering::Relaxed);
        let (mut caller, _writer, _reader) = caller(Xlen::Rv64, stop);
        assert!(caller.hart.write_memory(buffer + 8, &[0, 0, 0, 0, 1, 0, 0, 0]));
        let ending = std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(150));
            ENDS.store(true, Ordering::Relaxed);
        });
        assert_eq!(caller.ends(call[0], &call[1..]), Exit::Killed(15), "{call:?}");
        assert!(ENDS.load(Ordering::Relaxed), "{call:?} did not wait");
        ending.join().expect("it ends");
    }
    // A descriptor that does not wait.
    ENDS.store(false, Ordering::Relaxed);
    let (mut caller, _writer, reader) = self::caller(Xlen::Rv64, stop);
    assert_eq!(caller.call(25, &[0, 4, 0o4000]), 0);
    assert_eq!(caller.call(25, &[0, 3]), 0o4000);
    assert_eq!(caller.call(63, &[0, buffer, 1]), -11);
    // Nobody reads any more.
    drop(reader);
    assert_eq!(caller.ends(64, &[1, buffer, 1]), Exit::Killed(13));
}

/// Whatever a program asks, there is an answer.
#[test]
fn calls_with_any_arguments() {
    let folder = Folder::new("any");
    let mut random = fastrand::Rng::with_seed(7);
    for xlen in [Xlen::Rv64, Xlen::Rv32] {
        let (mut caller, _writer, _reader) = quiet(xlen);
        let name = caller.name(&folder.path(""));
        assert_eq!(caller.call(49, &[name]), 0);
        let name = caller.name("x");
        // Those that would wait for ever, end the run, or leave the folder.
        let avoided = [
            49, 50, 63, 64, 65, 66, 71, 72, 73, 81, 93, 94, 98, 101, 103, 115, 129, 130, 131, 133,
            137, 139, 220, 407, 413, 414, 421, 422, 435,
        ];
        for _ in 0..20_000 {
            let number = random.u64(0..450);
            if avoided.contains(&number) {
                continue;
            }
            let mut argument = || match random.u8(0..8) {
                0 => name,
                1 => Caller::BUFFER,
                2 => HERE,
                3 => random.u64(..),
                // Its code is at 1 << 16.
                4 => 1 << Some(random.u8(0..64)).filter(|bit| *bit != 16).unwrap_or(17),
                _ => random.u64(0..6),
            };
            let arguments: [u64; 6] = std::array::from_fn(|_| argument());
            caller.call(number, &arguments);
        }
    }
}
