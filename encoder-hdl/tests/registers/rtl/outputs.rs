//! Outputs of the registers to the hardware.

use crate::configs::Design;
use fastrand::Rng;
use hartrace_encoder_hdl::registers::{Effect, EncoderParams, Model};
use hartrace_rtl::Bits;
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// By name, without `_o`.
pub(crate) type Outputs = BTreeMap<String, Bits>;

/// Outputs that are fields, and which.
const FIELDS: [(&str, &str, &str); 14] = [
    ("stall", "trTeControl", "trTeInstStallEna"),
    ("time_count", "trTsControl", "trTsCount"),
    ("time_prescale", "trTsControl", "trTsPrescale"),
    ("resync_max", "trTeControl", "trTeInstSyncMax"),
    ("trigger_enable", "trTeControl", "trTeInstTrigEnable"),
    ("full_address", "trTeInstFeatures", "trTeInstNoAddrDiff"),
    ("implicit_exception", "trTeInstFeatures", "trTeInstNoTrapAddr"),
    ("sequential_jump", "trTeInstFeatures", "trTeInstEnSequentialJump"),
    ("implicit_return", "trTeInstFeatures", "trTeInstEnImplicitReturn"),
    ("branch_prediction", "trTeInstFeatures", "trTeInstEnBranchPrediction"),
    ("jump_target_cache", "trTeInstFeatures", "trTeInstEnJumpTargetCache"),
    ("stop_on_wrap", "trRamControl", "trRamStopOnWrap"),
    ("freq", "trRamControl", "trRamAsyncFreq"),
    ("id", "trAtbBridgeControl", "trAtbBridgeID"),
];

/// Compares outputs with those of the model.
pub(crate) fn check(
    design: &Design,
    model: &Model,
    now: &Outputs,
    rng: &mut Rng,
) -> Result<(), Failed> {
    let expect = |name: &str, value: u64| match now.get(name) {
        Some(got) if *got != Bits::new(got.width(), value.into()) => {
            Err(Failed::from(format!("{name} is {got:?}, not {value:#x}")))
        }
        _ => Ok(()),
    };
    for (name, register, field) in FIELDS {
        if now.contains_key(name) {
            expect(name, model.kept(register, field).unwrap_or(0).into())?;
        }
    }
    let Design::Encoder(params) = design else {
        expect("flush", model.flushes().into())?;
        expect("enable", model.enabled().into())?;
        for (name, stem) in [("start", "trRamStart"), ("limit", "trRamLimit")] {
            let half = |half: &str| model.kept(&format!("{stem}{half}"), &format!("{stem}{half}"));
            let high = u64::from(half("High").unwrap_or(0)) << 32;
            expect(name, high | u64::from(half("Low").unwrap_or(0)) << 2)?;
        }
        return Ok(());
    };
    let control = |field| model.kept("trTeControl", field).unwrap_or(0) == 1;
    let triggers = control("trTeInstTrigEnable");
    let tracing = control("trTeInstTracing");
    expect("enable", (model.enabled() && (tracing || triggers)).into())?;
    expect("abort", model.aborts().into())?;
    expect("resync_mode", model.kept("trTeControl", "trTeInstSyncMode").unwrap_or(0).into())?;
    expect("initially_on", (tracing || !triggers).into())?;
    traced(params, model, now, rng)
}

/// What retires, as far as filters ask for it.
struct Block {
    level: u32,
    /// Without the bits that are not stored.
    address: u64,
    context: u64,
    /// Of the trap in whose handler it is, if it is in one: cause, value, and whether it is an interrupt.
    trap: Option<(u64, u64, bool)>,
}

/// Outputs as numbers.
struct Told<'a>(&'a Outputs);

impl Told<'_> {
    /// How many there are of a kind.
    fn count(&self, name: &str) -> u32 {
        self.0.get(name).map_or(0, Bits::width)
    }

    fn bit(&self, name: &str, i: u32) -> bool {
        self.0[name].as_slice()[i as usize]
    }

    /// Part `i` of `parts`.
    fn part(&self, name: &str, i: u32, parts: u32) -> u64 {
        let all = self.0[name].as_slice();
        let width = all.len() / parts as usize;
        let bits = &all[i as usize * width..][..width];
        bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit))
    }

    /// Whether a value is in range `i` of a kind, if that is there and in use.
    fn within(&self, [used, low, high]: [&str; 3], i: u32, value: u64) -> bool {
        let count = self.count(used);
        i >= count
            || !self.bit(used, i)
            || (self.part(low, i, count)..=self.part(high, i, count)).contains(&value)
    }
}

const RANGES: [[&str; 3]; 3] = [
    ["ranges", "low", "high"],
    ["contexts", "context_low", "context_high"],
    ["tvals", "tval_low", "tval_high"],
];

