//! E-Trace: this project's encoder and decoder behind the traits of the other schemes.

use crate::events::Events;
use crate::{Bits, Code, CompressError, Compressed, Compressor, DecodeError, Decompressor, Fault};
use hartrace_decoder::{Config, Event, Image, Path, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{EncapParams, FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Ioptions, Mode, Params, Unit};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Modes of E-Trace, and the sizes of their tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Etrace {
    /// Full addresses.
    pub full: bool,
    /// Implicit exceptions.
    pub ie: bool,
    /// Sequentially inferable jumps.
    pub sij: bool,
    /// Implicit returns.
    pub ir: bool,
    /// Branch prediction.
    pub bp: bool,
    /// Jump target cache.
    pub jtc: bool,
    /// The branch predictor has 2 to the power of this many counters.
    pub bpred_size_p: u8,
    /// The jump target cache has 2 to the power of this many entries.
    pub cache_size_p: u8,
    /// The return stack has 2 to the power of this many entries.
    pub return_stack_size_p: u8,
}

impl Default for Etrace {
    fn default() -> Self {
        let [full, ie, sij, ir, bp, jtc] = [false; 6];
        let (bpred_size_p, cache_size_p, return_stack_size_p) = (7, 7, 4);
        Self { full, ie, sij, ir, bp, jtc, bpred_size_p, cache_size_p, return_stack_size_p }
    }
}

impl Etrace {
    /// Switches a mode on, and returns whether there is a mode of that name or code.
    pub(crate) fn set(&mut self, mode: &str) -> bool {
        match mode.parse() {
            Ok(Mode::FullAddress) => self.full = true,
            Ok(Mode::ImplicitException) => self.ie = true,
            Ok(Mode::SequentiallyInferredJump) => self.sij = true,
            Ok(Mode::ImplicitReturn) => self.ir = true,
            Ok(Mode::BranchPrediction) => self.bp = true,
            Ok(Mode::JumpTargetCache) => self.jtc = true,
            Ok(Mode::DeltaAddress) | Err(_) => return false,
        }
        true
    }

    /// The name of the scheme: `E-Trace` and the codes of its modes.
    pub(crate) fn name(&self) -> String {
        match self.options() {
            none if none == Ioptions::default() => "E-Trace".into(),
            some => format!("E-Trace+{some}"),
        }
    }

    /// Returns the bits of the last address, the branch map, and the tables of the modes that are
    /// on.
    pub fn storage_bits(&self, xlen: u32) -> u64 {
        let address = u64::from(xlen) - 1;
        let table = |on: bool, size: u8, entry: u64| if on { entry << size } else { 0 };
        // The reference address for differences, 31 outcomes and their number.
        (address + 31 + 5)
            + table(self.ir, self.return_stack_size_p, address)
            + table(self.bp, self.bpred_size_p, 2)
            + table(self.jtc, self.cache_size_p, address)
    }

    fn params(&self, xlen: u32) -> Params {
        Params {
            iaddress_width_p: xlen as u8,
            iaddress_lsb_p: 1,
            privilege_width_p: 2,
            ecause_width_p: 5,
            context_width_p: 1,
            nocontext_p: true,
            time_width_p: 1,
            notime_p: true,
            f0s_width_p: 1,
            bpred_size_p: self.bpred_size_p,
            cache_size_p: self.cache_size_p,
            return_stack_size_p: self.return_stack_size_p,
            call_counter_size_p: 0,
            sijump_p: true,
        }
    }

    fn options(&self) -> Ioptions {
        let mut options = Ioptions::default();
        for (mode, on) in [
            (Mode::FullAddress, self.full),
            (Mode::ImplicitException, self.ie),
            (Mode::SequentiallyInferredJump, self.sij),
            (Mode::ImplicitReturn, self.ir),
            (Mode::BranchPrediction, self.bp),
            (Mode::JumpTargetCache, self.jtc),
        ] {
            options.set(mode, on);
        }
        options
    }

    pub(crate) fn compressor<'a>(
        &self,
        code: &'a Code,
        sync_every: Option<NonZeroU64>,
    ) -> Result<EtraceCompressor<'a>, CompressError> {
        let config = EncoderConfig {
            params: self.params(code.xlen().bits()),
            unit: Unit::Hartrace,
            options: self.options(),
            itype_width: ITypeWidth::Four,
            // If all instructions have 4 bytes, synchronisations are at least this far apart.
            resync: sync_every
                .map_or(Resync::Off, |every| Resync::HalfWords(every.get().saturating_mul(2))),
            ..EncoderConfig::default()
        };
        let encoder = Encoder::new(config).map_err(|e| CompressError::Config(e.to_string()))?;
        Ok(EtraceCompressor { encoder, events: Events::new(code), frames: Frames::default() })
    }

    pub(crate) fn decompressor<'a>(
        &self,
        code: &'a Code,
        tvec: &[(u8, u64)],
    ) -> EtraceDecompressor<'a> {
        let config = Config {
            params: self.params(code.xlen().bits()),
            unit: Unit::Hartrace,
            tvec: tvec.to_vec(),
            ..Config::default()
        };
        EtraceDecompressor { config, image: code.image() }
    }
}

