//! Random configurations, settings and walks.

use crate::{FilterRequest, Setting, Traffic};
use hartrace_encoder_hdl::{Compression, Config, Overflow, ResyncUnit};
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Ioptions, Params};
use hartrace_golden::walk::{Shape, Xlen};

/// Returns a random configuration.
#[must_use]
pub fn config(rng: &mut fastrand::Rng) -> Config {
    let xlen = if rng.bool() { 64 } else { 32 };
    let itype = if rng.u8(..4) == 0 { 3 } else { 4 };
    let returns = if itype == 4 { rng.u8(..3) } else { 0 };
    let (cache, bpred) = (rng.bool(), rng.bool());
    let mut resync = vec![ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords];
    rng.shuffle(&mut resync);
    resync.truncate(rng.usize(1..=3));
    let etrace = Params {
        iaddress_width_p: if rng.u8(..3) == 0 { rng.u8(xlen - 8..=xlen) } else { xlen },
        iaddress_lsb_p: rng.u8(0..=2),
        privilege_width_p: rng.u8(2..=3),
        ecause_width_p: rng.u8(4..=8),
        context_width_p: rng.u8(1..=16),
        nocontext_p: rng.bool(),
        time_width_p: rng.u8(1..=40),
        notime_p: rng.u8(..3) > 0,
        f0s_width_p: rng.u8(u8::from(cache && bpred)..=2),
        bpred_size_p: if bpred { rng.u8(1..=7) } else { 0 },
        cache_size_p: if cache { rng.u8(1..=6) } else { 0 },
        return_stack_size_p: if returns == 1 { rng.u8(1..=4) } else { 0 },
        call_counter_size_p: if returns == 2 { rng.u8(1..=5) } else { 0 },
        sijump_p: rng.bool(),
        hpred_size_p: 0,
    };
    let config = Config {
        lanes: rng.u8(1..=4),
        iretire_width_p: rng.u8(2..=6),
        itype_width_p: itype,
        full_address: rng.bool(),
        implicit_exception: rng.bool(),
        triggers: rng.bool(),
        comparators: if rng.u8(..3) == 0 { rng.u8(1..=2) } else { 0 },
        context_comparators: 0,
        tval_comparators: 0,
        filter_excint_p: false,
        permission: false,
        ingress_depth: [2, 3, 4, 7, 16][rng.usize(..5)],
        pack: rng.bool(),
        resync,
        overflow: if rng.bool() { Overflow::Stall } else { Overflow::Drop },
        compression: Compression::Bits,
        etrace,
    };
    if rng.u8(..4) > 0 { config } else { by_bytes(rng, config) }
}

/// The same configuration with filters of every kind: some, but at least one.
#[must_use]
pub fn with_filters(rng: &mut fastrand::Rng, config: Config) -> Config {
    let context_comparators = if rng.u8(..4) > 0 { rng.u8(1..=3) } else { 0 };
    let nocontext_p = config.etrace.nocontext_p && context_comparators == 0;
    // Values and causes of traps are compared as payloads have them, so they must not be cut.
    let ecause_width_p = config.etrace.ecause_width_p.clamp(5, 6);
    let iaddress_width_p = if config.etrace.iaddress_width_p > 32 { 64 } else { 32 };
    Config {
        comparators: rng.u8(..=3),
        context_comparators,
        tval_comparators: if rng.bool() { rng.u8(1..=2) } else { 0 },
        filter_excint_p: context_comparators == 0 || rng.u8(..4) > 0,
        overflow: if rng.bool() { Overflow::Either } else { config.overflow },
        etrace: Params { ecause_width_p, iaddress_width_p, nocontext_p, ..config.etrace },
        ..config
    }
}

/// The same configuration for harts that may not be traced at every level.
#[must_use]
pub fn with_permission(config: Config) -> Config {
    Config { permission: true, ..config }
}

/// The same configuration with payloads of rv_tracer.
fn by_bytes(rng: &mut fastrand::Rng, config: Config) -> Config {
    let etrace = Params {
        iaddress_width_p: 64,
        iaddress_lsb_p: 0,
        ecause_width_p: if rng.bool() { 64 } else { config.etrace.ecause_width_p },
        context_width_p: config.etrace.context_width_p.min(8),
        time_width_p: config.etrace.time_width_p.min(20),
        return_stack_size_p: 0,
        call_counter_size_p: 0,
        ..config.etrace
    };
    Config { compression: Compression::Bytes, triggers: false, etrace, ..config }
}

