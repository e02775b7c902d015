//! E-Trace: this project's encoder and decoder behind the traits of the other schemes.

use crate::cost::{Cost, PartKind};
use crate::events::Events;
use crate::{
    Bits, Code, CompressError, Compressed, Compressor, DecodeError, Decompressor, Fault, Tage,
};
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
    /// History prediction, the extension, which excludes all of these but full addresses.
    pub hp: bool,
    /// The branch predictor has 2 to the power of this many counters.
    pub bpred_size_p: u8,
    /// The jump target cache has 2 to the power of this many entries.
    pub cache_size_p: u8,
    /// The return stack has 2 to the power of this many entries.
    pub return_stack_size_p: u8,
    /// Each tagged table of the history predictor has 2 to the power of this many entries.
    pub hpred_size_p: u8,
    /// Calls after an implicit return that are remembered until the next branch; more of them are reported.
    pub return_marks: usize,
}

impl Default for Etrace {
    fn default() -> Self {
        let [full, ie, sij, ir, bp, jtc, hp] = [false; 7];
        Self {
            full,
            ie,
            sij,
            ir,
            bp,
            jtc,
            hp,
            bpred_size_p: 7,
            cache_size_p: 7,
            return_stack_size_p: 4,
            hpred_size_p: 5,
            return_marks: EncoderConfig::default().return_marks,
        }
    }
}

impl Etrace {
    /// The configuration of a name such as `E-Trace+ir+bp`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut config = Self::default();
        let mut modes = name.strip_prefix("E-Trace")?.split('+');
        let good = modes.next() == Some("") && modes.all(|mode| config.set(mode));
        good.then_some(config)
    }

    /// Switches a mode on, and returns whether there is a mode of that name or code.
    fn set(&mut self, mode: &str) -> bool {
        match mode.parse() {
            Ok(Mode::FullAddress) => self.full = true,
            Ok(Mode::ImplicitException) => self.ie = true,
            Ok(Mode::SequentiallyInferredJump) => self.sij = true,
            Ok(Mode::ImplicitReturn) => self.ir = true,
            Ok(Mode::BranchPrediction) => self.bp = true,
            Ok(Mode::JumpTargetCache) => self.jtc = true,
            Ok(Mode::HistoryPrediction) => self.hp = true,
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

    /// The step that is not described yet (address, type, size, privilege), cause and value of its trap, and the branch map; the last
    /// address that was sent; the counter of synchronisation; and the tables of the modes that are on, with the calls that implicit
    /// returns remember. Of a target, the cache keeps the bits that its index does not determine.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let address = u64::from(xlen) - 1;
        let table = |on: bool, size: u8, entry: u64| if on { entry << size } else { 0 };
        let target = address.saturating_sub(self.cache_size_p.into());
        if self.hp {
            return self.history_cost(xlen);
        }
        let depth = 2 * u64::from(self.return_stack_size_p) + 1;
        let marks = self.return_marks as u64 * (address + u64::from(self.return_stack_size_p) + 2);
        Cost::new(xlen)
            .memory(PartKind::Input, (address + 4 + 1 + 2) + (6 + u64::from(xlen)) + (31 + 5))
            .memory(PartKind::Registers, address)
            .memory(PartKind::Registers, if self.ir { marks } else { 0 })
            .memory(PartKind::Tables, table(self.ir, self.return_stack_size_p, address))
            .memory(PartKind::Tables, table(self.bp, self.bpred_size_p, 2))
            .memory(PartKind::Tables, table(self.jtc, self.cache_size_p, target))
            .memory(PartKind::Valid, table(self.jtc, self.cache_size_p, 1))
            .memory(PartKind::Order, if self.ir { depth } else { 0 })
            .memory(PartKind::Counters, 16 + if self.bp { 32 } else { 0 })
    }

    /// The tables of the same sizes as a scheme of their own, and what E-Trace needs besides: the step that is not described yet,
    /// with cause and value of its trap, the last address that was sent, and the counter of synchronisation. Traps are sent with
    /// their handler, so no register keeps the last one.
    fn history_cost(&self, xlen: u32) -> Cost {
        let address = u64::from(xlen) - 1;
        let entries = 1 << self.hpred_size_p;
        let tage = Tage { entries, base: 8 * entries, targets: 2 * entries, ..Tage::default() };
        tage.cost(xlen)
            .memory(PartKind::Input, (address + 4 + 1 + 2) + (6 + u64::from(xlen)))
            .memory(PartKind::Counters, 16 + 4)
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let refused = |text: &str| Err(CompressError::Config(format!("E-Trace: {text}")));
        match self.options().against_history() {
            Some(mode) => refused(&format!("history prediction excludes {mode}")),
            None if !(1..=64).contains(&self.return_marks) => refused("return_marks is 1 to 64"),
            None if self.hp && !(1..=9).contains(&self.hpred_size_p) => {
                refused("hpred_size_p is 1 to 9")
            }
            None => Ok(()),
        }
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
            // History prediction has a unit of its own, without what it excludes.
            f0s_width_p: if self.hp { 0 } else { 1 },
            bpred_size_p: if self.hp { 0 } else { self.bpred_size_p },
            cache_size_p: if self.hp { 0 } else { self.cache_size_p },
            return_stack_size_p: if self.hp { 0 } else { self.return_stack_size_p },
            call_counter_size_p: 0,
            sijump_p: !self.hp,
            hpred_size_p: if self.hp { self.hpred_size_p } else { 0 },
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
            (Mode::HistoryPrediction, self.hp),
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
            return_marks: self.return_marks,
            // Each instruction is a cycle: see `retire`.
            resync: sync_every.map_or(Resync::Off, |every| Resync::Cycles(every.get())),
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
    /// Bytes of payloads.
    payload: u64,
    /// Bits of payloads, without those that a reader would fill in again.
    exact: u64,
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
        self.exact += exact_bits(encoded.bytes);
    }
}

