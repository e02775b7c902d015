//! Any program and any bits: a decompressor ends and does not panic. Instructions that it finds can be
//! compressed again, and are recovered.

use crate::code;
use arbitrary::{Result, Unstructured};
use hartrace_compressors::{
    BitSource, Bits, Code, DataScheme, DataStep, Family, Reference, Scheme, SchemeSetup,
};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use std::num::NonZeroU64;

/// The largest number of instructions to request.
const MOST: u64 = 2000;

/// Tests the schemes of some families.
pub fn decompress(families: &[&str], input: &[u8]) {
    let _ = any_bits(Unstructured::new(input), &schemes(families), |_, bytes| bytes);
}

/// The same for descriptors in a container: random bytes are hardly ever one, so most inputs are put into one
/// first.
pub fn decompress_packed(family: &str, input: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) {
    let _ = any_bits(Unstructured::new(input), &schemes(&[family]), |packed, bytes| match packed {
        true => pack(&bytes),
        false => bytes,
    });
}

/// Those that are compared, and some more, such as tables so small that their entries are replaced all the time.
fn schemes(families: &[&str]) -> Vec<Scheme> {
    let families = families.iter().map(|name| Family::named(name).expect("a family"));
    let names = families.flat_map(|family| family.compared.iter().chain(family.small));
    names.map(|name| name.parse().expect("a scheme")).collect()
}

fn any_bits(
    mut u: Unstructured<'_>,
    schemes: &[Scheme],
    pack: impl Fn(bool, Vec<u8>) -> Vec<u8>,
) -> Result<()> {
    let scheme = u.choose(schemes)?;
    let packed = u.ratio(3, 4)?;
    let rv32 = u.arbitrary()?;
    let any = u.arbitrary()?;
    let base = *u.choose(&[0, 0x8000_0000, any])? & !1;
    let program = code::program(&mut u, 48)?;
    let instructions = u.int_in_range(0..=MOST)?;
    let sync_every = NonZeroU64::new(u.int_in_range(0..=99)?);
    let spare = u.int_in_range(0..=7)?;
    let bytes = pack(packed, u.take_rest().to_vec());
    let bits = 8 * bytes.len() as u64;
    let bits = Bits::new(bytes, bits.saturating_sub(spare));

    let xlen = if rv32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let mut image = Image::new(Isa::new(xlen));
    image.add(xlen.wrap(base), &program);
    let code = Code::new(&image);
    let setup = SchemeSetup { code: &code, sync_every, tvec: &[(3, base)] };
    let mut found = Vec::new();
    let result =
        scheme.decompressor(&setup).decompress(&bits, instructions, &mut |pc| found.push(pc));
    assert!(found.len() as u64 <= instructions);
    match result {
        Err(error) => assert!(error.bit <= bits.len(), "{scheme}: {error}"),
        Ok(()) => assert_eq!(found.len() as u64, instructions, "{scheme}"),
    }
    // E-Trace would also need to know the kinds of traps.
    if scheme.family().name != "etrace" {
        again(scheme, &setup, &found);
    }
    Ok(())
}

/// Tests any instructions with any accesses, and any bits: every reader of data traces ends and does not
/// panic.
pub fn data(mut u: Unstructured<'_>) -> Result<()> {
    let more = ["DAF+ADAC-16x4", "gzip-1-DA", "gzip-1-LV"];
    let names = [&DataScheme::DEFAULT[..], &more].concat();
    let scheme: DataScheme = u.choose(&names)?.parse().expect("its name");
    let xlen = *u.choose(&[Xlen::Rv32, Xlen::Rv64])?;
    let mut steps = Vec::new();
    for _ in 0..u.int_in_range(0..=200)? {
        let (pc, encoding) = (u.arbitrary::<u16>()?.into(), u.arbitrary()?);
        let reference = Reference {
            // For values, addresses are known, and vice versa.
            address: if scheme.is_of_values() { u.arbitrary()? } else { 0 },
            size: *u.choose(&[1, 2, 4, 8])?,
            loaded: *u.choose(&[None, Some(0)])?,
            stored: u.arbitrary()?,
        };
        let reference = *u.choose(&[None, Some(reference)])?;
        let succeeded = u.arbitrary()?;
        steps.push(DataStep { pc, encoding, reference, succeeded });
    }
    let bits = Bits::of_bytes(u.take_rest().to_vec());
    let mut from = BitSource::new(&bits);
    let mut coder = scheme.coder(xlen).expect("a coder");
    let failed = steps.iter().find_map(|step| coder.decode(step, &mut from).err());
    assert!(failed.is_none_or(|error| error.bit <= bits.len()));
    Ok(())
}

/// Checks that whatever a decompressor has returned can be compressed and returned again.
fn again(scheme: &Scheme, setup: &SchemeSetup<'_>, found: &[u64]) {
    let mut compressor = scheme.compressor(setup).expect("a compressor");
    for pc in found {
        let halves = u32::from(setup.code.insn(*pc).expect("it was followed").size / 2);
        let row = Retired { iretire: halves, ilastsize: (halves - 1) as u8, ..Retired::plain(*pc) };
        compressor.retire(&row).expect("it can be expressed");
    }
    let compressed = compressor.finish().expect("it can be expressed");
    let mut expected = found.iter();
    scheme
        .decompressor(setup)
        .decompress(&compressed.bits, found.len() as u64, &mut |pc| {
            assert_eq!(Some(&pc), expected.next(), "{scheme}");
        })
        .expect("it comes back");
    assert_eq!(expected.next(), None);
}
