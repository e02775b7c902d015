//! Overlapping segments: code added at once equals the same code added byte by byte.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_golden::Image;
use hartrace_golden::isa::{Isa, Xlen};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let xlen = *u.choose(&[Xlen::Rv32, Xlen::Rv64])?;
    let isa = Isa { xlen, zcm: u.arbitrary()? };
    let base = *u.choose(&[0, 0x8000_0000, u64::MAX - 40])?;
    let mut whole = Image::new(isa);
    let mut single = Image::new(isa);
    let mut bytes = 0;
    while !u.is_empty() && bytes < 1024 {
        let start = base + u64::from(u.int_in_range(0..=40u8)?);
        let segment = hartrace_fuzz::raw(&mut u, 24)?;
        whole.add(start, segment);
        // The address space ends at the top: anything beyond it is not code.
        for (i, byte) in segment.iter().enumerate() {
            if let Some(address) = start.checked_add(i as u64) {
                single.add(address, &[*byte]);
            }
        }
        bytes += segment.len() + 1;
    }
    for offset in 0..=80 {
        let address = base.wrapping_add(offset).wrapping_sub(4);
        assert_eq!(whole.insn(address), single.insn(address), "at {address:#x}");
    }
    Ok(())
}
