//! Parses formats 1 and 2 without their field table, since nearly all payloads have one of them.
//!
//! The table remains the definition: property tests compare the two on every kind of payload.

use crate::{AddressReport, Branch, BranchMap, Layout, Params, Payload, Unit, branch_map_width};
use hartrace_bits::{BitReader, Window};

/// Parses a payload of format 1 or 2; `None` leaves it to the table.
#[inline(always)]
pub(crate) fn parse(layout: &Layout, bits: &mut BitReader<'_>) -> Option<Payload> {
    if layout.unit() == Unit::RvTracer {
        return None;
    }
    let window = bits.window()?;
    let params = layout.params();
    match window.get(0, 2) {
        1 => {
            let branches = window.get(2, 5) as u8;
            let width = u32::from(branch_map_width(branches));
            let map = window.get(7, width) as u32;
            let after = width.wrapping_add(7);
            if branches == 0 {
                bits.skip(after);
                let map = BranchMap::new(BranchMap::MAX, map)?;
                return Some(Payload::Branch(Branch { map, address: None }));
            }
            let map = BranchMap::new(branches, map)?;
            let (address, end) = report(params, &window, after);
            bits.skip(end);
            Some(Payload::Branch(Branch { map, address: Some(address) }))
        }
        2 => {
            let (address, end) = report(params, &window, 2);
            bits.skip(end);
            Some(Payload::Address(address))
        }
        _ => None,
    }
}

/// Returns the address and flags at bit `at`, and the position after them.
#[inline]
fn report(params: &Params, window: &Window, at: u32) -> (AddressReport, u32) {
    let width = params.address_bits();
    let depth_width = params.irdepth_bits();
    let address = window.get(at, width);
    let flags = at.wrapping_add(width);
    // Each flag is a difference from the bit before it: one exclusive or for all of them.
    let msb = flags.wrapping_sub(1);
    let sent = window.get(msb, 4);
    let differences = sent ^ (sent >> 1);
    let depth = flags.wrapping_add(3);
    let irdepth = (differences & 4 != 0).then(|| window.get(depth, depth_width) as u32);
    let report = AddressReport {
        address,
        notify: differences & 1 != 0,
        updiscon: differences & 2 != 0,
        irdepth,
    };
    (report, depth.wrapping_add(depth_width))
}
