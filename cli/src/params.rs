//! Everything about a stream that the stream itself does not say.

mod document;
mod draft;

use crate::args::{FramingKind, StreamArgs};
use crate::failure::Failure;
use crate::files;
use crate::framing::Transport;
use draft::{Draft, ResyncMode};
use hartrace_etrace::{Ioptions, Layout, Params, Unit};
use hartrace_golden::encoder::Resync;
use hartrace_golden::{Compat, EncoderConfig};
use hartrace_ingress::ITypeWidth;
use hartrace_isa::Xlen;

/// What command line and parameter file together say about a stream.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) params: Params,
    pub(crate) unit: Unit,
    pub(crate) xlen: Xlen,
    /// Modes to encode with; for a capture, those in force before its first support packet.
    pub(crate) options: Ioptions,
    pub(crate) itype_width: ITypeWidth,
    pub(crate) resync: Resync,
    pub(crate) layout: Layout,
    pub(crate) transport: Transport,
}

impl Setup {
    /// Reads the parameter file, if any, and completes it from the command line.
    pub(crate) fn new(args: &StreamArgs) -> Result<Self, Failure> {
        let draft = match &args.params {
            Some(path) => Some(Draft::read(path)?),
            None => None,
        };
        let place = args.params.as_deref().map(files::name);
        Self::resolve(draft, args).map_err(|failure| match place {
            Some(place) if !failure.is_placed() => failure.at(place),
            _ => failure,
        })
    }

    fn resolve(draft: Option<Draft>, args: &StreamArgs) -> Result<Self, Failure> {
        let given = draft.is_some();
        let draft = draft.unwrap_or_default();
        let kind = args.framing.or(draft.framing).unwrap_or(FramingKind::Reference);
        let dialect = kind == FramingKind::RvTracer;
        if !given && !dialect {
            return Err(Failure::usage("a trace cannot be read without the encoder's parameters")
                .hint("--params FILE.toml, with the specification's names as keys"));
        }
        let unit = draft.unit.unwrap_or(if dialect { Unit::RvTracer } else { Unit::Reference });
        let (xlen, width) = width(&draft, args, unit == Unit::RvTracer)?;
        let base = if unit == Unit::RvTracer { Params::RV_TRACER } else { Params::default() };
        let params = Params { iaddress_width_p: width, ..complete(&draft, base)? };
        let layout = params.layout(unit).map_err(Failure::usage)?;
        let mut options = Ioptions::default();
        for (mode, on) in &draft.modes {
            options.set(*mode, *on);
        }
        options.delta_address = unit == Unit::RvTracer && !options.full_address;
        Ok(Self {
            params,
            unit,
            xlen,
            options,
            itype_width: match draft.itype_width {
                Some(3) => ITypeWidth::Three,
                _ => ITypeWidth::Four,
            },
            resync: resync(&draft)?,
            layout,
            transport: Transport::new(kind, &args.fields, &draft.fields)?
                .finding_sync(args.find_sync),
        })
    }

    /// The golden encoder's configuration for this stream.
    pub(crate) fn encoder(&self, compat: Compat) -> Result<EncoderConfig, Failure> {
        self.check_compat(compat)?;
        Ok(EncoderConfig {
            params: self.params,
            unit: self.unit,
            options: self.options,
            itype_width: self.itype_width,
            resync: self.resync,
            compat,
            ..EncoderConfig::default()
        })
    }

    /// Only streams of the reference models have their quirks.
    pub(crate) fn check_compat(&self, compat: Compat) -> Result<(), Failure> {
        if compat != Compat::None && self.unit != Unit::Reference {
            return Err(Failure::usage(
                "--compat reproduces a reference model, but the unit is another",
            )
            .hint("unit = \"reference\", or no --compat"));
        }
        Ok(())
    }
}

/// XLEN and `iaddress_width_p`.
fn width(draft: &Draft, args: &StreamArgs, dialect: bool) -> Result<(Xlen, u8), Failure> {
    let asked = args.xlen.as_deref().map(|xlen| if xlen == "32" { 32 } else { 64 });
    let given = draft.params.get("iaddress_width_p").and_then(|v| v.as_u64());
    let given = given.and_then(|v| u8::try_from(v).ok()).or(dialect.then_some(64));
    let xlen = match (asked, given) {
        // Addresses may be narrower than registers, but 32 is another instruction set.
        (Some(xlen), Some(width)) if width > xlen || (width == 32 && xlen == 64) => {
            return Err(Failure::usage(format_args!(
                "--xlen {xlen} contradicts iaddress_width_p = {width}"
            ))
            .hint(format_args!("--xlen {}", if width > 32 { 64 } else { 32 })));
        }
        (Some(xlen), _) => xlen,
        (None, Some(width)) => {
            if width > 32 {
                64
            } else {
                32
            }
        }
        (None, None) => {
            return Err(Failure::usage("the parameters do not say how wide addresses are")
                .hint("--xlen 32 or --xlen 64"));
        }
    };
    Ok((if xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 }, given.unwrap_or(xlen)))
}

