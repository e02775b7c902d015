//! Any bytes are a program, or are rejected with a message: code, names, source lines and build ID.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_capture::description::{At, ProgramFile};
use hartrace_capture::programs::Programs;
use hartrace_capture::snapshot::image;
use hartrace_isa::Xlen;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let xlen = *u.choose(&[Xlen::Rv32, Xlen::Rv64])?;
    let bias = *u.choose(&[0, 0x1000, u64::MAX - 0xff])?;
    let built: bool = u.arbitrary()?;
    let bytes = if built { program(&mut u, xlen)? } else { u.take_rest().to_vec() };
    let described = ProgramFile::new("a.elf", At::Bias(bias), &bytes);
    assert_eq!(described.check(&bytes), Ok(()));
    let _ = image::segments(bytes.clone());
    let mut programs = Programs::new(xlen);
    if let Err(error) = programs.add_elf(bytes, bias) {
        assert!(!error.to_string().is_empty());
        return Ok(());
    }
    let symbols = programs.all_symbols();
    for address in symbols.functions().iter().map(|function| function.range.start).take(64) {
        assert!(symbols.place(address).is_some());
        let _ = (symbols.source(address), programs.image(0).encoding(address));
    }
    Ok(())
}

/// A file with a header that is accepted, and segments and sections of any kind.
fn program(u: &mut Unstructured<'_>, xlen: Xlen) -> Result<Vec<u8>> {
    let wide = xlen == Xlen::Rv64;
    let word = |value: u64| match wide {
        true => value.to_le_bytes().to_vec(),
        false => (value as u32).to_le_bytes().to_vec(),
    };
    let (header, segment, section): (u16, u16, u16) =
        if wide { (64, 56, 64) } else { (52, 32, 40) };
    let segments = u.int_in_range(0..=8u16)?;
    let sections = u.int_in_range(0..=8u16)?;
    let after = header + segments * segment;
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 1 + u8::from(wide), 1, 1, 0];
    bytes.extend([0; 8]);
    bytes.extend([2, 0, 243, 0, 1, 0, 0, 0]);
    bytes.extend(word(0));
    bytes.extend(word(header.into()));
    bytes.extend(word(after.into()));
    bytes.extend([0; 4]);
    for half in [header, segment, segments, section, sections, sections.saturating_sub(1)] {
        bytes.extend(half.to_le_bytes());
    }
    for _ in 0..segments {
        let kind = u.int_in_range(0..=4u32)?.to_le_bytes();
        let flags = u.int_in_range(0..=7u32)?.to_le_bytes();
        bytes.extend(kind);
        if wide {
            bytes.extend(flags);
        }
        for _ in 0..5 {
            let value = if u.arbitrary()? { u.arbitrary::<u8>()?.into() } else { u.arbitrary()? };
            bytes.extend(word(value));
        }
        if !wide {
            bytes.extend(flags);
        }
        bytes.extend(word(1));
    }
    let rest = u.len();
    bytes.extend(u.bytes(rest)?);
    Ok(bytes)
}
