//! Framings: how payloads are packed into a byte stream, and what frame headers contain.

use hartrace_bits::mask;
use hartrace_decoder::stream;
use hartrace_encap::{
    AtbParams, EmitError, EncapParams, FrameHeader, Framing, MAX_FRAME, ParamsError, SmiParams,
};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A framing, without the widths of its fields.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Files of the reference flow.
    Reference,
    /// Standard encapsulation.
    Encap,
    /// Siemens messaging.
    Smi,
    /// Records of rv_tracer, with its dialect of payloads.
    RvTracer,
    /// The data side of an ATB port.
    Atb,
    /// Trace memory of the ESP32-C6.
    Esp32,
}

impl Kind {
    /// Every framing.
    pub const ALL: [Self; 6] =
        [Self::Reference, Self::Encap, Self::Smi, Self::RvTracer, Self::Atb, Self::Esp32];

    /// The name in parameter files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Encap => "encap",
            Self::Smi => "smi",
            Self::RvTracer => "rv-tracer",
            Self::Atb => "atb",
            Self::Esp32 => "esp32",
        }
    }
}

impl Kind {
    /// What is framed in this way, in a few words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Reference => "te_inst_raw files of the reference flow",
            Self::Encap => "Standard encapsulation",
            Self::Smi => "Siemens messaging",
            Self::RvTracer => "40-byte records of rv_tracer, with its payload dialect",
            Self::Atb => "The data side of an ATB port",
            Self::Esp32 => "ESP32-C6 trace memory",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No framing has this name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("no such framing: one of reference, encap, smi, rv-tracer, atb and esp32")]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownKind)
    }
}

/// Widths and values of framing fields; a field that is not given is 0 or absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// encap: width of srcID.
    pub src_bits: Option<u8>,
    /// encap, atb: width of the timestamp; smi: 2 to write time tags.
    pub timestamp_bytes: Option<u8>,
    /// encap: width of the type field.
    pub type_bits: Option<u8>,
    /// encap: type code of instruction trace.
    pub instruction_type: Option<u8>,
    /// smi: width of the hart index.
    pub hart_bits: Option<u8>,
    /// atb: the source's ATID; 1 if not given.
    pub atid: Option<u8>,
    /// encap, smi: the source to write, or to select from a capture.
    pub source: Option<u16>,
}

