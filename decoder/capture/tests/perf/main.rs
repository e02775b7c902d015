//! Recordings of perf, as a generator writes them that shares nothing with the reader.

mod hostile;

use hartrace_capture::perf::{
    Coresight, Error, EtmRegisters, Finder, Given, HwId, Missing, Piece, Recording, Riscv,
    RiscvCpu, RiscvLayout, Trace, Unit,
};
use hartrace_spaces::{Event, Holds, Image, Timeline};
use hartrace_tests::perf::{ETE, ETMV3, ETMV4, Map, Stamp, Writer, coresight_info};

fn at(time: u64) -> Stamp {
    Stamp { time, cpu: 0, pid: 10, tid: 10 }
}

fn map(address: u64, length: u64, pgoff: u64, path: &str) -> Map<'_> {
    Map { pid: 10, tid: 10, address, length, pgoff, path }
}

/// Two units of version 1.
fn two_units() -> Vec<u64> {
    let registers = vec![0x840, 0x10, 0x2800_02a0, 0x4100_f420, 0x1000_0488, 0, 0xcc];
    let other = vec![0x840, 0x12, 1, 2, 3, 4, 5, 6, 7];
    coresight_info(1, false, &[(ETMV4, 0, registers), (ETE, 3, other)])
}

/// Everything that is read.
fn full() -> Writer {
    let mut writer = Writer::new();
    writer
        .arch("aarch64")
        .cpus(4)
        .pmus(&[(8, "cs_etm"), (4, "cpu")])
        .build_ids(&[("/lib/b.so", [7; 20])])
        .info(3, &two_units())
        .comm(at(0), "program", false)
        .mmap(at(0), map(0x1000, 0x100, 0, "/bin/a"))
        .mmap2(at(50), map(0x5000, 0x100, 0x1000, "/lib/b.so"), None)
        .mmap2(at(60), map(0x7000, 0x100, 0, "/lib/c.so"), Some(&[1, 2, 3]))
        .itrace_start(at(70))
        .hw_id(Stamp { cpu: 3, ..at(70) }, 0x0100_0000_0000_2a15)
        .aux(at(100), 0, 20, 0)
        .aux(Stamp { cpu: 3, ..at(90) }, 0, 5, 0x100 | 1)
        .bare(68)
        .auxtrace(0, 10, 0, &[1; 20])
        .auxtrace(3, 10, 0, &[2; 5])
        .aux(at(200), 20, 8, 4)
        .exit(at(210))
        .auxtrace(0, 10, 20, &[3; 8]);
    writer
}

#[test]
fn files_and_pipes_say_the_same() {
    for file in [full().file(), full().pipe()] {
        let recording = Recording::read(file).unwrap();
        let first = EtmRegisters::Etmv4 {
            configr: 0x840,
            idr: [0x2800_02a0, 0x4100_f420, 0x1000_0488, 0],
            devarch: None,
        };
        let second = EtmRegisters::Etmv4 { configr: 0x840, idr: [1, 2, 3, 4], devarch: Some(6) };
        let units = vec![
            Unit { cpu: 0, trace_id: 0x10, registers: first },
            Unit { cpu: 3, trace_id: 0x12, registers: second },
        ];
        let expected = Trace::Coresight(Coresight { version: 1, snapshot: false, units });
        assert_eq!(recording.trace, expected);
        assert_eq!((recording.arch.as_deref(), recording.cpus), (Some("aarch64"), Some(4)));
        let [HwId { cpu: 3, .. }] = recording.hw_ids[..] else { panic!("{:?}", recording.hw_ids) };
        assert_eq!(recording.hw_ids[0].coresight(), Some((0x15, Some(0x2a))));
        let piece = |piece: &Piece| {
            let bytes = recording.bytes(piece).into_owned();
            (piece.cpu, piece.time, bytes, piece.format, piece.truncated, piece.partial)
        };
        let pieces: Vec<_> = recording.pieces.iter().map(piece).collect();
        let expected = [
            (Some(3), Some(90), vec![2; 5], 1, true, false),
            (Some(0), Some(100), vec![1; 20], 0, false, false),
            (Some(0), Some(200), vec![3; 8], 0, false, true),
        ];
        assert_eq!(pieces, expected);
        assert!(recording.missing.is_empty() && recording.warnings.is_empty(), "{recording:?}");
        // All mappings, with their identities.
        let mapped = |(time, event): &(u64, Event)| match event {
            Event::Mapped { pid: 10, base, image, .. } => Some((*time, *base, image.clone())),
            _ => None,
        };
        let images: Vec<_> = recording.log.events.iter().filter_map(mapped).collect();
        let image = |file: &str, uuid: Option<&str>, pgoff| Image {
            file: file.to_owned(),
            uuid: uuid.map(str::to_owned),
            part: Some((pgoff, 0x100)),
        };
        let expected = [
            (0, 0x1000, image("/bin/a", None, 0)),
            (50, 0x5000, image("/lib/b.so", Some(&"07".repeat(20)), 0x1000)),
            (60, 0x7000, image("/lib/c.so", Some("010203"), 0)),
        ];
        assert_eq!(images, expected);
    }
}

