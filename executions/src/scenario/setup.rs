//! The `params:` and `options:` lines.

use super::LineError;
use super::line::{Line, hex, number};
use hartrace_etrace::ingress::{ITypeWidth, Privilege};
use hartrace_etrace::{Ioptions, Mode, Params, Unit};
use hartrace_golden::encoder::{Comparator, Condition, Resync};
use hartrace_golden::isa::{Isa, Xlen};
use hartrace_golden::{Compat, DecoderConfig, EncoderConfig};

/// The configuration of encoder and decoder.
///
/// `params:` accepts the fields of [`Params`] as `name=value`. The program is RV32 if addresses
/// have 32 bits or fewer. `options:` accepts
///
/// * the names of modes that are on, as in [`Mode::name`];
/// * `unit=reference|hartrace|rv_tracer`, `compat=python-model|c-model`, `itype_width=3`;
/// * `resync=packets:4`, `resync=cycles:100`, `resync=half-words:100`;
/// * `filter=80000000..=80000010` and `filter=priv:0`, alternatives if there are several;
///   `initially-off`: tracing waits for a trigger;
/// * `tvec=3:80000200`: the trap vector of a privilege, for implicit exceptions;
/// * `sync_on_unretired`, `return_marks=1`, `max_steps=1000`: see the models' configuration;
/// * `bytes`: packet lines show bytes; `lossy`: the trace differs from the steps.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The configuration of the golden encoder.
    pub encoder: EncoderConfig,
    /// The configuration of the golden decoder.
    pub decoder: DecoderConfig,
    /// The instruction set of the code.
    pub isa: Isa,
    /// Whether the trace may differ from the steps.
    pub lossy: bool,
    /// Whether packet lines show bytes.
    pub bytes: bool,
}

impl Setup {
    pub(crate) fn parse(
        params: Option<Line<'_>>,
        options: Option<Line<'_>>,
    ) -> Result<Self, LineError> {
        let mut encoder = EncoderConfig::default();
        if let Some(line) = params {
            for word in line.text.split_whitespace() {
                set_param(&line, word, &mut encoder.params)?;
            }
        }
        let xlen = if encoder.params.iaddress_width_p > 32 { Xlen::Rv64 } else { Xlen::Rv32 };
        let mut setup = Self {
            encoder,
            decoder: DecoderConfig::default(),
            isa: Isa::new(xlen),
            lossy: false,
            bytes: false,
        };
        if let Some(line) = options {
            for word in line.text.split_whitespace() {
                setup.set_option(&line, word)?;
            }
        }
        setup.decoder.params = setup.encoder.params;
        setup.decoder.unit = setup.encoder.unit;
        setup.decoder.compat = setup.encoder.compat;
        Ok(setup)
    }

    fn set_option(&mut self, line: &Line<'_>, word: &str) -> Result<(), LineError> {
        if let Some(mode) = mode(word) {
            self.encoder.options.set(mode, true);
            return Ok(());
        }
        let unknown = || line.error(format!("unknown option `{word}`"));
        let encoder = &mut self.encoder;
        match word.split_once('=').unwrap_or((word, "")) {
            ("unit", "reference") => encoder.unit = Unit::Reference,
            ("unit", "hartrace") => encoder.unit = Unit::Hartrace,
            ("unit", "rv_tracer") => encoder.unit = Unit::RvTracer,
            ("compat", "python-model") => encoder.compat = Compat::PythonModel,
            ("compat", "c-model") => encoder.compat = Compat::CModel,
            ("itype_width", "3") => encoder.itype_width = ITypeWidth::Three,
            ("sync_on_unretired", "") => encoder.sync_on_unretired = true,
            ("return_marks", n) => encoder.return_marks = number(line, n)? as usize,
            ("max_steps", n) => self.decoder.max_steps = number(line, n)?,
            ("lossy", "") => self.lossy = true,
            ("bytes", "") => self.bytes = true,
            ("initially-off", "") => encoder.filter.initially_on = false,
            ("resync", value) => {
                let (unit, n) = value.split_once(':').ok_or_else(unknown)?;
                let n = number(line, n)?;
                encoder.resync = match unit {
                    "packets" => Resync::Packets(n),
                    "cycles" => Resync::Cycles(n),
                    "half-words" => Resync::HalfWords(n),
                    _ => return Err(unknown()),
                };
            }
            ("filter", value) => {
                let mut condition = Condition::default();
                if let Some(level) = value.strip_prefix("priv:") {
                    condition.privileges = Some(vec![number(line, level)? as u8]);
                } else {
                    let (first, last) = value.split_once("..=").ok_or_else(unknown)?;
                    condition.comparators.push(encoder.filter.comparators.len());
                    let range = Comparator::range(hex(line, first)?, hex(line, last)?);
                    encoder.filter.comparators.push(range);
                }
                encoder.filter.conditions.push(condition);
            }
            ("tvec", value) => {
                let (level, address) = value.split_once(':').ok_or_else(unknown)?;
                let level = Privilege(number(line, level)? as u8);
                self.decoder.tvec.push((level, hex(line, address)?));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

fn mode(name: &str) -> Option<Mode> {
    name.parse().ok()
}

/// Names of modes; `-` for none.
pub(crate) fn modes(line: &Line<'_>, words: &str) -> Result<Ioptions, LineError> {
    let mut options = Ioptions::default();
    for word in words.split_whitespace().filter(|word| *word != "-") {
        let mode = mode(word).ok_or_else(|| line.error(format!("unknown mode `{word}`")))?;
        options.set(mode, true);
    }
    Ok(options)
}

fn set_param(line: &Line<'_>, word: &str, params: &mut Params) -> Result<(), LineError> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let width = match name {
        "iaddress_width_p" => &mut params.iaddress_width_p,
        "iaddress_lsb_p" => &mut params.iaddress_lsb_p,
        "privilege_width_p" => &mut params.privilege_width_p,
        "ecause_width_p" => &mut params.ecause_width_p,
        "context_width_p" => &mut params.context_width_p,
        "time_width_p" => &mut params.time_width_p,
        "f0s_width_p" => &mut params.f0s_width_p,
        "bpred_size_p" => &mut params.bpred_size_p,
        "cache_size_p" => &mut params.cache_size_p,
        "return_stack_size_p" => &mut params.return_stack_size_p,
        "hpred_size_p" => &mut params.hpred_size_p,
        "call_counter_size_p" => &mut params.call_counter_size_p,
        "nocontext_p" | "notime_p" | "sijump_p" => {
            let flag = match name {
                "nocontext_p" => &mut params.nocontext_p,
                "notime_p" => &mut params.notime_p,
                _ => &mut params.sijump_p,
            };
            *flag = match value {
                "0" => false,
                "1" => true,
                _ => return Err(line.error(format!("{name} is 0 or 1, not `{value}`"))),
            };
            return Ok(());
        }
        _ => return Err(line.error(format!("unknown parameter `{name}`"))),
    };
    *width = u8::try_from(number(line, value)?)
        .map_err(|_| line.error(format!("{name}={value} is out of range")))?;
    Ok(())
}
