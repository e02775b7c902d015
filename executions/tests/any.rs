//! All formats through one interface: detected and decompressed, without a panic.

use hartrace_etrace::ingress::{Flavour, IType, ITypeWidth};
use hartrace_executions::file::Writer;
use hartrace_executions::{Format, Options, Retired, Source, SourceError, open};
use hartrace_isa::Xlen;
use proptest::prelude::*;
use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

const SPIKE: &str = "Hello, world\ncore   0: 3 0x0000000080000000 (0x00000013)\n";
const CVA6: &str = "cycle,port,event,pc,insn,priv,taken_ex,cause,tval\n5,0,R,80000000,13,3,0,0,0\n";
const REFERENCE: &str =
    "itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0\n0,0,0,3,80000000,1,1\n";

fn trace_file() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.push(&Retired::plain(0x8000_0000)).unwrap();
    writer.finish().unwrap()
}

fn all() -> [(Format, Vec<u8>); 4] {
    [
        (Format::Spike, SPIKE.into()),
        (Format::Cva6, CVA6.into()),
        (Format::Reference, REFERENCE.into()),
        (Format::TraceFile, trace_file()),
    ]
}

/// Reads at most `limit` rows: one line of a log can state that an instruction was executed four
/// billion times.
fn read(bytes: &[u8], options: &Options, limit: usize) -> Result<Vec<Retired>, SourceError> {
    let mut source = Source::new(bytes, "x", options)?;
    let mut rows = Vec::new();
    while let Some(row) = source.next_row()? {
        rows.push(row.retired);
        if rows.len() == limit {
            break;
        }
    }
    Ok(rows)
}

#[test]
fn formats_are_told_by_content() {
    for (format, bytes) in all() {
        let source = Source::new(&bytes[..], "x", &Options::default()).unwrap();
        assert_eq!(source.format(), format);
        let rows = read(&bytes, &Options::default(), 9).unwrap();
        assert_eq!(rows, [Retired::plain(0x8000_0000)], "{format}");
        // Read as any other format it is an error.
        for (other, _) in all() {
            let named = Options { format: Some(other), ..Options::default() };
            assert_eq!(read(&bytes, &named, 9).is_ok(), other == format, "{format} as {other}");
        }
    }
    let unknown = read(b"hello\nworld\n", &Options::default(), 1).unwrap_err().to_string();
    assert!(unknown.starts_with("x: neither an execution log nor"), "{unknown}");
    assert!(read(b"", &Options::default(), 1).is_err());
    let table = read(b"a,b\n1,2\n", &Options::default(), 1).unwrap_err();
    assert!(table.what.contains("no column itype_0"));
}

#[test]
fn compressed_files_and_cut_ones() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (format, bytes) in all() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(&bytes).unwrap();
        let zst = zstd::encode_all(&bytes[..], 0).unwrap();
        for (name, packed) in [("any.gz", gz.finish().unwrap()), ("any.zst", zst)] {
            let path = folder.join(name);
            let read = |packed: &[u8]| {
                fs::write(&path, packed).unwrap();
                let mut source = open(&path, &Options::default())?;
                while source.next_row()?.is_some() {}
                Ok(source.format())
            };
            assert_eq!(read(&packed), Ok(format));
            let cut = read(&packed[..packed.len() - 9]).map_err(|e: SourceError| e.to_string());
            assert!(cut.unwrap_err().contains("cannot read"));
        }
    }
    let missing = open(&folder.join("missing"), &Options::default()).err().unwrap();
    assert!(missing.to_string().contains("missing: cannot open"));
}

#[test]
fn codes_are_narrowed_whatever_the_format() {
    let log = "core   0: 3 0x0000000080000000 (0x8082)\n";
    let table = "itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0\n13,0,0,3,80000000,1,0\n";
    let mut writer = Writer::new(Vec::new()).unwrap();
    let rows = read(log.as_bytes(), &Options::default(), 9).unwrap();
    writer.push(&rows[0]).unwrap();
    for bytes in [log.as_bytes(), table.as_bytes(), &writer.finish().unwrap()] {
        for (itype_width, itype) in
            [(ITypeWidth::Four, IType::Return), (ITypeWidth::Three, IType::UninferableJump)]
        {
            let options = Options { itype_width, ..Options::default() };
            assert_eq!(read(bytes, &options, 9).unwrap()[0].itype, itype);
        }
    }
}

