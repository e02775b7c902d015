//! The round trip: what a program retires is encoded, framed, decoded and compared with what was executed.
//!
//! [`Trial`] executes a program once and makes the round trip in several modes; [`Round`] covers one mode,
//! for rows from any source. [`Table`] prints the results.

mod error;
mod kept;
mod table;
mod trial;

use crate::executed::{Instructions, Verified, Verify};
pub use error::RoundError;
use hartrace_capture::output::CaptureOutput;
use hartrace_decoder::{Config, Image, StreamPos, Tracer};
use hartrace_encap::{FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Format, Ioptions, Params, Unit};
use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};
pub use table::Table;
pub use trial::{Line, Ran, Trial};

/// Number of packets between synchronisations.
pub const RESYNC: u64 = 1 << 10;

/// The result of a run in one mode.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Packets that were decoded.
    pub packets: u64,
    /// Packets of each format, in the order of [`Format::ALL`].
    pub formats: [u64; Format::ALL.len()],
    /// Bytes of payloads.
    pub bytes: u64,
    /// Instructions that were recovered.
    pub decoded: u64,
    /// Instructions that no trace contains, at the end or before a trap: see [`is_idle`](crate::executed::is_idle).
    pub idle: u64,
    /// The first instruction that was not recovered.
    pub difference: Option<String>,
    /// Time spent encoding and framing.
    pub encoding: Duration,
    /// Time spent decoding and comparing.
    pub decoding: Duration,
}

/// The round trip in one mode, and its progress.
pub struct Round<'a> {
    encoder: Encoder,
    tracer: Tracer<'a>,
    verify: Verify,
    image: Image,
    figures: Figures,
    output: Option<CaptureOutput>,
    /// What has been encoded but not yet decoded.
    frames: Frames,
    /// Bytes decoded.
    decoded: u64,
    /// Whether the output could not be written to its end.
    unwritten: bool,
}

/// Framed payloads.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    packets: u64,
    formats: [u64; Format::ALL.len()],
    payload: u64,
    failed: Option<RoundError>,
}

const FRAMING: Framing = Framing::Reference;

impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").field("figures", &self.figures).finish_non_exhaustive()
    }
}

impl<'a> Round<'a> {
    /// Sets up an encoder and a decoder for this program. `tvec` contains the trap vector registers by
    /// privilege, which implicit exceptions require; frames are also written to `output`.
    ///
    /// # Errors
    ///
    /// If there is no encoder with these parameters and modes.
    pub fn new(
        params: Params,
        options: Ioptions,
        image: &'a Image,
        tvec: Vec<(u8, u64)>,
        output: Option<CaptureOutput>,
    ) -> Result<Self, RoundError> {
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
            encoder: Encoder::new(encoder)?,
            tracer: Tracer::new(config, image)?,
            verify: Verify::default().with_contexts(),
            image: image.clone(),
            figures: Figures::default(),
            output,
            frames: Frames::default(),
            decoded: 0,
            unwritten: false,
        })
    }

    /// Adds code: the program has loaded more, and `image` has all of it.
    pub fn extend(&mut self, image: &Image) {
        self.tracer.extend(image);
        self.image = image.clone();
    }

    /// Encodes and decodes what retired next.
    ///
    /// # Errors
    ///
    /// If a payload cannot be framed, a frame cannot be read back, or the output cannot be written. A
    /// difference is not an error: the result reports it.
    pub fn retire(&mut self, rows: &[Retired]) -> Result<(), RoundError> {
        let start = Instant::now();
        let Self { encoder, frames, .. } = self;
        encoder.retire_all(rows, &mut |encoded| frames.push(&encoded));
        self.figures.encoding += start.elapsed();
        self.decode(rows)
    }

    /// Writes and decodes what has been encoded, and compares it with what was executed.
    fn decode(&mut self, rows: &[Retired]) -> Result<(), RoundError> {
        if let Some(error) = self.frames.failed.take() {
            return Err(error);
        }
        // Even if nothing more can be written, all that was executed is compared.
        let mut written = Ok(());
        if let Some(output) = self.output.as_mut().filter(|_| !self.unwritten) {
            written = output.write_all(&self.frames.bytes).map_err(RoundError::Write);
            self.unwritten = written.is_err();
        }
        let start = Instant::now();
        rows.iter().for_each(|row| self.verify.executed(row));
        let mut rest = self.frames.bytes.as_slice();
        while !rest.is_empty() {
            let at = StreamPos { packet: self.figures.packets, byte: self.decoded };
            let parsed = FRAMING.parse(rest)?;
            if let Item::Frame(frame) = parsed.item {
                self.tracer.feed_bits(at, frame.payload(), &mut self.verify);
            }
            self.figures.packets += 1;
            self.decoded += parsed.used as u64;
            rest = rest.get(parsed.used..).unwrap_or_default();
        }
        self.frames.bytes.clear();
        self.figures.decoding += start.elapsed();
        written
    }

    /// Ends the trace and returns the result, with the capture, which has to be finished.
    ///
    /// # Errors
    ///
    /// If a payload cannot be framed, or a frame cannot be read back. A capture that cannot be written is one that cannot
    /// be finished.
    pub fn finish(mut self) -> Result<(Figures, Option<CaptureOutput>), RoundError> {
        self.encoder.finish(&mut |encoded| self.frames.push(&encoded));
        match self.decode(&[]) {
            Ok(()) | Err(RoundError::Write(_)) => {}
            Err(error) => return Err(error),
        }
        self.tracer.finish(&mut self.verify);
        let Frames { packets, formats, payload: bytes, .. } = self.frames;
        let verified = self.verify.finish();
        let idle = verified.idle_instructions(&Instructions::of(&self.image));
        let Verified { decoded, difference, .. } = verified;
        let framed = (packets != self.figures.packets)
            .then(|| format!("{packets} packets were framed, {} decoded", self.figures.packets));
        let difference = difference.or(framed);
        Ok((Figures { formats, bytes, decoded, idle, difference, ..self.figures }, self.output))
    }
}

impl Frames {
    /// Frames a payload.
    fn push(&mut self, encoded: &Encoded<'_>) {
        let mut frame = [0; MAX_FRAME];
        match FRAMING.emit(&FrameHeader::default(), encoded.bytes, &mut frame) {
            Ok(len) => self.bytes.extend_from_slice(frame.get(..len).unwrap_or_default()),
            Err(error) => self.failed = Some(error.into()),
        }
        self.packets += 1;
        self.payload += encoded.bytes.len() as u64;
        // The order of the formats is that of `Format::ALL`.
        if let Some(count) = self.formats.get_mut(encoded.payload.format() as usize) {
            *count += 1;
        }
    }
}
