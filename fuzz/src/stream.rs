//! A program, parameters and a stream of payloads for a decoder.

use crate::{code, options, params, payload, raw, unit};
use arbitrary::{Result, Unstructured};
use hartrace_bits::BitWriter;
use hartrace_etrace::{Params, Payload, Unit};

/// The largest number of payloads in a stream.
const MAX_PAYLOADS: usize = 48;

/// The input of a decoder.
#[derive(Debug)]
pub struct Stream {
    /// The encoder's dialect.
    pub unit: Unit,
    /// The encoder's parameters, which are legal.
    pub params: Params,
    /// The address of the code.
    pub base: u64,
    /// The code.
    pub code: Vec<u8>,
    /// Whether the program is RV32.
    pub rv32: bool,
    /// Whether it uses Zcmp and Zcmt.
    pub zcm: bool,
    /// Trap vectors.
    pub tvec: [(u8, u64); 2],
    /// 0 = none, 1 = Python model, 2 = C model.
    pub compat: u8,
    /// The payloads, some of which are invalid.
    pub payloads: Vec<Vec<u8>>,
}

impl Stream {
    /// Creates a stream; `None` if the parameters are not legal.
    pub fn new(u: &mut Unstructured<'_>) -> Result<Option<Self>> {
        let unit = unit(u)?;
        let params = params(u)?;
        let Ok(layout) = params.layout(unit) else { return Ok(None) };
        let mut modes = options(u)?;
        let any = u.arbitrary()?;
        let base = *u.choose(&[0, 0x8000_0000, any])?;
        let rv32 = u.arbitrary()?;
        let zcm = u.arbitrary()?;
        let code = code::program(u, 48)?;
        let tvec = [(0, base & !3 | 1), (1, u.arbitrary()?)];
        let compat = u.int_in_range(0..=2)?;
        let mut payloads = Vec::new();
        while !u.is_empty() && payloads.len() < MAX_PAYLOADS {
            if u.ratio(1, 8)? {
                payloads.push(raw(u, 34)?.to_vec());
                continue;
            }
            let payload = payload::payload(u, &params, modes, base)?;
            let mut buffer = [0; 31];
            let mut out = BitWriter::new(&mut buffer);
            if payload.emit(&layout, modes, &mut out).is_err() {
                continue;
            }
            let len = match unit {
                Unit::RvTracer => out.finish_padded(),
                Unit::Reference | Unit::Hartrace => out.finish_compressed(),
            };
            if let Payload::Support(support) = payload {
                modes = support.ioptions;
            }
            payloads.push(buffer[..len].to_vec());
        }
        Ok(Some(Self { unit, params, base, code, rv32, zcm, tvec, compat, payloads }))
    }
}