/// Bits of a payload up to the last that differs from its sign, and the sign itself.
fn exact_bits(bytes: &[u8]) -> u64 {
    let mut bits = 8 * bytes.len() as u64;
    let bit = |at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
    while bits > 1 && bit(bits - 1) == bit(bits - 2) {
        bits -= 1;
    }
    bits
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
        let before = self.events.count();
        self.events.push(row, &mut |_| Ok(()))?;
        // Other schemes count instructions up to the next synchronisation, and so does this one: in place of cycles.
        let instructions = self.events.count().saturating_sub(before);
        let row = Retired { cycles: instructions.try_into().unwrap_or(u32::MAX), ..*row };
        let Self { encoder, frames, .. } = self;
        encoder.retire(&row, &mut |encoded| frames.push(&encoded));
        Ok(())
    }

    fn bits(&self) -> u64 {
        8 * self.frames.payload
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
            exact_bits: frames.exact,
            framed_bits: bits.len(),
            bits,
            instructions: events.count(),
            records: Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::{Isa, Xlen};

    /// Synchronisations are as far apart in instructions of 2 bytes as in those of 4.
    #[test]
    fn instructions_are_counted_between_synchronisations() {
        let packets = |nop: &[u8], size: u32| {
            let mut image = Image::new(Isa::new(Xlen::Rv64));
            image.add(0x1000, &nop.repeat(100));
            let code = Code::new(&image);
            let every = NonZeroU64::new(10);
            let mut compressor = Etrace::default().compressor(&code, every).unwrap();
            for number in 0..100 {
                let plain = Retired::plain(0x1000 + 2 * u64::from(size * number));
                let row = Retired { iretire: size, ilastsize: size as u8 - 1, ..plain };
                compressor.retire(&row).unwrap();
            }
            let compressed = Box::new(compressor).finish().unwrap();
            let (mut rest, mut packets) = (compressed.bits.bytes(), 0);
            while !rest.is_empty() {
                rest = &rest[framing().unwrap().parse(rest).unwrap().used..];
                packets += 1;
            }
            packets
        };
        let [narrow, wide] =
            [packets(&[0x01, 0x00], 1), packets(&0x0000_0013_u32.to_le_bytes(), 2)];
        assert_eq!(narrow, wide);
        assert!(wide >= 10, "{wide}");
    }

    /// Of implicit returns, those of four calls in a row need as many marks.
    #[test]
    fn marks_are_charged() {
        let bits = |return_marks| {
            let config = Etrace { ir: true, return_marks, ..Etrace::default() };
            config.cost(64).bits_of(PartKind::Registers)
        };
        assert_eq!(bits(4) - bits(2), 2 * (63 + 6));
        assert_eq!(Etrace::default().cost(64).bits_of(PartKind::Registers), 63);
    }

    #[test]
    fn payloads_to_the_bit() {
        for (bytes, bits) in [
            (&[0b0000_0001][..], 2),
            (&[0b1111_1110], 2),
            (&[0], 1),
            (&[0b1010_1010], 8),
            (&[0xff, 0b0000_0011], 11),
            (&[0x80, 0xff], 8),
            (&[], 0),
        ] {
            assert_eq!(exact_bits(bytes), bits, "{bytes:?}");
        }
    }
}
