//! A decoder for the output of the RTL.

use crate::Seen;
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config as Reading, Image, StreamPos, Tracer};
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::Retired;
use hartrace_etrace::{ParamsError, Unit};
use hartrace_executions::executed::{Instructions, Verified, Verify};

/// Decodes the output of the RTL, and compares it with what was executed: accepted instructions have to
/// be recovered from the first to the last, and lost ones have to be reported where they are missing.
#[derive(Debug)]
pub struct RoundTripCheck<'a> {
    tracer: Tracer<'a>,
    instructions: Instructions<'a>,
    sink: Verify,
    /// What follows the last byte of a payload.
    tail: Tail,
    payloads: u64,
    bytes: u64,
    losing: bool,
    /// Number of accepted instructions.
    pub accepted: u64,
    /// Number of lost instructions.
    pub lost: u64,
}

impl<'a> RoundTripCheck<'a> {
    /// Creates a follower for the program. `tvec` contains the trap vector registers by privilege, which
    /// implicit exceptions require.
    pub fn new(
        config: &Config,
        image: &'a Image,
        tvec: Vec<(u8, u64)>,
    ) -> Result<Self, ParamsError> {
        let (params, unit) = (config.etrace, config.unit());
        let reading = Reading { params, unit, tvec, ..Reading::default() };
        Ok(Self {
            tracer: Tracer::new(reading, image)?,
            instructions: Instructions::of(image),
            sink: Verify::default(),
            tail: if unit == Unit::RvTracer { Tail::Zero } else { Tail::Sign },
            payloads: 0,
            bytes: 0,
            losing: false,
            accepted: 0,
            lost: 0,
        })
    }

    /// Must be called with everything that happens in a run.
    pub fn seen(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Accepted(rows) => {
                self.losing = false;
                rows.iter().for_each(|row| self.sink.executed(row));
                self.accepted += self.count(rows);
            }
            Seen::Lost(rows) => {
                // Consecutive losses are one loss.
                if !std::mem::replace(&mut self.losing, true) {
                    self.sink.lost();
                }
                self.lost += self.count(rows);
            }
            Seen::Payload(bytes, _) => {
                let at = StreamPos { packet: self.payloads, byte: self.bytes };
                self.payloads += 1;
                self.bytes += bytes.len() as u64;
                self.tracer.feed_bits(at, BitReader::new(bytes, self.tail), &mut self.sink);
            }
            Seen::Forbidden(_) | Seen::Cycle => {}
        }
    }

    fn count(&self, rows: &[Retired]) -> u64 {
        rows.iter().map(|row| self.instructions.count(row)).sum()
    }

    /// Returns the result after the run has ended.
    pub fn finish(mut self) -> Verified {
        self.tracer.finish(&mut self.sink);
        let mut verified = self.sink.finish();
        let idle = verified.idle_instructions(&self.instructions);
        if verified.decoded + idle != self.accepted {
            let (decoded, accepted) = (verified.decoded, self.accepted);
            verified.difference.get_or_insert_with(|| {
                format!("{decoded} instructions were decoded, {accepted} executed")
            });
        }
        verified
    }
}
