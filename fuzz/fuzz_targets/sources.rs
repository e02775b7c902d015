//! Any bytes as any log: readers end and do not panic. They read the same if the format is detected
//! by its content, if the input arrives in pieces, and through a trace file, whose rows the index
//! finds too.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_etrace::ingress::{Flavour, ITypeWidth};
use hartrace_executions::file::{TraceFile, Writer};
use hartrace_executions::{Format, Options, Retired, Source};
use hartrace_isa::Xlen;
use libfuzzer_sys::fuzz_target;
use std::io::{BufRead, BufReader, Cursor};
use std::ops::ControlFlow;

/// A line can state that an instruction was executed four billion times.
const LIMIT: usize = 1 << 12;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

/// Starts with which random bytes get further.
const STARTS: [&[u8]; 4] = [
    b"",
    b"cycle,event,pc,insn,priv,taken_ex,cause,tval\n",
    b"itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0,trigger\n",
    b"HTRACE\r\n\x01\0\0\0\0\0\0\0",
];

/// Words that random bytes would not produce.
const WORDS: [&str; 12] = [
    "core   0: ",
    "core   1: 3 0x",
    "core   0: 3 0x0000000080000000 (0x",
    "core   0: 0x0000000080000004 (0x0000006f) ",
    "core   0: exception trap_breakpoint, epc 0x",
    "core   0: exception interrupt #",
    "core   0:           tval 0x",
    "core   0: Executed ",
    " times",
    "core   INTERRUPT 0: 0x",
    "BREAKPOINT exception @ 0x",
    "\n3 0x0000000080000000 (0x",
];

/// Replaces bytes above ASCII by words.
fn with_words(bytes: &[u8]) -> Vec<u8> {
    let word = |byte: u8| WORDS[usize::from(byte & 0x7f) % WORDS.len()].as_bytes();
    let parts = bytes.iter().map(|byte| match byte {
        0x80.. => word(*byte),
        _ => std::slice::from_ref(byte),
    });
    parts.collect::<Vec<_>>().concat()
}

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let formats = [
        None,
        Some(Format::Spike),
        Some(Format::Cva6),
        Some(Format::Reference),
        Some(Format::TraceFile),
    ];
    let options = Options {
        format: *u.choose(&formats)?,
        xlen: *u.choose(&[None, Some(Xlen::Rv32), Some(Xlen::Rv64)])?,
        hart: u.int_in_range(0..=1)?,
        flavour: *u.choose(&[Flavour::Single, Flavour::Block])?,
        itype_width: *u.choose(&[ITypeWidth::Three, ITypeWidth::Four])?,
    };
    let start = *u.choose(&STARTS)?;
    let piece = u.int_in_range(1..=9usize)?;
    let words: bool = u.arbitrary()?;
    let rest = u.take_rest();
    let bytes = [start, &if words { with_words(rest) } else { rest.to_vec() }].concat();

    let (whole, format) = read(&bytes[..], &options);
    let pieces = BufReader::with_capacity(piece, &bytes[..]);
    assert_eq!(read(pieces, &options).0, whole);
    if let Some(format) = format {
        let named = Options { format: Some(format), ..options };
        assert_eq!(read(&bytes[..], &named).0, whole);
    }
    trace_file(&whole);
    // The index, whatever the input is.
    if let Ok(mut file) = TraceFile::open(Cursor::new(&bytes), "fuzz") {
        let _ = file.read(0..file.chunks().len(), |_| ControlFlow::Continue(()));
    }
    Ok(())
}

/// The rows before the end or the first error, and that error.
fn read(input: impl BufRead, options: &Options) -> (Vec<Retired>, Option<Format>) {
    let mut rows = Vec::new();
    let Ok(mut source) = Source::new(input, "fuzz", options) else { return (rows, None) };
    while rows.len() < LIMIT
        && let Ok(Some(row)) = source.next_row()
    {
        rows.push(row.retired);
    }
    (rows, Some(source.format()))
}

/// Rows survive a trace file.
fn trace_file(rows: &[Retired]) {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for row in rows {
        writer.push(row).expect("memory");
    }
    let bytes = writer.finish().expect("memory");
    let options = Options { format: None, ..Options::default() };
    assert_eq!(read(&bytes[..], &options), (rows.to_vec(), Some(Format::TraceFile)));
    let mut file = TraceFile::open(Cursor::new(&bytes), "fuzz").expect("complete");
    assert_eq!(file.rows(), rows.len() as u64);
    let mut again = Vec::new();
    let all = 0..file.chunks().len();
    let read = file.read(all, |row| {
        again.push(*row);
        ControlFlow::Continue(())
    });
    assert_eq!(read, Ok(rows.len() as u64));
    assert_eq!(again, rows);
}
