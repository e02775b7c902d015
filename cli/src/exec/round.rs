//! One way round: what retires is encoded, framed, decoded and compared.

use super::verify::Verify;
use crate::failure::Failure;
use hartrace_decoder::{Config, Image, StreamPos, Tracer};
use hartrace_encap::{FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_etrace::{Format, Ioptions, Params, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{Encoded, EncoderConfig, Resync};
use hartrace_ingress::{ITypeWidth, Retired};
use std::io::Write;

/// Packets between synchronisations.
const RESYNC: u64 = 1 << 10;

/// Where captures go: nowhere, if nobody wants them.
pub(crate) type Output = Option<Box<dyn Write + Send>>;

/// What came of a run in one mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) packets: u64,
    /// Packets of each format, in the order of [`Format::ALL`].
    pub(crate) formats: [u64; Format::ALL.len()],
    /// Bytes of payloads.
    pub(crate) bytes: u64,
    /// Instructions that came back.
    pub(crate) decoded: u64,
    /// The first instruction that did not.
    pub(crate) difference: Option<String>,
}

/// A mode, and how far the run has come in it.
pub(crate) struct Round<'a> {
    encoder: Encoder,
    tracer: Tracer<'a>,
    verify: Verify,
    figures: Figures,
    output: Output,
    failed: Result<(), Failure>,
    written: u64,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        params: Params,
        options: Ioptions,
        image: &'a Image,
        tvec: Vec<(u8, u64)>,
        output: Output,
    ) -> Result<Self, Failure> {
        let unit = Unit::Hartrace;
        let encoder = EncoderConfig {
            params,
            unit,
            options,
            itype_width: ITypeWidth::Four,
            resync: Resync::Packets(RESYNC),
            ..EncoderConfig::default()
        };
        let config = Config { params, unit, tvec, ..Config::default() };
        Ok(Self {
            encoder: Encoder::new(encoder).map_err(Failure::usage)?,
            tracer: Tracer::new(config, image).map_err(Failure::usage)?,
            verify: Verify::default(),
            figures: Figures::default(),
            output,
            failed: Ok(()),
            written: 0,
        })
    }

    /// Takes what retired next.
    pub(crate) fn retire(&mut self, rows: &[Retired]) -> Result<(), Failure> {
        for row in rows {
            self.verify.executed(row);
            self.step(|encoder, out| encoder.retire(row, out));
        }
        std::mem::replace(&mut self.failed, Ok(()))
    }

    fn step(&mut self, step: impl FnOnce(&mut Encoder, &mut dyn FnMut(Encoded))) {
        let Self { encoder, tracer, verify, figures, output, failed, written } = self;
        step(encoder, &mut |encoded| {
            let result = carry(&encoded, *written, figures, tracer, verify, output);
            match result {
                Ok(len) => *written += len,
                Err(failure) => *failed = Err(failure),
            }
        });
    }

    pub(crate) fn finish(mut self) -> Result<Figures, Failure> {
        self.step(|encoder, out| encoder.finish(out));
        std::mem::replace(&mut self.failed, Ok(()))?;
        self.tracer.finish(&mut self.verify);
        if let Some(output) = &mut self.output {
            output.flush()?;
        }
        let decoded = self.verify.decoded;
        Ok(Figures { decoded, difference: self.verify.finish(), ..self.figures })
    }
}

/// Frames a payload, and takes it out of its frame again on the other side. Returns its length.
fn carry(
    encoded: &Encoded,
    byte: u64,
    figures: &mut Figures,
    tracer: &mut Tracer<'_>,
    verify: &mut Verify,
    output: &mut Output,
) -> Result<u64, Failure> {
    let mut buffer = [0; MAX_FRAME];
    let framing = Framing::Reference;
    let len = framing
        .emit(&FrameHeader::default(), &encoded.bytes, &mut buffer)
        .map_err(Failure::usage)?;
    let frame = &buffer[..len];
    if let Some(output) = output {
        output.write_all(frame)?;
    }
    let at = StreamPos { packet: figures.packets, byte };
    figures.packets += 1;
    figures.bytes += encoded.bytes.len() as u64;
    let format = encoded.payload.format();
    let index = Format::ALL.iter().position(|other| *other == format);
    if let Some(count) = index.and_then(|index| figures.formats.get_mut(index)) {
        *count += 1;
    }
    if let Ok(parsed) = framing.parse(frame)
        && let Item::Frame(frame) = parsed.item
    {
        tracer.feed_bits(at, frame.payload(), verify);
    }
    Ok(len as u64)
}
