//! The models, and which scenario runs on which.

use hartrace_encoder_hdl::{Compression, Config, Overflow, ResyncUnit};
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_etrace::{Params, Unit};
use hartrace_executions::scenario::{Action, Scenario, Source};
use hartrace_golden::Compat;
use hartrace_golden::encoder::{EncoderConfig, Resync};
use std::collections::BTreeMap;
use std::fmt;

/// Where a scenario runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// On the model of this name.
    Runs(&'static str),
    /// Nowhere, for this reason.
    No(&'static str),
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs(model) => write!(f, "on model {model}"),
            Self::No(reason) => write!(f, "not: {reason}"),
        }
    }
}

const STREAM: &str = "payloads are given instead of steps";
const REFUSED: &str = "the configuration is refused";
const COMPAT: &str = "habits of a reference model";
const CHARTED: &str = "synchronises on an instruction that does not retire";
const MARKS: &str = "another number of return marks";
const PERIOD: &str = "no such period of resynchronisation in the registers";
const LOSS: &str = "loses a given instruction";
const SWITCHES: &str = "switches modes while it traces";
const PARAMETERS: &str = "no model has its parameters";

/// The expected number of scenarios of each fit.
pub(crate) fn expected() -> BTreeMap<Fit, usize> {
    BTreeMap::from([
        (Fit::Runs("rv32"), 102),
        (Fit::Runs("rv64"), 4),
        (Fit::Runs("rv_tracer"), 3),
        (Fit::Runs("bpred4"), 2),
        (Fit::Runs("cache8"), 1),
        (Fit::Runs("counter"), 1),
        (Fit::Runs("ecause5"), 1),
        (Fit::Runs("itype3"), 1),
        (Fit::Runs("lsb2"), 1),
        (Fit::Runs("small_tables"), 1),
        (Fit::Runs("stack1"), 1),
        (Fit::Runs("stack3"), 1),
        (Fit::Runs("sv39"), 1),
        (Fit::Runs("time"), 1),
        (Fit::No(STREAM), 29),
        (Fit::No(REFUSED), 3),
        (Fit::No(COMPAT), 7),
        (Fit::No(CHARTED), 2),
        (Fit::No(MARKS), 1),
        (Fit::No(PERIOD), 14),
        (Fit::No(LOSS), 2),
        (Fit::No(SWITCHES), 1),
    ])
}

/// The models: few, since building one takes seconds.
pub(crate) fn models() -> Vec<(&'static str, Config)> {
    let everything = Config {
        lanes: 1,
        implicit_exception: true,
        triggers: true,
        comparators: 1,
        resync: vec![ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords],
        overflow: Overflow::Stall,
        ..Config::default()
    };
    let with = |etrace| Config { etrace, ..everything.clone() };
    let rv32 = Params {
        bpred_size_p: 3,
        cache_size_p: 3,
        f0s_width_p: 1,
        return_stack_size_p: 2,
        sijump_p: true,
        nocontext_p: false,
        context_width_p: 8,
        ..Params::default()
    };
    let rv64 = Params {
        iaddress_width_p: 64,
        return_stack_size_p: 2,
        sijump_p: true,
        ..Params::default()
    };
    let dialect =
        Params { iaddress_width_p: 64, iaddress_lsb_p: 0, ecause_width_p: 64, ..Params::default() };
    let plain = Params::default();
    vec![
        ("rv32", with(rv32)),
        ("rv64", with(rv64)),
        ("rv_tracer", Config { compression: Compression::Bytes, triggers: false, ..with(dialect) }),
        ("itype3", Config { itype_width_p: 3, ..with(plain) }),
        ("counter", with(Params { call_counter_size_p: 1, ..plain })),
        ("stack1", with(Params { return_stack_size_p: 1, ..plain })),
        ("stack3", with(Params { return_stack_size_p: 3, ..plain })),
        ("bpred4", with(Params { bpred_size_p: 4, return_stack_size_p: 2, ..plain })),
        (
            "small_tables",
            with(Params {
                sijump_p: true,
                cache_size_p: 2,
                bpred_size_p: 2,
                f0s_width_p: 1,
                return_stack_size_p: 2,
                ..plain
            }),
        ),
        ("cache8", with(Params { cache_size_p: 8, ..plain })),
        (
            "time",
            with(Params {
                notime_p: false,
                time_width_p: 16,
                nocontext_p: false,
                context_width_p: 4,
                ..plain
            }),
        ),
        ("ecause5", with(Params { iaddress_width_p: 64, ecause_width_p: 5, ..plain })),
        ("sv39", with(Params { iaddress_width_p: 39, ..plain })),
        ("lsb2", with(Params { iaddress_lsb_p: 2, ..plain })),
    ]
}

