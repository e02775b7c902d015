//! The project's trace file: rows are read back unchanged, from any chunk; damaged files are rejected.

use hartrace_etrace::ingress::{CType, IType, Privilege, Trigger};
use hartrace_executions::file::{TraceFile, Writer, read};
use hartrace_executions::{Place, Retired, SourceError};
use proptest::prelude::*;
use std::io::Cursor;
use std::ops::ControlFlow;

fn write(rows: &[Retired]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    writer.finish().unwrap()
}

fn read_all(bytes: &[u8]) -> Result<Vec<Retired>, SourceError> {
    let mut rows = Vec::new();
    let count = read(bytes, "t.htr", |row| {
        rows.push(*row);
        ControlFlow::Continue(())
    })?;
    assert_eq!(count, rows.len() as u64);
    Ok(rows)
}

/// The same through the index.
fn read_indexed(bytes: &[u8]) -> Result<Vec<Retired>, SourceError> {
    let mut file = TraceFile::open(Cursor::new(bytes), "t.htr")?;
    let mut rows = Vec::new();
    for chunk in 0..file.chunks().len() {
        file.read(chunk..chunk + 1, |row| {
            rows.push(*row);
            ControlFlow::Continue(())
        })?;
    }
    Ok(rows)
}

/// Rows like those of a program: loops of blocks, with an occasional trap.
fn program(count: u64) -> Vec<Retired> {
    let row = |n: u64| {
        let trap = n % 1000 == 999;
        Retired {
            itype: if trap { IType::Exception } else { IType::Taken },
            iretire: (n % 9 + 2) as u32,
            cause: if trap { 13 } else { 0 },
            tval: if trap { n } else { 0 },
            privilege: Privilege((n / 5000 % 2) as u8),
            ..Retired::plain(0x8000_0000 + n * n % 4096 * 2)
        }
    };
    (0..count).map(row).collect()
}

fn any_row() -> impl Strategy<Value = Retired> {
    let address = prop_oneof![any::<u64>(), (0u64..64).prop_map(|n| 0x8000_0000 + 2 * n)];
    let itype = any::<u8>().prop_map(|code| IType::try_from(code & 15).unwrap_or_default());
    let shape = (itype, address, any::<u32>(), 0u8..4, any::<bool>());
    let numbers = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>());
    let rest = (any::<u8>(), 0u8..4, any::<u8>(), any::<u8>());
    (shape, numbers, rest).prop_map(|(shape, numbers, (privilege, ctype, flags, keep))| {
        let (itype, iaddr, iretire, ilastsize, sijump) = shape;
        let (cause, tval, context, time, cycles) = numbers;
        let bit = |n: u8| flags >> n & 1 == 1;
        // Mostly ordinary values, so that the short forms are tested too.
        let unless = |n: u8, value: u64| if keep >> n & 1 == 1 { 0 } else { value };
        Retired {
            itype,
            iaddr,
            iretire: iretire >> (keep & 31),
            ilastsize: if bit(7) { ilastsize } else { 1 },
            sijump,
            privilege: Privilege(privilege),
            cause: unless(0, cause),
            tval: unless(1, tval),
            context: unless(2, context),
            ctype: CType::from_raw(ctype),
            time: unless(3, time),
            trigger: Trigger { on: bit(0), off: bit(1), notify: bit(2) },
            cycles: if bit(5) { cycles } else { 1 },
            halted: bit(3),
            reset: bit(4),
        }
    })
}

proptest! {
    #[test]
    fn rows_come_back(rows in prop::collection::vec(any_row(), 0..200)) {
        let bytes = write(&rows);
        prop_assert_eq!(&read_all(&bytes).unwrap(), &rows);
        prop_assert_eq!(&read_indexed(&bytes).unwrap(), &rows);
    }

    #[test]
    fn damage_is_noticed(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let rows = program(3000);
        let mut bytes = write(&rows);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        for read in [read_all(&bytes), read_indexed(&bytes)] {
            match read {
                // The damage was in reserved bytes, or in addresses in the index.
                Ok(read) => prop_assert!(read == rows, "byte {at}"),
                Err(error) => prop_assert!(error.to_string().contains("; try: "), "{error}"),
            }
        }
    }

    #[test]
    fn noise_does_not_panic(noise in prop::collection::vec(any::<u8>(), 0..400), head in any::<bool>()) {
        let mut bytes = if head { write(&[])[..16].to_vec() } else { Vec::new() };
        bytes.extend(noise);
        let _ = read_all(&bytes);
        let _ = read_indexed(&bytes);
    }
}

#[test]
fn every_prefix_is_an_error_with_its_place() {
    let bytes = write(&program(40));
    for length in 0..bytes.len() {
        for read in [read_all(&bytes[..length]), read_indexed(&bytes[..length])] {
            let error = read.expect_err("cut off");
            assert!(matches!(error.place, Place::Byte(at) if at <= length as u64 + 16), "{error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }
}

#[test]
fn chunks_are_independent() {
    let rows = program(300_000);
    let bytes = write(&rows);
    let mut file = TraceFile::open(Cursor::new(&bytes), "t.htr").unwrap();
    let chunks = file.chunks().to_vec();
    assert!(chunks.len() > 3 && file.rows() == 300_000);
    for n in (0..chunks.len()).rev() {
        let first = chunks[n].first_row as usize;
        assert_eq!(chunks[n].first_address, rows[first].iaddr);
        let mut at = first;
        file.read(n..n + 1, |row| {
            assert_eq!(*row, rows[at]);
            at += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(at as u64, chunks.get(n + 1).map_or(file.rows(), |next| next.first_row));
    }
    let none = chunks.len()..chunks.len() + 5;
    assert_eq!(file.read(none, |_| ControlFlow::Continue(())), Ok(0));
    assert_eq!(file.read(1..9, |_| ControlFlow::Break(())), Ok(1));
}

#[test]
fn sizes_are_not_believed() {
    // A chunk that claims to hold 4 GiB, and an index that claims 2^60 entries.
    let mut chunk = write(&program(10));
    chunk[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read_all(&chunk).unwrap_err();
    assert_eq!((error.place, error.what.as_str()), (Place::Byte(16), "a chunk longer than any"));
    let mut index = write(&[]);
    index[24..32].copy_from_slice(&(1u64 << 60).to_le_bytes());
    assert!(read_indexed(&index).unwrap_err().what.contains("not an index"));
    assert!(read_all(&index).is_err());
}

#[test]
fn other_files_and_versions() {
    let error = read_all(b"core   0: 3 0x80000000\n").unwrap_err().to_string();
    assert!(error.starts_with("t.htr, byte 0: not a trace file; try: "), "{error}");
    let mut newer = write(&[]);
    newer[8] = 2;
    assert!(read_all(&newer).unwrap_err().to_string().contains("byte 8: version 2"));
    assert_eq!(read_all(&write(&[])), Ok(Vec::new()));
    let longer = [write(&[]), vec![0]].concat();
    assert!(read_all(&longer).unwrap_err().to_string().contains("more than a trace file"));
}