/// Whether a block is traced, according to the registers and according to the outputs.
fn traced(
    params: &EncoderParams,
    model: &Model,
    now: &Outputs,
    rng: &mut Rng,
) -> Result<(), Failed> {
    let told = Told(now);
    // Near an end of a range.
    let mut near = |[used, low, high]: [&str; 3]| match told.count(used) {
        0 => 0,
        count => {
            let end = if rng.bool() { low } else { high };
            told.part(end, rng.u32(0..count), count).wrapping_add(rng.u64(0..3))
        }
    };
    let [address, context, tval] = RANGES.map(&mut near);
    let causes = params.causes.max(1).into();
    let block = Block {
        level: rng.u32(0..params.privilege_levels),
        address,
        context,
        trap: rng.bool().then(|| (rng.u64(0..causes), tval, rng.bool())),
    };
    let encoder = told.traces(params, &block);
    let (mut any, mut matched) = (false, false);
    let chosen = model.kept("trTeInstFilters", "trTeInstFilters").unwrap_or(0);
    for i in (0..params.filters).filter(|i| chosen >> i & 1 == 1) {
        if model.kept(&format!("trTeFilter{i}Control"), "trTeFilterEnable") == Some(1) {
            any = true;
            matched |= asked(params, model, i, &block);
        }
    }
    if encoder == (matched || !any) {
        return Ok(());
    }
    let Block { level, address, context, trap } = block;
    let what = format!("level {level}, address {address:#x}, context {context:#x}, trap {trap:x?}");
    Err(format!("{what}: encoder traces {encoder}; {now:?}").into())
}

impl Told<'_> {
    /// Whether an encoder with these inputs traces the block.
    fn traces(&self, params: &EncoderParams, block: &Block) -> bool {
        let filters = params.filters;
        let matches = |i: u32| {
            let handled = || {
                block.trap.is_some_and(|(cause, tval, interrupt)| {
                    let kind = if interrupt { "interrupts" } else { "exceptions" };
                    self.within(RANGES[2], i, tval)
                        && (params.causes == 0
                            || self.part("causes", i, filters) >> cause & 1 == 1
                                && self.bit(kind, i))
                })
            };
            self.part("privileges", i, filters) >> block.level & 1 == 1
                && self.within(RANGES[0], i, block.address)
                && self.within(RANGES[1], i, block.context)
                && (self.count("handlers") == 0 || !self.bit("handlers", i) || handled())
        };
        match filters {
            1 => matches(0),
            _ => {
                let in_use = |i: &u32| self.bit("filters", *i);
                !(0..filters).any(|i| in_use(&i)) || (0..filters).filter(in_use).any(matches)
            }
        }
    }
}

/// Whether filter `i` asks for the block, according to the registers.
fn asked(params: &EncoderParams, model: &Model, i: u32, block: &Block) -> bool {
    let kept = |register: &str, field: &str| u64::from(model.kept(register, field).unwrap_or(0));
    let asks = |field: &str| kept(&format!("trTeFilter{i}Control"), field) == 1;
    let inst = |field: &str| kept(&format!("trTeFilter{i}MatchInst"), field);
    let ends = |number: u32| {
        ["P", "S"].map(|part| {
            let half = |half: &str| {
                let register = format!("trTeComp{number}{part}match{half}");
                kept(&register, &format!("trTeComp{part}Match{half}"))
            };
            half("High") << 32 | half("Low")
        })
    };
    let within = |number: u32, lsb: u32, value: u64| {
        let [first, last] = ends(number);
        (first >> lsb..=last >> lsb).contains(&value)
    };
    let context = params.comparators + params.tval_comparators + i;
    let wants = ["trTeFilterMatchEcause", "trTeFilterMatchInterrupt", "trTeFilterMatchComp3"];
    let [ecause, interrupt, tval] = wants.map(asks);
    let handled = block.trap.is_some_and(|(cause, value, is_interrupt)| {
        let low = kept(&format!("trTeFilter{i}MatchEcauseLow"), "trTeFilterMatchChoiceEcauseLow");
        let high =
            kept(&format!("trTeFilter{i}MatchEcauseHigh"), "trTeFilterMatchChoiceEcauseHigh");
        let kind = inst("trTeFilterMatchValueInterrupt") == 1;
        (!ecause || (high << 32 | low) >> cause & 1 == 1)
            && (!interrupt || kind == is_interrupt)
            && (!tval || within(params.comparators + i, 0, value))
    });
    (!asks("trTeFilterMatchPrivilege")
        || inst("trTeFilterMatchChoicePrivilege") >> block.level & 1 == 1)
        && (!asks("trTeFilterMatchComp1") || within(i, params.address_lsb, block.address))
        && (!asks("trTeFilterMatchComp2") || within(context, 0, block.context))
        && (!(ecause || interrupt || tval) || handled)
}

/// The write pointer is set when the model sets it, and time starts from 0.
pub(crate) fn check_effect(effect: Effect, now: &Outputs) -> Result<(), Failed> {
    if let Some(reset) = now.get("time_reset")
        && *reset != Bits::new(1, effect.pulse.into())
    {
        return Err(format!("reset of the time is {reset:?}, not {effect:x?}").into());
    }
    let Some(write) = now.get("wp_we") else { return Ok(()) };
    if *write != Bits::new(1, effect.pointer.is_some().into()) {
        return Err(format!("write of the pointer is {write:?}, not {effect:x?}").into());
    }
    match effect.pointer {
        Some(value) if now["wp"] != Bits::new(now["wp"].width(), value.into()) => {
            Err(format!("the pointer is set to {:?}, not {value:#x}", now["wp"]).into())
        }
        _ => Ok(()),
    }
}

/// Configuration must not change while the component is in use.
pub(crate) fn check_stays(before: &Outputs, now: &Outputs) -> Result<(), Failed> {
    let moves = ["enable", "abort", "flush", "time_count", "time_reset", "wp", "wp_we"];
    for (name, value) in now {
        if !moves.contains(&name.as_str()) && before.get(name) != Some(value) {
            return Err(format!("{name} changed while in use").into());
        }
    }
    Ok(())
}
