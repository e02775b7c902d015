//! The encoder's parameters and modes, and everything else that a stream does not contain itself.
//!
//! Parameter files are TOML, or JSON if they start with a brace. Keys are the specification's parameter
//! names (`iaddress_width_p`, ...), in the file itself or in a table `parameters`. Another key is `xlen`; two more
//! tables are `options` (modes, `resync-max`, `resync-mode`, `unit`, `compat`, `itype-width`) and `framing` (`kind`
//! and the fields of [`Fields`]).

mod commented;
pub(crate) mod document;
mod draft;
mod error;
mod text;

pub(crate) use draft::unknown;
pub use draft::{Draft, ResyncMode};
pub(crate) use draft::{compat_name, unit_name};
pub use error::{DocumentError, Problem, SetupError};

use crate::framing::{Fields, Kind, Transport};
use hartrace_etrace::encoder::EncoderConfig;
pub use hartrace_etrace::encoder::Resync;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_etrace::{Compat, Ioptions, Layout, Params, Unit};
use hartrace_isa::Xlen;

/// Settings of a stream from outside its parameter file, which take precedence over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The base instruction set; implies `iaddress_width_p` where the parameters do not set it.
    pub xlen: Option<Xlen>,
    /// The framing.
    pub framing: Option<Kind>,
    /// Fields of the framing.
    pub fields: Fields,
    /// The capture may start in the middle of a frame.
    pub find_sync: bool,
}

/// Everything about a stream, complete and checked.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The encoder's parameters.
    pub params: Params,
    /// The implementation whose choices the encoder makes where the specification leaves them open.
    pub unit: Unit,
    /// The reference model whose deviations from the specification the stream has.
    pub compat: Compat,
    /// The base instruction set.
    pub xlen: Xlen,
    /// Modes to encode with; for a capture, those in force before its first support packet.
    pub options: Ioptions,
    /// Width of `itype` between hart and encoder.
    pub itype_width: ITypeWidth,
    /// When the encoder resynchronises.
    pub resync: Resync,
    /// The fields of payloads, which follow from parameters and unit.
    pub layout: Layout,
    /// How payloads are framed.
    pub transport: Transport,
}

impl Setup {
    /// The configuration of an encoder that writes such streams.
    pub fn encoder(&self) -> EncoderConfig {
        EncoderConfig {
            params: self.params,
            unit: self.unit,
            options: self.options,
            itype_width: self.itype_width,
            resync: self.resync,
            compat: self.compat,
            ..EncoderConfig::default()
        }
    }

    /// Whether the encoder tells when tracing ends. The one of rv_tracer does not.
    pub fn tells_its_end(&self) -> bool {
        self.unit != Unit::RvTracer
    }

    /// Completes the contents of a parameter file, if there is one.
    pub fn new(draft: Option<Draft>, given: &Given) -> Result<Self, SetupError> {
        let has_file = draft.is_some();
        let draft = draft.unwrap_or_default();
        let kind = given.framing.or(draft.framing).unwrap_or(Kind::Reference);
        let dialect = kind == Kind::RvTracer;
        if !has_file && !dialect {
            return Err(SetupError::NoParameters);
        }
        let unit = draft.unit.unwrap_or(if dialect { Unit::RvTracer } else { Unit::Reference });
        let xlen = given.xlen.or(draft.xlen);
        let (xlen, width) = width(&draft, xlen, unit == Unit::RvTracer)?;
        let base = if unit == Unit::RvTracer { Params::RV_TRACER } else { Params::default() };
        let params = Params { iaddress_width_p: width, ..complete(&draft, base)? };
        let layout = params.layout(unit)?;
        let mut options = Ioptions::default();
        for (mode, on) in &draft.modes {
            options.set(*mode, *on);
        }
        // No support packet could switch it on or off, and every packet of it would be a gap.
        if options.history_prediction && params.hpred_size_p == 0 {
            return Err(SetupError::NoHistory);
        }
        options.delta_address = unit == Unit::RvTracer && !options.full_address;
        Ok(Self {
            params,
            unit,
            compat: draft.compat.unwrap_or_default(),
            xlen,
            options,
            itype_width: match draft.itype_width {
                Some(3) => ITypeWidth::Three,
                _ => ITypeWidth::Four,
            },
            resync: resync(&draft)?,
            layout,
            transport: Transport::new(kind, &given.fields, &draft.fields)?
                .finding_sync(given.find_sync),
        })
    }
}

