//! One way round: what retires is encoded, framed, decoded and compared.

use crate::failure::Failure;
use hartrace_decoder::{Config, Image, StreamPos, Tracer};
use hartrace_encap::{FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_etrace::{Format, Ioptions, Params, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{Encoded, EncoderConfig, Resync};
use hartrace_ingress::{ITypeWidth, Retired};
use hartrace_lockstep::executed::{Verified, Verify};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// Packets between synchronisations.
const RESYNC: u64 = 1 << 10;

/// Where the capture goes: nowhere, if nobody wants it.
type Output = Option<BufWriter<File>>;

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
    /// Time spent encoding and framing.
    pub(crate) encoding: Duration,
    /// Time spent decoding and comparing.
    pub(crate) decoding: Duration,
}

/// A mode, and how far the run has come in it.
pub(crate) struct Round<'a> {
    encoder: Encoder,
    tracer: Tracer<'a>,
    verify: Verify,
    figures: Figures,
    output: Output,
    /// What has been encoded and not been decoded yet.
    frames: Frames,
    /// Bytes decoded.
    decoded: u64,
}

/// Framed payloads.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    packets: u64,
    formats: [u64; Format::ALL.len()],
    payload: u64,
    failed: Option<Failure>,
}

const FRAMING: Framing = Framing::Reference;

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
            frames: Frames::default(),
            decoded: 0,
        })
    }

    /// Takes what retired next.
    pub(crate) fn retire(&mut self, rows: &[Retired]) -> Result<(), Failure> {
        let start = Instant::now();
        for row in rows {
            self.encoder.retire(row, &mut |encoded| self.frames.push(&encoded));
        }
        self.figures.encoding += start.elapsed();
        self.decode(rows)
    }

    /// Writes and decodes what has been encoded, and compares it with what was executed.
    fn decode(&mut self, rows: &[Retired]) -> Result<(), Failure> {
        if let Some(failure) = self.frames.failed.take() {
            return Err(failure);
        }
        if let Some(output) = &mut self.output {
            output.write_all(&self.frames.bytes)?;
        }
        let start = Instant::now();
        rows.iter().for_each(|row| self.verify.executed(row));
        let mut rest = self.frames.bytes.as_slice();
        while !rest.is_empty() {
            let at = StreamPos { packet: self.figures.packets, byte: self.decoded };
            let parsed = FRAMING.parse(rest).map_err(Failure::input)?;
            if let Item::Frame(frame) = parsed.item {
                self.tracer.feed_bits(at, frame.payload(), &mut self.verify);
            }
            self.figures.packets += 1;
            self.decoded += parsed.used as u64;
            rest = rest.get(parsed.used..).unwrap_or_default();
        }
        self.frames.bytes.clear();
        self.figures.decoding += start.elapsed();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Figures, Failure> {
        self.encoder.finish(&mut |encoded| self.frames.push(&encoded));
        self.decode(&[])?;
        self.tracer.finish(&mut self.verify);
        if let Some(output) = &mut self.output {
            output.flush()?;
        }
        let Frames { packets, formats, payload: bytes, .. } = self.frames;
        let Verified { decoded, difference, .. } = self.verify.finish();
        let framed = (packets != self.figures.packets)
            .then(|| format!("{packets} packets were framed, {} came back", self.figures.packets));
        let difference = difference.or(framed);
        Ok(Figures { formats, bytes, decoded, difference, ..self.figures })
    }
}

impl Frames {
    /// Frames a payload.
    fn push(&mut self, encoded: &Encoded) {
        let mut frame = [0; MAX_FRAME];
        match FRAMING.emit(&FrameHeader::default(), &encoded.bytes, &mut frame) {
            Ok(len) => self.bytes.extend_from_slice(&frame[..len]),
            Err(error) => self.failed = Some(Failure::usage(error)),
        }
        self.packets += 1;
        self.payload += encoded.bytes.len() as u64;
        let format = encoded.payload.format();
        let index = Format::ALL.iter().position(|other| *other == format);
        if let Some(count) = index.and_then(|index| self.formats.get_mut(index)) {
            *count += 1;
        }
    }
}