/// The standard encapsulation without optional fields.
fn framing() -> Result<Framing, Fault> {
    let params = EncapParams::new(0, 0, 0).map_err(|error| Fault::Packed(error.to_string()))?;
    Ok(Framing::Encap(params))
}

/// Packets so far.
#[derive(Debug, Default)]
struct Frames {
    bytes: Vec<u8>,
    payload: u64,
    failed: Option<String>,
}

impl Frames {
    fn push(&mut self, encoded: &Encoded<'_>) {
        let mut frame = [0; MAX_FRAME];
        let emitted = framing().map_err(|fault| fault.to_string()).and_then(|framing| {
            let header = FrameHeader::default();
            framing.emit(&header, encoded.bytes, &mut frame).map_err(|error| error.to_string())
        });
        match emitted {
            Ok(length) => self.bytes.extend(frame.iter().take(length)),
            Err(error) => self.failed = Some(error),
        }
        self.payload += encoded.bytes.len() as u64;
    }
}

#[derive(Debug)]
pub(crate) struct EtraceCompressor<'a> {
    encoder: Encoder,
    /// Counts instructions, and rejects those that are not in the program.
    events: Events<'a>,
    frames: Frames,
}

impl Compressor for EtraceCompressor<'_> {
    fn retire(&mut self, row: &Retired) -> Result<(), CompressError> {
        self.events.push(row, &mut |_| Ok(()))?;
        let Self { encoder, frames, .. } = self;
        encoder.retire(row, &mut |encoded| frames.push(&encoded));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Compressed, CompressError> {
        let Self { encoder, frames, events } = &mut *self;
        encoder.finish(&mut |encoded| frames.push(&encoded));
        if let Some(failed) = frames.failed.take() {
            return Err(CompressError::Config(failed));
        }
        let bits = Bits::of_bytes(std::mem::take(&mut frames.bytes));
        Ok(Compressed {
            payload_bits: 8 * frames.payload,
            framed_bits: bits.len(),
            bits,
            instructions: events.count(),
        })
    }
}

#[derive(Debug)]
pub(crate) struct EtraceDecompressor<'a> {
    config: Config,
    image: &'a Image,
}

impl Decompressor for EtraceDecompressor<'_> {
    fn decompress(
        &self,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError> {
        let refused = |text: String| DecodeError { bit: 0, fault: Fault::Packed(text) };
        let framing = framing().map_err(|fault| DecodeError { bit: 0, fault })?;
        // No payload can cover more blocks than there are instructions.
        let max_blocks = self.config.max_blocks.min(instructions.saturating_add(16));
        let config = Config { max_blocks, ..self.config.clone() };
        let mut tracer = Tracer::new(config, self.image).map_err(|e| refused(e.to_string()))?;
        let mut pass = Pass { take, left: instructions, failed: None };
        let mut at = StreamPos::default();
        let mut rest = bits.bytes();
        while !rest.is_empty() {
            let parsed = framing.parse(rest).map_err(|error| DecodeError {
                bit: 8 * at.byte,
                fault: Fault::Packed(error.to_string()),
            })?;
            if let Item::Frame(frame) = parsed.item {
                tracer.feed_bits(at, frame.payload(), &mut pass);
            }
            if let Some(failed) = pass.failed {
                return Err(failed);
            }
            at.packet += 1;
            at.byte += parsed.used as u64;
            rest = rest.get(parsed.used..).unwrap_or_default();
        }
        tracer.finish(&mut pass);
        match (pass.failed, pass.left) {
            (Some(failed), _) => Err(failed),
            (None, 0) => Ok(()),
            (None, _) => Err(DecodeError { bit: bits.len(), fault: Fault::Truncated }),
        }
    }
}

/// Passes instructions on, up to the last one or the first that cannot be right.
struct Pass<'t> {
    take: &'t mut dyn FnMut(u64),
    left: u64,
    failed: Option<DecodeError>,
}

impl Pass<'_> {
    fn one(&mut self, at: StreamPos, address: u64) {
        if self.failed.is_some() {
            return;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                (self.take)(address);
            }
            None => {
                let fault = Fault::Malformed("more instructions are decoded than there are");
                self.failed = Some(DecodeError { bit: 8 * at.byte, fault });
            }
        }
    }
}

impl Sink for Pass<'_> {
    const ADDRESSES: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.one(at, address));
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        path.addresses(|address| self.one(at, address));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if let Event::Gap(fault) = event
            && self.failed.is_none()
        {
            let fault = Fault::Packed(fault.to_string());
            self.failed = Some(DecodeError { bit: 8 * at.byte, fault });
        }
    }
}