/// The name of one of the [`Fields`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// [`Fields::src_bits`].
    SrcBits,
    /// [`Fields::timestamp_bytes`].
    TimestampBytes,
    /// [`Fields::type_bits`].
    TypeBits,
    /// [`Fields::instruction_type`].
    InstructionType,
    /// [`Fields::hart_bits`].
    HartBits,
    /// [`Fields::atid`].
    Atid,
    /// [`Fields::source`].
    Source,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 7] = [
        Self::SrcBits,
        Self::TimestampBytes,
        Self::TypeBits,
        Self::InstructionType,
        Self::HartBits,
        Self::Atid,
        Self::Source,
    ];

    /// The name in parameter files; on the command line with two dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SrcBits => "src-bits",
            Self::TimestampBytes => "timestamp-bytes",
            Self::TypeBits => "type-bits",
            Self::InstructionType => "instruction-type",
            Self::HartBits => "hart-bits",
            Self::Atid => "atid",
            Self::Source => "source",
        }
    }

    /// The framings that have this field.
    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::SrcBits | Self::TypeBits | Self::InstructionType => &[Kind::Encap],
            Self::TimestampBytes => &[Kind::Encap, Kind::Atb, Kind::Smi],
            Self::HartBits => &[Kind::Smi],
            Self::Atid => &[Kind::Atb],
            Self::Source => &[Kind::Encap, Kind::Smi],
        }
    }

    const fn is_given(self, fields: &Fields) -> bool {
        match self {
            Self::SrcBits => fields.src_bits.is_some(),
            Self::TimestampBytes => fields.timestamp_bytes.is_some(),
            Self::TypeBits => fields.type_bits.is_some(),
            Self::InstructionType => fields.instruction_type.is_some(),
            Self::HartBits => fields.hart_bits.is_some(),
            Self::Atid => fields.atid.is_some(),
            Self::Source => fields.source.is_some(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a framing cannot have these fields.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The framing does not have this field: see [`Field::kinds`].
    #[error("{field} means nothing with framing {kind}")]
    NoField {
        /// The field that was given.
        field: Field,
        /// The framing.
        kind: Kind,
    },
    /// A width or value is out of range.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// A time tag of another length.
    #[error("smi time tags have 2 bytes, not {0}")]
    TimeTag(u8),
    /// A source was given, but frames have no source id.
    #[error("frames have no source id, so none can be {0}")]
    NoSource(u16),
    /// The source needs more bits than the frame has.
    #[error("source {id} does not fit in {bits} bits")]
    SourceTooWide {
        /// The source.
        id: u16,
        /// The bits that the frame has for it.
        bits: u8,
    },
}

/// A framing with the values of its headers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The frames around payloads.
    pub framing: Framing,
    /// The source to write, or to select.
    pub source: Option<u16>,
    /// Captures may start in the middle of a frame.
    pub find_sync: bool,
    /// Width of the timestamp that every written frame gets; 0 = none.
    stamp_bits: u32,
}

impl Transport {
    /// Returns the framing `kind` with the fields of `first`, or of `second` where `first` has none.
    ///
    /// Fields of `second` that the framing does not have are ignored: a file may describe another
    /// framing than the one that was chosen.
    pub fn new(kind: Kind, first: &Fields, second: &Fields) -> Result<Self, Error> {
        for field in Field::ALL {
            if field.is_given(first) && !field.kinds().contains(&kind) {
                return Err(Error::NoField { field, kind });
            }
        }
        let pick = |first: Option<u8>, second: Option<u8>| first.or(second).unwrap_or(0);
        let src_bits = pick(first.src_bits, second.src_bits);
        let hart_bits = pick(first.hart_bits, second.hart_bits);
        let stamp_bytes = pick(first.timestamp_bytes, second.timestamp_bytes);
        let atid = first.atid.or(second.atid).unwrap_or(1);
        let framing = match kind {
            Kind::Reference => Framing::Reference,
            Kind::RvTracer => Framing::RvTracer,
            Kind::Esp32 => Framing::Esp32,
            Kind::Smi => Framing::Smi(SmiParams::new(hart_bits)?),
            Kind::Atb => Framing::Atb(AtbParams::new(atid, stamp_bytes)?),
            Kind::Encap => {
                let type_bits = pick(first.type_bits, second.type_bits);
                let code = pick(first.instruction_type, second.instruction_type);
                let params = EncapParams::new(src_bits, stamp_bytes, type_bits)?;
                Framing::Encap(params.with_instruction_type(code)?)
            }
        };
        let stamp_bytes = match kind {
            Kind::Reference | Kind::Esp32 => 0,
            Kind::RvTracer => 8,
            Kind::Smi if !matches!(stamp_bytes, 0 | 2) => {
                return Err(Error::TimeTag(stamp_bytes));
            }
            _ => stamp_bytes,
        };
        let source_bits = match kind {
            Kind::Encap => src_bits,
            Kind::Smi => hart_bits,
            _ => 0,
        };
        let source = first.source.or(second.source.filter(|_| source_bits > 0));
        match source {
            Some(id) if source_bits == 0 => return Err(Error::NoSource(id)),
            Some(id) if u64::from(id) & !mask(source_bits.into()) != 0 => {
                return Err(Error::SourceTooWide { id, bits: source_bits });
            }
            _ => {}
        }
        let stamp_bits = u32::from(stamp_bytes).saturating_mul(8);
        Ok(Self { framing, source, find_sync: false, stamp_bits })
    }

    /// If `find_sync`, captures may start in the middle of a frame.
    pub fn finding_sync(self, find_sync: bool) -> Self {
        Self { find_sync, ..self }
    }

    /// Returns how the decoder has to read a capture.
    pub const fn stream(&self) -> stream::Transport {
        let Self { framing, source, find_sync, .. } = *self;
        stream::Transport { framing, source, find_sync }
    }

    /// Returns how to read `framing`; only `source` if that is given.
    pub fn of(framing: Framing, source: Option<u16>) -> Self {
        let stamp_bytes = match framing {
            Framing::Reference | Framing::Smi(_) | Framing::Esp32 => 0,
            Framing::RvTracer => 8,
            Framing::Encap(params) => params.timestamp_bytes(),
            Framing::Atb(params) => params.timestamp_bytes(),
        };
        let stamp_bits = u32::from(stamp_bytes).saturating_mul(8);
        Self { framing, source, find_sync: false, stamp_bits }
    }

    /// Returns the kind of framing.
    pub const fn kind(&self) -> Kind {
        match self.framing {
            Framing::Reference => Kind::Reference,
            Framing::Encap(_) => Kind::Encap,
            Framing::Smi(_) => Kind::Smi,
            Framing::RvTracer => Kind::RvTracer,
            Framing::Atb(_) => Kind::Atb,
            Framing::Esp32 => Kind::Esp32,
        }
    }

    /// Returns the fields with which [`Transport::new`] makes the same framing.
    pub fn fields(&self) -> Fields {
        let stamp_bytes = Some((self.stamp_bits / 8) as u8);
        let fields = Fields { source: self.source, ..Fields::default() };
        match self.framing {
            Framing::Reference | Framing::RvTracer | Framing::Esp32 => fields,
            Framing::Encap(params) => Fields {
                src_bits: Some(params.src_id_bits()),
                timestamp_bytes: stamp_bytes,
                type_bits: Some(params.type_bits()),
                instruction_type: Some(params.instruction_type()),
                ..fields
            },
            Framing::Smi(params) => Fields {
                hart_bits: Some(params.hart_index_bits()),
                timestamp_bytes: stamp_bytes,
                ..fields
            },
            Framing::Atb(params) => {
                Fields { atid: Some(params.atid()), timestamp_bytes: stamp_bytes, ..fields }
            }
        }
    }

    /// Writes the frame of packet number `packet`, sent at `time`, to the start of `out`. Returns its length.
    pub fn emit(
        &self,
        packet: u64,
        time: u64,
        payload: &[u8],
        out: &mut [u8; MAX_FRAME],
    ) -> Result<usize, EmitError> {
        let source = match self.framing {
            Framing::Atb(params) => Some(params.atid().into()),
            Framing::Encap(params) if params.src_id_bits() > 0 => Some(self.source.unwrap_or(0)),
            Framing::Smi(params) if params.hart_index_bits() > 0 => Some(self.source.unwrap_or(0)),
            _ => None,
        };
        let header = FrameHeader {
            source,
            timestamp: (self.stamp_bits > 0).then_some(time & mask(self.stamp_bits)),
            index: (self.framing == Framing::Esp32).then_some(packet as u16),
            ..FrameHeader::default()
        };
        self.framing.emit(&header, payload, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::SetupError;
    use crate::params::tests::{PEER, setup};

    fn emitted(line: &str, time: u64) -> Vec<u8> {
        let transport = setup(Some(PEER), line).unwrap().transport;
        let mut out = [0; MAX_FRAME];
        let len = transport.emit(7, time, &[0x1f, 0x04], &mut out).unwrap();
        out[..len].to_vec()
    }

    #[test]
    fn each_framing() {
        assert_eq!(emitted("", 9), [0x42, 0x1f, 0x04]);
        assert_eq!(emitted("--framing encap", 9), [0x02, 0x1f, 0x04]);
        assert_eq!(
            emitted("--framing encap --src-bits 8 --timestamp-bytes 1 --source 5", 0x109),
            [0x82, 0x05, 0x09, 0x1f, 0x04]
        );
        assert_eq!(
            emitted(
                "--framing encap --src-bits 6 --type-bits 2 --instruction-type 2 --source 1",
                0
            ),
            [0x03, 0x81, 0x1f, 0x04]
        );
        assert_eq!(emitted("--framing smi --hart-bits 8", 0), [0x42, 0x00, 0x1f, 0x04]);
        assert_eq!(
            emitted("--framing smi --timestamp-bytes 2", 0x10203),
            [0xc2, 0x03, 0x02, 0x1f, 0x04]
        );
        assert_eq!(emitted("--framing atb --atid 3", 0), [0x02, 0x1f, 0x04]);
        assert_eq!(emitted("--framing esp32", 0), [0x05, 0x07, 0x00, 0x1f, 0x04]);
    }

    #[test]
    fn file_and_line() {
        let text = format!("{PEER}[framing]\nkind = \"encap\"\nsrc-bits = 8\nsource = 2\n");
        let transport = setup(Some(&text), "").unwrap().transport;
        assert_eq!(transport.source, Some(2));
        let transport = setup(Some(&text), "--source 4").unwrap().transport;
        assert_eq!(transport.source, Some(4));
        // Fields in the file for another framing are ignored.
        let transport = setup(Some(&text), "--framing reference").unwrap().transport;
        assert_eq!((transport.framing, transport.source), (Framing::Reference, None));
    }

    #[test]
    fn fields_the_framing_does_not_have() {
        for line in [
            "--source 1",
            "--framing encap --source 1",
            "--framing encap --src-bits 2 --source 4",
            "--framing encap --src-bits 17",
            "--framing encap --instruction-type 2",
            "--framing encap --hart-bits 2",
            "--framing smi --timestamp-bytes 4",
            "--framing atb --atid 128",
            "--framing atb --source 1",
            "--framing rv-tracer --timestamp-bytes 8",
        ] {
            let error = setup(Some(PEER), line).unwrap_err();
            assert!(matches!(error, SetupError::Framing(_)), "{line}: {error}");
        }
    }
}
