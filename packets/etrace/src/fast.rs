//! Parses formats 1 and 2, and emits formats 0, 1 and 2, without their field table, since nearly all
//! payloads have one of them.
//!
//! The table remains the definition: property tests compare the two on every kind of payload.

use crate::pack::{Packed, Packer};
use crate::{
    AddressReport, Branch, BranchFmt, BranchMap, Ioptions, Layout, Params, Payload, Unit,
    branch_map_width,
};
use hartrace_bits::{BitReader, Window, mask, sign_extend};

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

/// Emits a payload of format 0, 1 or 2; `None` leaves it to the table, including every error.
#[inline(always)]
pub(crate) fn emit(packer: &Packer, options: Ioptions, payload: &Payload) -> Option<Packed> {
    if !packer.narrow {
        return None;
    }
    let params = packer.layout().params();
    let subformat_bits = u32::from(params.f0s_width_p);
    let both = options.branch_prediction && options.jump_target_cache
        || packer.layout().has_history(options);
    match payload {
        Payload::Address(report) => emit_report(packer, 2, 2, report),
        Payload::Branch(Branch { map, address: Some(report) }) if !map.is_empty() => {
            let width = u32::from(branch_map_width(map.branches()));
            let low = 1 | u64::from(map.branches()) << 2 | u64::from(map.raw()) << 7;
            emit_report(packer, low.into(), width.wrapping_add(7), report)
        }
        Payload::Branch(Branch { map, address: None }) if map.branches() == BranchMap::MAX => {
            let value = 1 | u64::from(map.raw()) << 7;
            Some(Packed::signed(extended(value.into(), 7 + 31)))
        }
        Payload::BranchCount(count)
            if options.branch_prediction && !(both && subformat_bits == 0) =>
        {
            let at = subformat_bits.wrapping_add(2);
            let low = u128::from(count.branch_count).wrapping_shl(at);
            let after = at.wrapping_add(32);
            let (fmt, report) = match &count.branch_fmt {
                BranchFmt::NoAddress => return Some(Packed::signed(low as i128)),
                BranchFmt::Address(report) => (2u128, report),
                BranchFmt::MispredictedAddress(report) => (3, report),
            };
            let low = low | fmt.wrapping_shl(after);
            emit_report(packer, low, after.wrapping_add(2), report)
        }
        Payload::JumpTarget(target)
            if options.jump_target_cache && !(both && subformat_bits == 0) =>
        {
            let index = u64::from(target.index);
            let index_bits = u32::from(params.cache_size_p);
            if index > mask(index_bits) {
                return None;
            }
            let at = subformat_bits.wrapping_add(2);
            let subformat = if subformat_bits == 0 { 0 } else { 1u128 << 2 };
            let mut low = subformat | u128::from(index).wrapping_shl(at);
            let at = at.wrapping_add(index_bits);
            let branches = target.map.branches();
            low |= u128::from(branches).wrapping_shl(at);
            let at = at.wrapping_add(5);
            low |= u128::from(target.map.raw()).wrapping_shl(at);
            let width = if branches == 0 { 0 } else { branch_map_width(branches).into() };
            let at = at.wrapping_add(width);
            let base = low.wrapping_shr(at.wrapping_sub(1)) & 1 != 0;
            let tail = emit_depth(packer, base, target.irdepth)?;
            let value = low | u128::from(tail).wrapping_shl(at);
            let total = at.wrapping_add(1).wrapping_add(packer.irdepth_bits);
            Some(Packed::signed(extended(value, total)))
        }
        _ => None,
    }
}

/// An address and its flags above `at` low bits.
#[inline(always)]
fn emit_report(packer: &Packer, low: u128, at: u32, report: &AddressReport) -> Option<Packed> {
    let width = packer.address_bits;
    if report.address > mask(width) {
        return None;
    }
    let plain = !report.notify && !report.updiscon && report.irdepth.is_none() && !packer.ones;
    if plain {
        // All flags and irdepth equal the top bit of the address, so they compress away.
        let address = i128::from(sign_extend(report.address, width) as i64);
        return Some(Packed::signed(low as i128 | address.wrapping_shl(at)));
    }
    let msb = report.address.wrapping_shr(width.wrapping_sub(1)) & 1 != 0;
    let notify = msb ^ report.notify;
    let updiscon = notify ^ report.updiscon;
    let depth = emit_depth(packer, updiscon, report.irdepth)?;
    let tail = u64::from(notify) | u64::from(updiscon) << 1 | depth << 2;
    let flags = at.wrapping_add(width);
    let value =
        low | u128::from(report.address).wrapping_shl(at) | u128::from(tail).wrapping_shl(flags);
    let total = flags.wrapping_add(3).wrapping_add(packer.irdepth_bits);
    Some(Packed::signed(extended(value, total)))
}

/// irreport, as a difference from the bit before it, and irdepth.
#[inline]
fn emit_depth(packer: &Packer, base: bool, depth: Option<u32>) -> Option<u64> {
    let all = mask(packer.irdepth_bits);
    let field = match depth {
        Some(depth) if u64::from(depth) > all => return None,
        Some(depth) => depth.into(),
        None if base || packer.ones => all,
        None => 0,
    };
    Some(u64::from(base ^ depth.is_some()) | field << 1)
}

/// Sign-extends the low `width` bits, 1 to 128 of them.
#[inline]
fn extended(value: u128, width: u32) -> i128 {
    let above = 128u32.wrapping_sub(width);
    (value.wrapping_shl(above) as i128).wrapping_shr(above)
}
