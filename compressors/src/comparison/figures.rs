//! Figures of a workload in a scheme.

use super::ComparisonError;
use super::workload::Workload;
use crate::{Compressed, Cost, Records, Scheme, SchemeSetup};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Figures of a workload in a scheme.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Figures {
    /// The name of the program.
    pub program: String,
    /// The name of the scheme.
    pub scheme: String,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Payload bits, without framing.
    pub bits: u64,
    /// Payload bits per instruction.
    pub bits_per_instruction: f64,
    /// The same to the bit, where a scheme emits whole bytes; without the lengths that a reader would need then.
    pub exact_bits: u64,
    /// Payload bits in packets.
    pub framed_bits: u64,
    /// Bits of memory in the trace module, if the scheme is for hardware.
    pub storage_bits: Option<u64>,
    /// Estimated gates of the trace module.
    pub gates: Option<u64>,
    /// Whether every instruction was recovered.
    pub verified: bool,
    /// The first instruction that was not recovered.
    pub difference: Option<String>,
    /// Whether the execution was cut by the limit: the figures are of its start.
    #[serde(default)]
    pub cut: bool,
    /// The width of addresses.
    pub xlen: u32,
    /// What the bits are spent on, for schemes that have tables of streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Records>,
}

impl Figures {
    /// Returns the ratio of uncompressed addresses of this width to the bits that were sent.
    pub fn ratio(&self, width: u32) -> f64 {
        self.instructions as f64 * f64::from(width) / self.bits.max(1) as f64
    }

    /// Returns the share saved compared with four bytes per instruction, counted in whole bytes.
    pub fn rate(&self) -> f64 {
        let bytes = self.bits.div_ceil(8) as f64;
        1.0 - bytes * 8.0 / (self.instructions.max(1) as f64 * 32.0)
    }

    /// Returns the bits per instruction, to the bit.
    pub fn exact(&self) -> f64 {
        per_instruction(self.exact_bits, self.instructions)
    }

    /// Returns the bits in packets per instruction.
    pub fn framed(&self) -> f64 {
        per_instruction(self.framed_bits, self.instructions)
    }
}

/// Whether everything was recovered, in words.
pub(super) fn verdict(difference: Option<&str>, cut: bool) -> String {
    match difference {
        Some(difference) => format!("NO: {difference}"),
        None if cut => "yes, up to the limit".into(),
        None => "yes".into(),
    }
}

pub(super) fn per_instruction(bits: u64, instructions: u64) -> f64 {
    bits as f64 / instructions.max(1) as f64
}

/// Compresses, decompresses and compares; `None` if the scheme needs trap vectors that are not
/// known.
pub(super) fn measure(
    workload: &Workload,
    scheme: &Scheme,
    sync_every: Option<NonZeroU64>,
) -> Result<Option<Figures>, ComparisonError> {
    let tvec = match &workload.tvec {
        Some(tvec) => tvec.as_slice(),
        None if scheme.needs_vectors() => return Ok(None),
        None => &[],
    };
    let failed = |error| ComparisonError::Compress {
        program: workload.name.clone(),
        scheme: scheme.to_string(),
        error,
    };
    let setup = SchemeSetup { code: &workload.code, sync_every, tvec };
    let mut compressor = scheme.compressor(&setup).map_err(failed)?;
    workload.rows.iter().try_for_each(|row| compressor.retire(row)).map_err(failed)?;
    let compressed = compressor.finish().map_err(failed)?;
    let difference = difference(workload, scheme, &setup, &compressed);
    let Compressed { payload_bits: bits, exact_bits, framed_bits, instructions, records, .. } =
        compressed;
    let xlen = workload.code.xlen().bits();
    let cost = scheme.cost(xlen);
    Ok(Some(Figures {
        program: workload.name.clone(),
        scheme: scheme.to_string(),
        instructions,
        bits,
        bits_per_instruction: per_instruction(bits, instructions),
        exact_bits,
        framed_bits,
        storage_bits: cost.as_ref().map(Cost::bits),
        gates: cost.map(|cost| cost.gates().round() as u64),
        verified: difference.is_none(),
        difference,
        cut: workload.cut,
        xlen,
        records,
    }))
}

/// Finds the first instruction that is not recovered.
fn difference(
    workload: &Workload,
    scheme: &Scheme,
    setup: &SchemeSetup<'_>,
    compressed: &Compressed,
) -> Option<String> {
    let mut expected = workload.addresses();
    let (mut number, mut wrong) = (0_u64, None);
    let decompressor = scheme.decompressor(setup);
    let result =
        decompressor.decompress(&compressed.bits, compressed.instructions, &mut |address| {
            let right = expected.next();
            if right != Some(address) && wrong.is_none() {
                let right = right.map_or("nothing".into(), |right| format!("{right:#x}"));
                wrong = Some(format!("instruction {number}: {address:#x} instead of {right}"));
            }
            number += 1;
        });
    wrong.or(result.err().map(|error| error.to_string())).or_else(|| {
        expected.next().map(|next| format!("instruction {number}: {next:#x} is missing"))
    })
}