#[test]
fn versions_of_the_description() {
    let ptm = vec![0x1000, 0x10, 0x34c0_1ac2, 0x411c_f312];
    let etm = vec![0x840, 0x8000_0011, 1, 2, 3, 4, 5];
    for version in [0, 1, 2] {
        let units = [(ETMV3, 5, ptm.clone()), (ETMV4, 6, etm.clone())];
        let words = coresight_info(version, true, &units);
        let read = Recording::read(Writer::new().info(3, &words).file()).unwrap();
        let Trace::Coresight(found) = read.trace else { panic!("no CoreSight trace") };
        assert_eq!((u64::from(found.version), found.snapshot), (version, true));
        let [first, second] = found.units[..] else { panic!("{:?}", found.units) };
        let registers = EtmRegisters::Etmv3 { cr: 0x1000, ccer: 0x34c0_1ac2, idr: 0x411c_f312 };
        assert_eq!(first, Unit { cpu: 5, trace_id: 0x10, registers });
        assert_eq!((second.cpu, second.trace_id), (6, 0x8000_0011));
    }
    let read = |words: &[u64]| Recording::read(Writer::new().info(3, words).file()).unwrap_err();
    // An ETE has no place in version 0; version 3 is not known; units or registers are missing.
    let old = coresight_info(0, false, &[(ETE, 0, vec![0; 8])]);
    assert!(matches!(read(&old), Error::Value { value: ETE, .. }));
    assert!(matches!(read(&[3, 0, 0]), Error::Value { value: 3, .. }));
    assert!(matches!(read(&[1, u64::MAX, 0]), Error::Fields { .. }));
    let short = [1, 1, 0, ETMV4, 0, 6, 0, 0, 0, 0, 0, 0];
    assert!(matches!(read(&short), Error::Value { value: 6, .. }));
}

#[test]
fn layouts_of_riscv() {
    let read = |kind, words: &[u64], pmus: &[(u32, &str)], arch: &str| {
        Recording::read(Writer::new().arch(arch).pmus(pmus).info(kind, words).pipe())
    };
    let layout =
        |kind, words: &[u64], pmus: &[(u32, &str)]| match read(kind, words, pmus, "riscv64")
            .unwrap()
            .trace
        {
            Trace::Riscv(Riscv { layout, cpus }) => (layout, cpus),
            other => panic!("{other:?}"),
        };
    assert_eq!(layout(8, &[13], &[(13, "gtrace")]), (RiscvLayout::Gtrace, vec![]));
    for kind in [7, 8] {
        assert_eq!(layout(kind, &[13], &[(13, "rvtrace")]), (RiscvLayout::Rvtrace, vec![]));
    }
    let words = [13 << 32 | 2, 0, 5, 1, 1, 0, 2, 1, 4, 5, 1, 1, 1, 2, 3];
    let cpus = vec![
        RiscvCpu { cpu: 0, format: 1, src_bits: 2, src_id: 1 },
        RiscvCpu { cpu: 4, format: 1, src_bits: 0, src_id: 3 },
    ];
    assert_eq!(layout(7, &words, &[(13, "rvtrace")]), (RiscvLayout::Spacemit, cpus));
    // The same numbers on other machines.
    let error = read(7, &[13], &[(13, "vpa_dtl")], "ppc64le").unwrap_err();
    assert!(error.to_string().contains("VPA DTL"), "{error}");
    let error = read(1, &[0; 20], &[], "x86_64").unwrap_err();
    assert!(error.to_string().contains("Intel PT"), "{error}");
}

/// The bytes of all pieces, and what is missing: whether an AUX record names it, and how much it is.
fn cut(write: impl FnOnce(&mut Writer)) -> (Vec<Vec<u8>>, Vec<(bool, u64)>) {
    let mut writer = Writer::new();
    writer.info(3, &two_units());
    write(&mut writer);
    let recording = Recording::read(writer.file()).unwrap();
    let bytes = |piece: &Piece| recording.bytes(piece).into_owned();
    let missing = |missing: &Missing| match *missing {
        Missing::Bytes { count, .. } => (true, count),
        Missing::Record { count, .. } => (false, count),
    };
    let pieces = recording.pieces.iter().map(bytes).collect();
    (pieces, recording.missing.iter().map(missing).collect())
}

