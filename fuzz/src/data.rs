//! Parameters of data trace.

use crate::small;
use arbitrary::{Result, Unstructured};
use hartrace_etrace::data::{Compression, CsrWidth, DataKinds, DataParams, Doptions};

/// Parameters, mostly legal.
pub fn params(u: &mut Unstructured<'_>) -> Result<DataParams> {
    let any = u.arbitrary()?;
    Ok(DataParams {
        daddress_width_p: *u.choose(&[32, 64, 39, any])?,
        data_width_p: *u.choose(&[8, 32, 64, 128, any])?,
        lrid_width_p: small(u, 33)?,
        ..DataParams::default()
    })
}

/// Any kinds of access.
pub fn kinds(u: &mut Unstructured<'_>) -> Result<DataKinds> {
    Ok(DataKinds {
        split: u.arbitrary()?,
        atomics: u.arbitrary()?,
        csr: *u.choose(&[None, Some(CsrWidth::Bits32), Some(CsrWidth::Bits64)])?,
        compression: *u.choose(&[Compression::Xor, Compression::Difference, Compression::Both])?,
    })
}

/// Any combination of modes.
pub fn options(u: &mut Unstructured<'_>) -> Result<Doptions> {
    Ok(Doptions::from_raw(u.int_in_range(0..=15)?).unwrap_or_default())
}