/// Returns random modes and filters that the configuration supports.
#[must_use]
pub fn setting(rng: &mut fastrand::Rng, config: &Config) -> Setting {
    let e = &config.etrace;
    let options = Ioptions {
        implicit_return: e.irdepth_bits() > 0 && rng.bool(),
        implicit_exception: config.implicit_exception && rng.bool(),
        full_address: config.full_address && rng.bool(),
        jump_target_cache: e.cache_size_p > 0 && rng.u8(..4) > 0,
        branch_prediction: e.bpred_size_p > 0 && rng.bool(),
        sequentially_inferred_jump: e.sijump_p && rng.bool(),
        delta_address: false,
        history_prediction: false,
    };
    let unit = rng.choice(&config.resync);
    let mode = match unit {
        Some(ResyncUnit::Packets) => 1,
        Some(ResyncUnit::Cycles) => 2,
        Some(ResyncUnit::HalfWords) => 3,
        None => 0,
    };
    let resync = (if rng.u8(..5) == 0 { 0 } else { mode }, rng.u8(0..=7));
    let privileges = if rng.u8(..5) == 0 { level(rng) } else { Vec::new() };
    let filters = match privileges.is_empty() {
        true => Vec::new(),
        false => vec![FilterRequest { privileges, ..FilterRequest::default() }],
    };
    let initially_off = config.triggers && rng.u8(..3) == 0;
    let stall = config.overflow == Overflow::Either && rng.bool();
    Setting { options, resync, filters, stall, initially_off }
}

fn level(rng: &mut fastrand::Rng) -> Vec<u8> {
    vec![rng.choice([0, 1, 3]).unwrap_or(3)]
}

/// Adds filters that ask for what occurs, as far as the configuration has them.
pub fn filters(
    rng: &mut fastrand::Rng,
    config: &Config,
    rows: &[Retired],
    filters: &mut Vec<FilterRequest>,
) {
    let pick = |rng: &mut fastrand::Rng| rows[rng.usize(..rows.len())];
    let first = filters.first().cloned().unwrap_or_default();
    for i in 0..usize::from(rng.u8(..=config.comparators.min(2))) {
        let (a, b) = (pick(rng).iaddr, pick(rng).iaddr);
        let asked = FilterRequest { range: Some((a.min(b), a.max(b))), ..first.clone() };
        match filters.get_mut(i) {
            Some(filter) => *filter = asked,
            None => filters.push(asked),
        }
    }
    let most = config.comparators.max(config.context_comparators).max(config.tval_comparators);
    if most < 2
        && config.context_comparators + config.tval_comparators == 0
        && !config.filter_excint_p
    {
        return;
    }
    // Some that were not chosen yet, and what the others ask for besides.
    if rng.bool() {
        filters.resize(rng.usize(filters.len()..=most.max(1).into()), FilterRequest::default());
    }
    let traps: Vec<&Retired> = rows.iter().filter(|row| row.itype.is_trap()).collect();
    for (i, asked) in (0..).zip(filters) {
        if rng.u8(..4) == 0 {
            asked.privileges = [level(rng), level(rng)].concat();
        }
        if i < config.context_comparators && rng.bool() {
            let (a, b) = (pick(rng).context, pick(rng).context);
            asked.context = Some(if rng.bool() { (a, a) } else { (a.min(b), a.max(b)) });
        }
        let Some(trap) = rng.choice(&traps) else { continue };
        if config.filter_excint_p && rng.bool() {
            asked.causes = vec![trap.cause, rng.u64(..1 << config.etrace.ecause_width_p)];
        }
        if config.filter_excint_p && rng.u8(..3) == 0 {
            asked.interrupt = Some(rng.bool());
        }
        if i < config.tval_comparators && rng.bool() {
            let other = rng.choice(&traps).map_or(0, |trap| trap.tval);
            let (a, b) = (trap.tval, if rng.bool() { trap.tval } else { other });
            asked.tval = Some((a.min(b), a.max(b)));
        }
    }
}

/// Returns random traffic, from no waiting at all to an output that accepts hardly anything.
#[must_use]
pub fn traffic(rng: &mut fastrand::Rng) -> Traffic {
    let back_pressure = if rng.bool() { rng.u32(..=950) } else { 0 };
    let idle = if rng.bool() { rng.u32(..900) } else { 0 };
    let seed = rng.u64(..);
    Traffic { back_pressure, idle, seed, clock: seed.is_multiple_of(2), ..Traffic::default() }
}

/// Returns a random walk that the configuration can trace.
#[must_use]
pub fn shape(rng: &mut fastrand::Rng, config: &Config, seed: u64, steps: usize) -> Shape {
    let params = &config.etrace;
    let mut shape = Shape::random(seed);
    shape.steps = steps;
    shape.xlen = if params.iaddress_width_p > 32 { Xlen::Rv64 } else { Xlen::Rv32 };
    shape.address_bits = params.iaddress_width_p;
    shape.compressed = params.iaddress_lsb_p < 2 && rng.bool();
    shape.well_behaved |= params.call_counter_size_p > 0;
    if config.itype_width_p == 3 {
        shape.itype_width = ITypeWidth::Three;
    }
    let context = if params.nocontext_p { 0 } else { params.context_width_p };
    shape.context_bits = shape.context_bits.min(context);
    if !config.triggers {
        (shape.notifies, shape.trace_toggles) = (0, 0);
    }
    shape
}
