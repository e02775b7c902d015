//! Which framing a stream has, and what to put into its headers.

use crate::args::{FramingArgs, FramingKind};
use crate::failure::Failure;
use hartrace_bits::mask;
use hartrace_encap::{
    AtbParams, EmitError, EncapParams, FrameHeader, Framing, MAX_FRAME, ParamsError, SmiParams,
};

/// A framing with the values its headers get.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transport {
    pub(crate) framing: Framing,
    /// The source to write, or to select.
    pub(crate) source: Option<u16>,
    /// Captures start anywhere.
    pub(crate) find_sync: bool,
    /// Width of the timestamp that every written frame gets; 0 = none.
    stamp_bits: u32,
}

impl Transport {
    /// The framing `kind` with fields from the command line, or else from the parameter file.
    pub(crate) fn new(
        kind: FramingKind,
        line: &FramingArgs,
        file: &FramingArgs,
    ) -> Result<Self, Failure> {
        check_fields(kind, line)?;
        let pick = |line: Option<u8>, file: Option<u8>| line.or(file).unwrap_or(0);
        let src_bits = pick(line.src_bits, file.src_bits);
        let hart_bits = pick(line.hart_bits, file.hart_bits);
        let stamp_bytes = pick(line.timestamp_bytes, file.timestamp_bytes);
        let atid = line.atid.or(file.atid).unwrap_or(1);
        let wrong = |error: ParamsError| Failure::usage(error);
        let framing = match kind {
            FramingKind::Reference => Framing::Reference,
            FramingKind::RvTracer => Framing::RvTracer,
            FramingKind::Esp32 => Framing::Esp32,
            FramingKind::Smi => Framing::Smi(SmiParams::new(hart_bits).map_err(wrong)?),
            FramingKind::Atb => Framing::Atb(AtbParams::new(atid, stamp_bytes).map_err(wrong)?),
            FramingKind::Encap => {
                let type_bits = pick(line.type_bits, file.type_bits);
                let code = pick(line.instruction_type, file.instruction_type);
                let params = EncapParams::new(src_bits, stamp_bytes, type_bits).map_err(wrong)?;
                Framing::Encap(params.with_instruction_type(code).map_err(wrong)?)
            }
        };
        let stamp_bytes = match kind {
            FramingKind::Reference | FramingKind::Esp32 => 0,
            FramingKind::RvTracer => 8,
            FramingKind::Smi if !matches!(stamp_bytes, 0 | 2) => {
                return Err(Failure::usage(format_args!(
                    "smi time tags have 2 bytes, not {stamp_bytes}"
                )));
            }
            _ => stamp_bytes,
        };
        let source_bits = match kind {
            FramingKind::Encap => src_bits,
            FramingKind::Smi => hart_bits,
            _ => 0,
        };
        let source = line.source.or(file.source.filter(|_| source_bits > 0));
        match source {
            Some(id) if source_bits == 0 => {
                return Err(Failure::usage(format_args!("there is no source id to be {id}"))
                    .hint("--src-bits N with encap, --hart-bits N with smi, or no --source"));
            }
            Some(id) if u64::from(id) & !mask(source_bits.into()) != 0 => {
                return Err(Failure::usage(format_args!(
                    "source {id} does not fit in {source_bits} bits"
                )));
            }
            _ => {}
        }
        let stamp_bits = 8 * u32::from(stamp_bytes);
        Ok(Self { framing, source, find_sync: false, stamp_bits })
    }

    /// Captures start anywhere if `find_sync`.
    pub(crate) fn finding_sync(self, find_sync: bool) -> Self {
        Self { find_sync, ..self }
    }

    /// The capture starts with a frame.
    pub(crate) fn at_start(self) -> Self {
        self.finding_sync(false)
    }

    /// Writes the frame of packet number `packet`, sent at `time`, to the start of `out`.
    pub(crate) fn emit(
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

/// Refuses fields that the framing does not have.
fn check_fields(kind: FramingKind, line: &FramingArgs) -> Result<(), Failure> {
    use FramingKind as K;
    let rules: [(&str, bool, &[FramingKind]); 7] = [
        ("--src-bits", line.src_bits.is_some(), &[K::Encap]),
        ("--timestamp-bytes", line.timestamp_bytes.is_some(), &[K::Encap, K::Atb, K::Smi]),
        ("--type-bits", line.type_bits.is_some(), &[K::Encap]),
        ("--instruction-type", line.instruction_type.is_some(), &[K::Encap]),
        ("--hart-bits", line.hart_bits.is_some(), &[K::Smi]),
        ("--atid", line.atid.is_some(), &[K::Atb]),
        ("--source", line.source.is_some(), &[K::Encap, K::Smi]),
    ];
    for (option, given, kinds) in rules {
        if given && !kinds.contains(&kind) {
            let names: Vec<_> = kinds.iter().map(|k| format!("--framing {}", k.name())).collect();
            return Err(Failure::usage(format_args!(
                "{option} means nothing with framing {}",
                kind.name()
            ))
            .hint(names.join(" or ")));
        }
    }
    Ok(())
}

impl FramingKind {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;
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
        // What the file says about another framing does not get in the way.
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
            assert_eq!(setup(Some(PEER), line).unwrap_err().status(), 2, "{line}");
        }
    }
}