/// Returns the first model that fits a scenario, or why there is none.
pub(crate) fn fit(scenario: &Scenario) -> Fit {
    let encoder = &scenario.setup.encoder;
    let Source::Steps(actions) = &scenario.source else { return Fit::No(STREAM) };
    let has = |wanted: fn(&Action) -> bool| actions.iter().any(wanted);
    let checks = [
        (hartrace_golden::Encoder::new(encoder.clone()).is_err(), REFUSED),
        (encoder.compat != Compat::None, COMPAT),
        (encoder.sync_on_unretired, CHARTED),
        (encoder.return_marks != EncoderConfig::default().return_marks, MARKS),
        (resync(encoder.resync).is_none(), PERIOD),
        (has(|action| matches!(action, Action::Lose | Action::Recover)), LOSS),
        (has(|action| matches!(action, Action::Options(_))), SWITCHES),
    ];
    if let Some((_, reason)) = checks.iter().find(|(holds, _)| *holds) {
        return Fit::No(reason);
    }
    let mut models = models().into_iter();
    let model = models.find(|(_, config)| serves(config, encoder));
    model.map_or(Fit::No(PARAMETERS), |(name, _)| Fit::Runs(name))
}

/// The mode and the exponent of a period in the registers: 2^(n + 4).
pub(crate) fn resync(resync: Resync) -> Option<(u8, u8)> {
    let (mode, period) = match resync {
        Resync::Off => return Some((0, 0)),
        Resync::Packets(n) => (1, n),
        Resync::Cycles(n) => (2, n),
        Resync::HalfWords(n) => (3, n),
    };
    let exponent = period.is_power_of_two().then_some(period.ilog2())?;
    Some((mode, u8::try_from(exponent.checked_sub(4)?).ok()?))
}

/// Whether the hardware does for this configuration what an encoder does that has nothing else.
fn serves(config: &Config, encoder: &EncoderConfig) -> bool {
    let (hardware, wanted) = (&config.etrace, &encoder.params);
    // A table may be there without being used, but not with another size.
    let table = |has: u8, wanted: u8| wanted == 0 || has == wanted;
    let field =
        |lacks: bool, has: u8, unused: bool, wanted: u8| unused || (!lacks && has == wanted);
    let itype = if encoder.itype_width == ITypeWidth::Three { 3 } else { 4 };
    (config.unit() == Unit::RvTracer) == (encoder.unit == Unit::RvTracer)
        && config.itype_width_p == itype
        && hardware.iaddress_width_p == wanted.iaddress_width_p
        && hardware.iaddress_lsb_p == wanted.iaddress_lsb_p
        && hardware.privilege_width_p == wanted.privilege_width_p
        && hardware.ecause_width_p == wanted.ecause_width_p
        && table(hardware.bpred_size_p, wanted.bpred_size_p)
        && table(hardware.cache_size_p, wanted.cache_size_p)
        && table(hardware.return_stack_size_p, wanted.return_stack_size_p)
        && table(hardware.call_counter_size_p, wanted.call_counter_size_p)
        && (hardware.sijump_p || !wanted.sijump_p)
        && field(
            hardware.nocontext_p,
            hardware.context_width_p,
            wanted.nocontext_p,
            wanted.context_width_p,
        )
        && field(hardware.notime_p, hardware.time_width_p, wanted.notime_p, wanted.time_width_p)
}