/// XLEN and `iaddress_width_p`.
fn width(draft: &Draft, xlen: Option<Xlen>, dialect: bool) -> Result<(Xlen, u8), SetupError> {
    let width = draft.params.get("iaddress_width_p").and_then(|v| v.as_u64());
    let width = width.and_then(|v| u8::try_from(v).ok()).or(dialect.then_some(64));
    match (xlen, width) {
        (None, None) => Err(SetupError::NoWidth),
        // Addresses may be narrower than registers, but 32 is another instruction set.
        (Some(xlen), Some(width))
            if u32::from(width) > xlen.bits() || (xlen == Xlen::Rv64 && width == 32) =>
        {
            Err(SetupError::Width { xlen, width })
        }
        (Some(xlen), width) => Ok((xlen, width.unwrap_or(xlen.bits() as u8))),
        (None, Some(width @ 33..)) => Ok((Xlen::Rv64, width)),
        (None, Some(width)) => Ok((Xlen::Rv32, width)),
    }
}

/// `base` with the values of the draft.
fn complete(draft: &Draft, base: Params) -> Result<Params, SetupError> {
    let mut all = match serde_json::to_value(base) {
        Ok(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    all.extend(draft.params.clone());
    Ok(serde_json::from_value(all.into())?)
}

fn resync(draft: &Draft) -> Result<Resync, SetupError> {
    // 2^(max + 4). Files are limited to 59.
    let period = draft.resync_max.map(|max| 16u64.wrapping_shl(max.min(59)));
    let mode = draft.resync_mode.unwrap_or(match period {
        Some(_) => ResyncMode::Packets,
        None => ResyncMode::Off,
    });
    Ok(match mode {
        ResyncMode::Off => Resync::Off,
        ResyncMode::Packets => Resync::Packets(period.ok_or(SetupError::NoPeriod)?),
        ResyncMode::Cycles => Resync::Cycles(period.ok_or(SetupError::NoPeriod)?),
        ResyncMode::HalfWords => Resync::HalfWords(period.ok_or(SetupError::NoPeriod)?),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The setup for parameters in `text` and options as on the command line in `line`.
    pub(crate) fn setup(text: Option<&str>, line: &str) -> Result<Setup, SetupError> {
        let draft = text.map(|text| Draft::parse(text, "p").unwrap());
        let mut given = Given::default();
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.chunks(2) {
            let fields = &mut given.fields;
            match pair[0] {
                "--xlen" if pair[1] == "32" => given.xlen = Some(Xlen::Rv32),
                "--xlen" => given.xlen = Some(Xlen::Rv64),
                "--framing" => given.framing = Some(pair[1].parse().unwrap()),
                "--src-bits" => fields.src_bits = pair[1].parse().ok(),
                "--timestamp-bytes" => fields.timestamp_bytes = pair[1].parse().ok(),
                "--type-bits" => fields.type_bits = pair[1].parse().ok(),
                "--instruction-type" => fields.instruction_type = pair[1].parse().ok(),
                "--hart-bits" => fields.hart_bits = pair[1].parse().ok(),
                "--atid" => fields.atid = pair[1].parse().ok(),
                "--source" => fields.source = pair[1].parse().ok(),
                other => panic!("{other}"),
            }
        }
        Setup::new(draft, &given)
    }

    /// The parameter file of the peer crate.
    pub(crate) const PEER: &str = "\
        arch_p=0\nbpred_size_p=0\ncache_size_p=0\ncall_counter_size_p=0\ncontext_width_p=32\n\
        time_width_p=1\necause_width_p=5\nf0s_width_p=0\niaddress_lsb_p=1\niaddress_width_p=32\n\
        nocontext_p=0\nnotime_p=1\nprivilege_width_p=2\nreturn_stack_size_p=0\nsijump_p=0\n";

    #[test]
    fn the_peers_file() {
        let setup = setup(Some(PEER), "--xlen 32").unwrap();
        let expected = Params {
            context_width_p: 32,
            nocontext_p: false,
            ecause_width_p: 5,
            ..Params::default()
        };
        assert_eq!(setup.params, expected);
        assert_eq!(setup.unit, Unit::Reference);
        assert_eq!(setup.resync, Resync::Off);
        assert_eq!(setup.itype_width, ITypeWidth::Four);
    }

    #[test]
    fn a_vectors_configuration() {
        let text = r#"{"config": "itype3_debug", "source": "prose",
            "parameters": {"arch_p": 0, "iaddress_lsb_p": 0, "nocontext_p": 0, "sijump_p": 1,
                "context_width_p": 32, "ecause_width_p": 5},
            "iaddress_width_p": "32 for RV32 tests, 64 for RV64 tests", "itype_width_p": 3,
            "options": {"resync-max": 1, "full-address": true, "si-jump": false},
            "resync": "packets, max = 2^(resync-max+4)", "input_variant": "itype3", "notes": ""}"#;
        let setup64 = setup(Some(text), "--xlen 64").unwrap();
        assert_eq!(setup64.params.iaddress_width_p, 64);
        assert_eq!(setup64.resync, Resync::Packets(32));
        assert_eq!(setup64.itype_width, ITypeWidth::Three);
        assert!(setup64.options.full_address && !setup64.options.sequentially_inferred_jump);
        assert_eq!(setup(Some(text), "--xlen 32").unwrap().params.iaddress_width_p, 32);
        // The width of addresses is not given anywhere.
        assert!(matches!(setup(Some(text), "").unwrap_err(), SetupError::NoWidth));
    }

    #[test]
    fn width_and_xlen() {
        let with = |width: u8, line| {
            setup(Some(&format!("iaddress_width_p = {width}")), line)
                .map(|s| (s.xlen.bits(), s.params.iaddress_width_p))
                .map_err(|error| error.to_string())
        };
        let contradiction =
            |xlen, width| Err(format!("XLEN {xlen} contradicts iaddress_width_p = {width}"));
        assert_eq!(with(32, ""), Ok((32, 32)));
        assert_eq!(with(64, "--xlen 64"), Ok((64, 64)));
        assert_eq!(with(39, "--xlen 64"), Ok((64, 39)));
        assert_eq!(with(32, "--xlen 64"), contradiction(64, 32));
        assert_eq!(with(64, "--xlen 32"), contradiction(32, 64));
        assert_eq!(with(39, "--xlen 32"), contradiction(32, 39));
        assert!(with(65, "").is_err());
    }

    #[test]
    fn rv_tracer_needs_no_file() {
        let bare = setup(None, "--framing rv-tracer").unwrap();
        assert_eq!((bare.unit, bare.params), (Unit::RvTracer, Params::RV_TRACER));
        assert!(bare.options.delta_address);
        let narrow = setup(None, "--framing rv-tracer --xlen 32").unwrap_err();
        assert!(matches!(narrow, SetupError::Width { xlen: Xlen::Rv32, width: 64 }));
        assert!(matches!(setup(None, "--xlen 64").unwrap_err(), SetupError::NoParameters));
        // A file may still set modes.
        let text = "[options]\nfull-address = true\n[framing]\nkind = \"rv-tracer\"";
        let full = setup(Some(text), "").unwrap();
        assert!(full.options.full_address && !full.options.delta_address);
        assert_eq!(full.params, Params::RV_TRACER);
    }

    #[test]
    fn resynchronisation() {
        let of = |text| {
            let setup = setup(Some(&format!("[options]\n{text}")), "--xlen 32");
            setup.map(|s| s.resync).map_err(|error| error.to_string())
        };
        assert_eq!(of("resync-max = 0"), Ok(Resync::Packets(16)));
        assert_eq!(of("resync-max = 59"), Ok(Resync::Packets(1 << 63)));
        assert_eq!(of("resync-max = 2\nresync-mode = \"cycles\""), Ok(Resync::Cycles(64)));
        assert_eq!(of("resync-max = 2\nresync-mode = \"off\""), Ok(Resync::Off));
        assert_eq!(of("resync-mode = \"half-words\""), Err("resync-mode needs a period".into()));
    }

    #[test]
    fn illegal_combinations() {
        for text in
            ["[options]\nhp = true", "hpred_size_p = 0\n[options]\nhistory-prediction = true"]
        {
            let error = setup(Some(text), "--xlen 64").unwrap_err();
            assert!(matches!(error, SetupError::NoHistory), "{text}: {error}");
            assert!(error.to_string().contains("hpred_size_p"));
        }
        let off = "[options]\nhistory-prediction = false";
        assert!(setup(Some(off), "--xlen 64").is_ok());
        let on = "hpred_size_p = 1\n[options]\nhistory-prediction = true";
        assert!(setup(Some(on), "--xlen 64").is_ok());
        for text in ["bpred_size_p = 1\ncache_size_p = 1", "iaddress_lsb_p = 3"] {
            let error = setup(Some(text), "--xlen 64").unwrap_err();
            assert!(matches!(error, SetupError::Params(_)), "{text}: {error}");
        }
    }
}