#[test]
fn bytes_are_cut_at_records() {
    let bytes: Vec<u8> = (0..40).collect();
    // A record may extend over two copies, and a copy may hold several records.
    let (pieces, missing) = cut(|writer| {
        writer.auxtrace(0, 10, 100, &bytes[..16]).auxtrace(0, 10, 116, &bytes[16..]);
        writer.aux(at(1), 100, 10, 0).aux(at(2), 110, 20, 0).aux(at(3), 130, 10, 0);
    });
    assert_eq!(pieces, [&bytes[..10], &bytes[10..30], &bytes[30..]]);
    assert_eq!(missing, []);
    // Copies are padded; the padding is neither trace nor missing.
    let (pieces, missing) = cut(|writer| {
        writer.auxtrace(0, 10, 0, &bytes[..13]).auxtrace(0, 10, 13, &bytes[13..29]);
        writer.aux(at(1), 0, 20, 0).aux(at(2), 20, 9, 0);
    });
    assert_eq!(pieces, [&bytes[..20], &bytes[20..29]]);
    assert_eq!(missing, []);
    // Bytes that are named twice count once; others are in no record, or in no copy.
    let (pieces, missing) = cut(|writer| {
        writer.auxtrace(0, 10, 0, &bytes);
        writer.aux(at(1), 8, 8, 0).aux(at(2), 12, 8, 0).aux(at(3), 90, 4, 0);
    });
    assert_eq!(pieces, [&bytes[8..16], &bytes[16..20], &[][..]]);
    assert_eq!(missing, [(false, 8), (true, 4), (false, 20), (true, 4)]);
}

#[test]
fn buffers_of_threads_and_snapshots() {
    let none = u32::MAX;
    let (pieces, missing) = cut(|writer| {
        writer.auxtrace(none, 10, 0, &[1; 8]).auxtrace(none, 11, 0, &[2; 8]);
        let other = Stamp { tid: 11, cpu: 1, ..at(1) };
        writer.aux(other, 0, 8, 0).aux(at(2), 0, 8, 0);
    });
    assert_eq!((pieces, missing), (vec![vec![2; 8], vec![1; 8]], vec![]));
    // The size is that of the buffer; there are as many bytes as were copied.
    let (pieces, missing) = cut(|writer| {
        writer.auxtrace(0, 10, 0x1000, &[1; 16]).aux(at(2), 0x77, 4096, 2);
    });
    assert_eq!((pieces, missing), (vec![vec![1; 16]], vec![]));
}

/// Which letter is at an address in a process; files are full of the last letter of their names.
fn letters(write: impl FnOnce(&mut Writer)) -> impl Fn(u64, u64, u64) -> Option<char> {
    let mut writer = Writer::new();
    writer.info(3, &two_units());
    write(&mut writer);
    let log = Recording::read(writer.file()).unwrap().log;
    let timeline = Timeline::new(&log, Holds::Tid, |image| {
        let (_, length) = image.part?;
        Some(vec![(0, vec![image.file.bytes().last()?; length as usize])])
    });
    move |time, context, address| {
        let space = timeline.space(time, Some(context));
        timeline.code(space, address).bytes.map(|bytes| char::from(bytes[0]))
    }
}

#[test]
fn mappings_cover_each_other() {
    let found = letters(|writer| {
        writer
            .mmap(at(0), map(0x1000, 0x300, 0, "/a"))
            .mmap(at(10), map(0x1100, 0x100, 0, "/b"))
            // What is mapped again is there again.
            .mmap(at(20), map(0x1000, 0x300, 0, "/a"))
            // Code that nobody can find hides what was there.
            .mmap(at(30), map(0x1200, 0x80, 0, "//anon"));
    });
    let all = |time| -> String {
        let places =
            [0xfff, 0x1000, 0x10ff, 0x1100, 0x11ff, 0x1200, 0x127f, 0x1280, 0x12ff, 0x1300];
        places.iter().map(|address| found(time, 10, *address).unwrap_or('-')).collect()
    };
    assert_eq!(all(9), "-aaaaaaaa-");
    assert_eq!(all(10), "-aabbaaaa-");
    assert_eq!(all(20), "-aaaaaaaa-");
    assert_eq!(all(30), "-aaaa--aa-");
}

