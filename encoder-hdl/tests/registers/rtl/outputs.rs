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
const FIELDS: [(&str, &str, &str); 13] = [
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
    expect("resync_mode", model.kept("trTeControl", "trTeInstSyncMode").unwrap_or(0).into())?;
    expect("initially_on", (tracing || !triggers).into())?;
    traced(params, model, now, rng)
}

/// Whether an address is traced, according to the registers and according to the outputs.
fn traced(
    params: &EncoderParams,
    model: &Model,
    now: &Outputs,
    rng: &mut Rng,
) -> Result<(), Failed> {
    let number = |bits: &[bool]| bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit));
    let ranges = now.get("ranges").map_or(0, Bits::width);
    let bound = |name: &str, i: u32| {
        let all = now[name].as_slice();
        let width = all.len() / ranges as usize;
        number(&all[i as usize * width..][..width])
    };
    let address = match ranges {
        0 => 0,
        _ => {
            bound(["low", "high"][rng.usize(0..2)], rng.u32(0..ranges)).wrapping_add(rng.u64(0..3))
        }
    };
    let level = rng.u32(0..now["privileges"].width());
    let in_use = |i: u32| now["ranges"].as_slice()[i as usize];
    let within = |i: u32| (bound("low", i)..=bound("high", i)).contains(&address);
    let encoder = now["privileges"].as_slice()[level as usize]
        && (!(0..ranges).any(in_use) || (0..ranges).any(|i| in_use(i) && within(i)));

    let kept = |register: &str, field: &str| model.kept(register, field);
    let chosen = kept("trTeInstFilters", "trTeInstFilters").unwrap_or(0);
    let asks_level = kept("trTeFilter0Control", "trTeFilterMatchPrivilege") == Some(1);
    let levels = kept("trTeFilter0MatchInst", "trTeFilterMatchChoicePrivilege").unwrap_or(0);
    let (mut any, mut matched) = (false, false);
    for i in 0..ranges.max(1) {
        let enabled = kept(&format!("trTeFilter{i}Control"), "trTeFilterEnable") == Some(1);
        if !enabled || chosen >> i & 1 == 0 {
            continue;
        }
        any = true;
        let asks_range = match i {
            0 => kept("trTeFilter0Control", "trTeFilterMatchComp1") == Some(1),
            _ => true,
        };
        let part = |part: &str| {
            let half = |half: &str| {
                kept(
                    &format!("trTeComp{i}{part}match{half}"),
                    &format!("trTeComp{part}Match{half}"),
                )
            };
            u64::from(half("High").unwrap_or(0)) << 32 | u64::from(half("Low").unwrap_or(0))
        };
        // Outputs do not contain the low bits of the address.
        let lsb = params.address_lsb;
        let inside = !asks_range || (part("P") >> lsb..=part("S") >> lsb).contains(&address);
        matched |= inside && (!asks_level || levels >> level & 1 == 1);
    }
    if encoder == (matched || !any) {
        return Ok(());
    }
    Err(format!("level {level}, address {address:#x}: encoder traces {encoder}; {now:?}").into())
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
    let moves = ["enable", "flush", "time_count", "time_reset", "wp", "wp_we"];
    for (name, value) in now {
        if !moves.contains(&name.as_str()) && before.get(name) != Some(value) {
            return Err(format!("{name} changed while in use").into());
        }
    }
    Ok(())
}
