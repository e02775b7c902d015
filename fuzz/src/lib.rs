//! Shared code of the fuzz targets: parameters, modes, payloads and programs made from raw bytes.
//!
//! Values are drawn from ranges that are deliberately slightly too wide, so that the checks of the
//! crates under test are reached too; a target ends early if a parameter set is rejected.

pub mod arm;
pub mod code;
pub mod compressors;
pub mod data;
pub mod encoder;
pub mod golden;
pub mod payload;
pub mod stream;

use arbitrary::{Result, Unstructured};
use hartrace_bits::Tail;
use hartrace_etrace::{Ioptions, Mode, Params, Unit};

/// Returns a number of `0..=max`, mostly small.
pub fn small(u: &mut Unstructured<'_>, max: u8) -> Result<u8> {
    let max = if u.ratio(3, 4)? { max.min(4) } else { max };
    u.int_in_range(0..=max)
}

/// Returns parameters, mostly legal.
pub fn params(u: &mut Unstructured<'_>) -> Result<Params> {
    let any = u.int_in_range(0..=66)?;
    let mut params = Params {
        iaddress_width_p: *u.choose(&[32, 64, 39, any])?,
        iaddress_lsb_p: small(u, 3)?,
        privilege_width_p: *u.choose(&[1, 2, 3, any])?,
        ecause_width_p: *u.choose(&[4, 6, 64, any])?,
        context_width_p: *u.choose(&[1, 8, 32, any])?,
        nocontext_p: u.arbitrary()?,
        time_width_p: *u.choose(&[1, 16, 64, any])?,
        notime_p: u.arbitrary()?,
        f0s_width_p: small(u, 9)?,
        bpred_size_p: small(u, 17)?,
        cache_size_p: small(u, 17)?,
        return_stack_size_p: small(u, 16)?,
        call_counter_size_p: small(u, 17)?,
        sijump_p: u.arbitrary()?,
        hpred_size_p: 0,
    };
    // Sizes that would be refused stand for a history predictor, so that inputs keep their meaning.
    for size in
        [&mut params.bpred_size_p, &mut params.cache_size_p, &mut params.call_counter_size_p]
    {
        if *size == 17 {
            (*size, params.hpred_size_p) = (0, 1 + params.ecause_width_p % 9);
        }
    }
    Ok(params)
}

/// Returns any combination of modes.
pub fn options(u: &mut Unstructured<'_>) -> Result<Ioptions> {
    let raw: u8 = u.arbitrary()?;
    let mut options = Ioptions::default();
    for (bit, mode) in Mode::ALL.into_iter().enumerate() {
        options.set(mode, raw >> bit & 1 == 1);
    }
    Ok(options)
}

/// Returns any unit.
pub fn unit(u: &mut Unstructured<'_>) -> Result<Unit> {
    Ok(*u.choose(&[Unit::Reference, Unit::RvTracer, Unit::Hartrace])?)
}

/// Returns what lies after the end of a unit's payloads.
pub fn tail(unit: Unit) -> Tail {
    match unit {
        Unit::RvTracer => Tail::Zero,
        Unit::Reference | Unit::Hartrace => Tail::Sign,
    }
}

/// Returns the bits of `bytes`, least significant first.
pub fn bits(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

/// Returns fewer than `limit` raw bytes.
pub fn raw<'a>(u: &mut Unstructured<'a>, limit: u8) -> Result<&'a [u8]> {
    let len = usize::from(u.arbitrary::<u8>()? % limit).min(u.len());
    u.bytes(len)
}