/// Returns one byte at a time, and counts them.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(1).min(room.len());
        room[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn a_pipe_is_not_waited_for() {
    // The first line of the hart is enough.
    let mut slow = Slow(SPIKE.as_bytes(), 0);
    let input = BufReader::with_capacity(1, &mut slow);
    let (format, input) = Format::detect(input).unwrap();
    assert_eq!(format, Some(Format::Spike));
    drop(input);
    assert_eq!(slow.1, SPIKE.len());
}

/// An endless input that contains nothing that could be a row.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        assert!(self.1 < 1 << 20, "read on and on");
        for (at, byte) in room.iter_mut().enumerate() {
            *byte = self.0[at % self.0.len()];
        }
        self.1 += room.len();
        Ok(room.len())
    }
}

#[test]
fn endless_lines_are_given_up() {
    for (format, start) in all() {
        for pattern in [&b"x"[..], b"\"", b"0,", b"core "] {
            let start: &[u8] = if format == Format::TraceFile { &start[..16] } else { &start };
            let input = BufReader::new(start.chain(Endless(pattern, 0)));
            let mut source = Source::new(input, "x", &Options::default()).unwrap();
            let error = loop {
                match source.next_row() {
                    Ok(row) => assert!(row.is_some()),
                    Err(error) => break error,
                }
            };
            assert!(error.to_string().contains("; try: "), "{error}");
        }
    }
    assert!(Source::new(BufReader::new(Endless(b"x", 0)), "x", &Options::default()).is_err());
}

fn any_options() -> impl Strategy<Value = Options> {
    let format = prop::option::of(prop::sample::select(all().map(|(format, _)| format).to_vec()));
    let xlen = prop::option::of(prop::sample::select(vec![Xlen::Rv32, Xlen::Rv64]));
    let rest = (0u32..2, any::<bool>(), any::<bool>());
    (format, xlen, rest).prop_map(|(format, xlen, (hart, block, narrow))| Options {
        format,
        xlen,
        hart,
        flavour: if block { Flavour::Block } else { Flavour::Single },
        itype_width: if narrow { ITypeWidth::Three } else { ITypeWidth::Four },
    })
}

proptest! {
    #[test]
    fn noise_does_not_panic(
        noise in prop::collection::vec(any::<u8>(), 0..600),
        head in prop::option::of(0usize..4),
        cut in any::<prop::sample::Index>(),
        options in any_options(),
    ) {
        let mut bytes = head.map_or(Vec::new(), |n| all()[n].1.clone());
        bytes.truncate(cut.index(bytes.len() + 1));
        bytes.extend(noise);
        let _ = read(&bytes, &options, 10_000);
    }

    #[test]
    fn words_of_the_formats_do_not_panic(
        picks in prop::collection::vec((0usize..16, any::<u64>()), 0..80),
        head in prop::option::of(1usize..3),
        options in any_options(),
    ) {
        let mut text = head.map_or("", |n| [CVA6, REFERENCE][n - 1]).to_owned();
        for (pick, number) in picks {
            let (long, short) = (format!("0x{number:x} "), format!("{},", number % 9));
            text += match pick {
                0 => "core   0: ",
                1 => "core   0: 3 ",
                2 => "exception trap_machine_ecall, epc ",
                3 => "exception interrupt #",
                4 => "          tval ",
                5 => "\n",
                6 => "\ncore   0: ",
                7 => ") ",
                8 => " (0x",
                9 => &long,
                10 => &short,
                11 => "core   0: Executed 7 times\n",
                12 => "core   0: 0x0000000080000000 (0x0000006f) j 0\n",
                13 => "LD_ACCESS_FAULT exception @ 0x",
                14 => "core   INTERRUPT 0: ",
                _ => "\u{fffd}",
            };
        }
        let _ = read(text.as_bytes(), &options, 10_000);
    }
}
