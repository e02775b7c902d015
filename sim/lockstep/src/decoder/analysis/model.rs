//! What an analysis has to find, from what it gets: written without a look at the hardware.

use super::{Block, Packets, Property, Settings, Step};
use std::collections::BTreeMap;

/// The kind of a conditional branch.
const BRANCH: u8 = 1;

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Bytes, errors, synchronisations.
    pub totals: [u64; 3],
    /// Packets by kind.
    pub kinds: Vec<u64>,
    /// Packets by length, from one byte on; the last has longer ones, too.
    pub lengths: Vec<u64>,
    /// How often each edge was taken: from, to, kind.
    pub edges: BTreeMap<(u64, u64, u8), u64>,
    /// The newest windows, the oldest first: outcomes, the newest first.
    pub windows: Vec<Vec<bool>>,
    /// How many windows there were.
    pub triggers: u64,
    /// How often the property did not hold.
    pub violations: u64,
}

/// An instruction of the property.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mark {
    A,
    B,
}

/// Finds everything in these steps.
#[must_use]
pub fn find(steps: &[Step], settings: &Settings) -> Findings {
    let mut findings = Findings {
        kinds: vec![0; settings.kinds],
        lengths: vec![0; settings.lengths],
        ..Findings::default()
    };
    let mut length = 0usize;
    let mut history: Vec<bool> = Vec::new();
    // The property: whether there was an A since the last B; when the first such A was, unless it was late.
    let (mut seen, mut since) = (false, None);
    for (cycle, step) in steps.iter().enumerate() {
        packets(&mut findings, &mut length, &step.packets, settings.sync_bytes);
        if let Some((start, limit)) = since.zip(settings.property.limit()) {
            let distance = (cycle - start) as u64;
            findings.violations += u64::from(distance == u64::from(limit) + 1);
        }
        if let Some(block) = &step.block {
            if block.has(settings.trigger) {
                findings.triggers += 1;
                let known = history.iter().rev().take(settings.window_bits);
                findings.windows.push(known.copied().collect());
            }
            if block.kind == BRANCH && !block.faulted {
                history.push(block.taken);
            }
            if let (Some(next), 1.., false) = (block.next, block.kind, block.faulted) {
                *findings.edges.entry((block.last, next, block.kind)).or_default() += 1;
            }
            for mark in marks(block, settings.property) {
                match mark {
                    Mark::A => {
                        seen = true;
                        since.get_or_insert(cycle);
                    }
                    Mark::B => {
                        let missing = matches!(settings.property, Property::Before { .. }) && !seen;
                        findings.violations += u64::from(missing);
                        (seen, since) = (false, None);
                    }
                }
            }
        }
        if step.gap {
            history.clear();
            // Nobody knows what was in the gap.
            (seen, since) = (true, None);
        }
    }
    let kept = findings.windows.len().min(settings.windows);
    findings.windows.drain(..findings.windows.len() - kept);
    findings
}

/// A and B in the order of a block.
fn marks(block: &Block, property: Property) -> Vec<Mark> {
    let Some((a, b)) = property.addresses() else { return Vec::new() };
    let mut found: Vec<(u64, Mark)> =
        [(a, Mark::A), (b, Mark::B)].into_iter().filter(|(at, _)| block.has(*at)).collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mark)| mark).collect()
}

fn packets(findings: &mut Findings, length: &mut usize, packets: &Packets, sync_bytes: usize) {
    for lane in &packets.lanes {
        let Some(byte) = lane else { continue };
        findings.totals[0] += 1;
        findings.totals[1] += u64::from(byte.error);
        findings.totals[2] += u64::from(byte.sync);
        *length = if byte.sync { sync_bytes } else { *length + 1 };
        if let Some(kind) = byte.ends {
            findings.kinds[usize::from(kind)] += 1;
            let last = findings.lengths.len() - 1;
            findings.lengths[(*length - 1).min(last)] += 1;
        }
        if byte.ends.is_some() || byte.error || byte.sync {
            *length = 0;
        }
    }
}