/// `base` with the values of the draft.
fn complete(draft: &Draft, base: Params) -> Result<Params, Failure> {
    let mut all = match serde_json::to_value(base) {
        Ok(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    all.extend(draft.params.clone());
    serde_json::from_value(all.into()).map_err(Failure::usage)
}

fn resync(draft: &Draft) -> Result<Resync, Failure> {
    let period = draft.resync_max.map(|max| 1u64 << (max + 4));
    let mode = draft.resync_mode.unwrap_or(match period {
        Some(_) => ResyncMode::Packets,
        None => ResyncMode::Off,
    });
    let missing = || Failure::usage("resync-mode needs a period").hint("resync-max = 10");
    Ok(match mode {
        ResyncMode::Off => Resync::Off,
        ResyncMode::Packets => Resync::Packets(period.ok_or_else(missing)?),
        ResyncMode::Cycles => Resync::Cycles(period.ok_or_else(missing)?),
        ResyncMode::HalfWords => Resync::HalfWords(period.ok_or_else(missing)?),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        stream: StreamArgs,
    }

    /// The setup for parameters in `text` and options in `line`.
    pub(crate) fn setup(text: Option<&str>, line: &str) -> Result<Setup, Failure> {
        let words = ["x"].into_iter().chain(line.split_whitespace());
        let args = Only::try_parse_from(words).expect("options");
        let draft = text.map(draft::of_text).transpose()?;
        Setup::resolve(draft, &args.stream)
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
        // Nothing says how wide addresses are.
        assert_eq!(setup(Some(text), "").unwrap_err().status(), 2);
    }

    #[test]
    fn width_and_xlen() {
        let with = |width: u8, line| {
            setup(Some(&format!("iaddress_width_p = {width}")), line)
                .map(|s| (s.xlen.bits(), s.params.iaddress_width_p))
                .map_err(|failure| failure.status())
        };
        assert_eq!(with(32, ""), Ok((32, 32)));
        assert_eq!(with(64, "--xlen 64"), Ok((64, 64)));
        assert_eq!(with(39, "--xlen 64"), Ok((64, 39)));
        assert_eq!(with(32, "--xlen 64"), Err(2));
        assert_eq!(with(64, "--xlen 32"), Err(2));
        assert_eq!(with(39, "--xlen 32"), Err(2));
        assert_eq!(with(65, ""), Err(2));
    }

    #[test]
    fn rv_tracer_needs_no_file() {
        let bare = setup(None, "--framing rv-tracer").unwrap();
        assert_eq!((bare.unit, bare.params), (Unit::RvTracer, Params::RV_TRACER));
        assert!(bare.options.delta_address);
        assert_eq!(setup(None, "--framing rv-tracer --xlen 32").unwrap_err().status(), 2);
        assert_eq!(setup(None, "--xlen 64").unwrap_err().status(), 2);
        // A file may still set modes.
        let text = "[options]\nfull-address = true\n[framing]\nkind = \"rv-tracer\"";
        let full = setup(Some(text), "").unwrap();
        assert!(full.options.full_address && !full.options.delta_address);
        assert_eq!(full.params, Params::RV_TRACER);
    }

    #[test]
    fn resynchronisation() {
        let of = |text| setup(Some(&format!("[options]\n{text}")), "--xlen 32").map(|s| s.resync);
        assert_eq!(of("resync-max = 0"), Ok(Resync::Packets(16)));
        assert_eq!(of("resync-max = 59"), Ok(Resync::Packets(1 << 63)));
        assert_eq!(of("resync-max = 2\nresync-mode = \"cycles\""), Ok(Resync::Cycles(64)));
        assert_eq!(of("resync-max = 2\nresync-mode = \"off\""), Ok(Resync::Off));
        assert!(of("resync-mode = \"half-words\"").is_err());
    }

    #[test]
    fn illegal_combinations_are_usage() {
        for text in ["bpred_size_p = 1\ncache_size_p = 1", "iaddress_lsb_p = 3"] {
            assert_eq!(setup(Some(text), "--xlen 64").unwrap_err().status(), 2, "{text}");
        }
        let ours = setup(Some("[options]\nunit = \"hartrace\""), "--xlen 64").unwrap();
        assert!(ours.encoder(Compat::None).is_ok());
        assert_eq!(ours.encoder(Compat::CModel).unwrap_err().status(), 2);
    }
}
