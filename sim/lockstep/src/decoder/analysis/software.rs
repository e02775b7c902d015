//! What software does over the bus.

use super::{Bus, Found, Property, Settings};
use hartrace_decoder_hdl::analysis::{Config, RECORD_BYTES};
use hartrace_hdl_tools::verilate::{SimError, Simulation};
use std::collections::BTreeMap;

/// Sets up what is counted and watched, and switches it on.
pub(in crate::decoder) fn set_up(
    bus: &Bus,
    sim: &mut Simulation,
    settings: &Settings,
) -> Result<(), SimError> {
    bus.write(sim, "hartraceAnControl", 1)?;
    while bus.read(sim, "hartraceAnControl")? & 4 != 0 {}
    let (first, second) = settings.property.addresses().unwrap_or_default();
    let addresses = [("Trigger", settings.trigger), ("First", first), ("Second", second)];
    for (name, address) in addresses {
        bus.write(sim, &format!("hartraceAn{name}Low"), address as u32)?;
        bus.write(sim, &format!("hartraceAn{name}High"), (address >> 32) as u32)?;
    }
    let property = match settings.property {
        Property::None => 0,
        Property::Before { .. } => 1,
        Property::Within { .. } => 2,
    };
    bus.write(sim, "hartraceAnProperty", property)?;
    bus.write(sim, "hartraceAnLimit", settings.property.limit().unwrap_or(0))?;
    bus.write(sim, "hartraceAnControl", 3)
}

/// Reads what was found, after it was switched off. What was spilled is in the dump already.
pub(in crate::decoder) fn read(
    bus: &Bus,
    sim: &mut Simulation,
    config: &Config,
    found: &mut Found,
) -> Result<(), SimError> {
    let get = |sim: &mut Simulation, name: &str| {
        bus.read(sim, &format!("hartraceAn{name}")).map(u64::from)
    };
    let findings = &mut found.findings;
    for (total, name) in findings.totals.iter_mut().zip(["Bytes", "Errors", "Synchronisations"]) {
        *total = get(sim, name)?;
    }
    for i in 0..config.kinds {
        findings.kinds.push(get(sim, &format!("Kind{i}"))?);
    }
    for i in 0..config.lengths {
        findings.lengths.push(get(sim, &format!("Length{i}"))?);
    }
    findings.violations = get(sim, "Violations")?;
    findings.triggers = get(sim, "Windows")?;
    let windows = u64::from(config.windows);
    for window in findings.triggers.saturating_sub(windows)..findings.triggers {
        bus.write(sim, "hartraceAnWindowIndex", (window % windows) as u32)?;
        let (bits, length) = (get(sim, "Window")?, get(sim, "WindowLength")?);
        findings.windows.push((0..length).map(|i| bits >> i & 1 == 1).collect());
    }
    found.lost = get(sim, "ProfileLost")?;
    for entry in (0..config.entries).filter(|_| config.blocks) {
        bus.write(sim, "hartraceAnProfileIndex", entry)?;
        let address = |sim: &mut Simulation, name: &str| {
            let low = get(sim, &format!("{name}Low"))?;
            Ok::<u64, SimError>(low | get(sim, &format!("{name}High"))? << 32)
        };
        let (from, to) = (address(sim, "From")?, address(sim, "To")?);
        let (count, kind) = (get(sim, "ProfileCount")?, get(sim, "ProfileKind")?);
        for word in [from, to, count | kind << 56] {
            found.dump.extend(word.to_le_bytes());
        }
    }
    findings.edges = edges(&found.dump);
    Ok(())
}

/// The edges of a dump.
fn edges(dump: &[u8]) -> BTreeMap<(u64, u64, u8), u64> {
    let mut edges = BTreeMap::new();
    for record in dump.chunks(RECORD_BYTES as usize) {
        let word =
            |i: usize| record[8 * i..][..8].iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        let (count, kind) = (word(2) << 8 >> 8, (word(2) >> 56) as u8);
        if count > 0 {
            *edges.entry((word(0), word(1), kind)).or_default() += count;
        }
    }
    edges
}