#[test]
fn processes_and_threads() {
    let child = Stamp { time: 40, pid: 20, tid: 20, cpu: 0 };
    let kernel = Map { pid: u32::MAX, ..map(0xffff_0000, 0x100, 0, "[kernel.kallsyms]_text") };
    let found = letters(|writer| {
        writer
            .mmap(at(0), map(0x1000, 0x100, 0, "/a"))
            .mmap(at(0), kernel)
            .fork(at(10), 10, 11)
            .fork(at(20), 20, 20)
            .mmap(at(30), map(0x1000, 0x100, 0, "/b"))
            .comm(child, "other", true)
            .mmap(child, Map { pid: 20, tid: 20, ..map(0x2000, 0x100, 0, "/c") })
            .text_poke(at(50), 0xffff_0000, b"x", b"k")
            .exit(Stamp { time: 60, ..child })
            .fork(at(70), 20, 20);
    });
    // A thread sees what its process sees, and a child what its parent had.
    assert_eq!([found(9, 11, 0x1000), found(10, 11, 0x1000)], [None, Some('a')]);
    assert_eq!([found(19, 20, 0x1000), found(20, 20, 0x1000)], [None, Some('a')]);
    assert_eq!([found(30, 10, 0x1000), found(30, 20, 0x1000)], [Some('b'), Some('a')]);
    assert_eq!([found(39, 20, 0x2000), found(40, 20, 0x2000)], [None, Some('c')]);
    // The piece with the last instructions of a process ends after the process.
    assert_eq!(found(65, 20, 0x2000), Some('c'));
    // Another process has the number, and is a copy of its parent.
    assert_eq!([found(70, 20, 0x2000), found(70, 20, 0x1000)], [None, Some('b')]);
    // All see code that the kernel wrote.
    assert_eq!([found(49, 20, 0xffff_0000), found(50, 20, 0xffff_0000)], [None, Some('k')]);
}

#[test]
fn files_are_found_by_name_and_build_id() {
    let image = |uuid: Option<&str>| Image {
        file: "/somewhere/prog".to_owned(),
        uuid: uuid.map(str::to_owned),
        part: Some((2, 3)),
    };
    let given = Given::new("else/prog".into(), b"abcdefgh".to_vec());
    let mut finder = Finder::new(vec![given], Vec::new(), None);
    assert_eq!(finder.code(&image(None)), Some(vec![(0, b"cde".to_vec())]));
    assert!(finder.given[0].used);
    let folder = std::env::temp_dir().join(format!("hartrace-perf-finder-{}", std::process::id()));
    let entry = folder.join("debug/.build-id/ab/cdef01");
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::create_dir_all(folder.join("sysroot/somewhere")).unwrap();
    std::fs::write(entry.join("elf"), b"xyzuvw").unwrap();
    std::fs::write(folder.join("sysroot/somewhere/prog"), b"123456").unwrap();
    let (debug, root) = (folder.join("debug"), folder.join("sysroot"));
    let mut finder = Finder::new(Vec::new(), vec![debug], Some(root));
    assert_eq!(finder.code(&image(Some("abcdef01"))), Some(vec![(0, b"zuv".to_vec())]));
    assert_eq!(finder.code(&image(Some("abcdef02"))), Some(vec![(0, b"345".to_vec())]));
    let outside = Image { file: "/../sysroot/somewhere/prog".to_owned(), ..image(None) };
    assert_eq!(finder.code(&outside), None);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_refused() {
    let message = |bytes: Vec<u8>| Recording::read(bytes).unwrap_err().to_string();
    assert!(message(b"hello, world".to_vec()).contains("PERFILE2"));
    assert!(message(b"2ELIFREP\0\0\0\0\0\0\0\x68".to_vec()).contains("big-endian"));
    assert!(message(Writer::new().file()).contains("AUXTRACE_INFO"));
    let compressed = Writer::new().info(3, &two_units()).bare(81).file();
    assert!(message(compressed.clone()).contains("compressed"), "{}", message(compressed));
    // The size of trace bytes exceeds the file: the error names the first of them.
    let mut pipe = Writer::new().info(3, &two_units()).auxtrace(0, 0, 0, &[0; 16]).pipe();
    let bytes = pipe.len() - 16;
    pipe[bytes - 40..bytes - 32].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let (end, size) = (bytes as u64 + (1 << 40), pipe.len());
    let what = "the trace after an AUXTRACE record";
    let expected =
        format!("byte {bytes}: {what} ends at byte {end}, but the file has {size} bytes");
    assert_eq!(message(pipe), expected);
}
