//! Payloads whose addresses are near a program.

use crate::options;
use arbitrary::{Result, Unstructured};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, History,
    Ioptions, JumpTarget, Params, Payload, QualStatus, Records, Start, Support, Trap,
};

/// Creates a payload. Addresses are `base` plus a little, as fields of `params`; a value that does
/// not fit its field is left for `emit` to reject.
pub fn payload(
    u: &mut Unstructured<'_>,
    params: &Params,
    modes: Ioptions,
    base: u64,
) -> Result<Payload> {
    let at = |u: &mut Unstructured<'_>| {
        let near = u64::from(u.int_in_range(0..=63u8)?) * 2;
        let any: u64 = u.arbitrary()?;
        let address = if u.ratio(15, 16)? { base.wrapping_add(near) } else { any };
        let width = params.address_bits();
        let field = address >> params.iaddress_lsb_p.min(2);
        Ok(if width < 64 { field & ((1 << width) - 1) } else { field })
    };
    Ok(match u.int_in_range(0..=9u8)? {
        0..=4 if modes.history_prediction && params.hpred_size_p > 0 => {
            let stop = u.arbitrary::<bool>()?.then_some(u.int_in_range(0..=64)?);
            let bytes: [u8; 8] = u.arbitrary()?;
            let len = u.int_in_range(0..=64)?;
            let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1 != 0;
            let records = Records::new((0..len).map(bit)).unwrap_or(Records::EMPTY);
            Payload::History(History { stop, records })
        }
        0 => Payload::BranchCount(BranchCount {
            branch_count: small_or_any(u)?,
            branch_fmt: match u.int_in_range(0..=2u8)? {
                0 => BranchFmt::NoAddress,
                1 => BranchFmt::Address(report(u, params, modes)?),
                _ => BranchFmt::MispredictedAddress(report(u, params, modes)?),
            },
        }),
        1 => Payload::JumpTarget(JumpTarget {
            index: u.int_in_range(0..=(1 << params.cache_size_p.min(16)) - 1)?,
            map: map(u)?,
            irdepth: irdepth(u, params)?,
        }),
        2 => Payload::Branch(Branch {
            map: BranchMap::new(31, u.arbitrary()?).unwrap_or_default(),
            address: None,
        }),
        3 | 4 => Payload::Branch(Branch { map: map(u)?, address: Some(report(u, params, modes)?) }),
        5 => Payload::Address(report(u, params, modes)?),
        6 => Payload::Start(Start {
            branch: u.arbitrary()?,
            privilege: u.int_in_range(0..=1)?,
            time: 0,
            context: 0,
            address: at(u)?,
        }),
        7 => {
            let (interrupt, thaddr) = (u.arbitrary()?, u.arbitrary()?);
            let implicit = modes.implicit_exception && thaddr;
            let ecause: u64 = u.arbitrary()?;
            Payload::Trap(Trap {
                branch: u.arbitrary()?,
                privilege: u.int_in_range(0..=1)?,
                time: 0,
                context: 0,
                ecause: ecause >> (64 - u32::from(params.ecause_width_p.clamp(1, 64))),
                interrupt,
                thaddr,
                address: if implicit { None } else { Some(at(u)?) },
                tval: if interrupt { None } else { Some(0) },
            })
        }
        8 => Payload::Context(Context { privilege: u.int_in_range(0..=1)?, time: 0, context: 0 }),
        _ => Payload::Support(Support {
            ienable: u.ratio(3, 4)?,
            encoder_mode: 0,
            qual_status: QualStatus::from_raw(u.arbitrary()?),
            ioptions: options(u)?,
            data: DataSupport::default(),
        }),
    })
}

fn small_or_any(u: &mut Unstructured<'_>) -> Result<u32> {
    let any = u.arbitrary()?;
    Ok(*u.choose(&[0, 1, 7, any])?)
}

fn map(u: &mut Unstructured<'_>) -> Result<BranchMap> {
    Ok(BranchMap::new(u.int_in_range(1..=31)?, u.arbitrary()?).unwrap_or_default())
}

fn irdepth(u: &mut Unstructured<'_>, params: &Params) -> Result<Option<u32>> {
    let max = (1u64 << params.irdepth_bits().min(32)) - 1;
    Ok(if u.arbitrary()? { Some(u.int_in_range(0..=max.min(8) as u32)?) } else { None })
}

/// A near difference, or an absolute address in a small image at 0.
fn report(u: &mut Unstructured<'_>, params: &Params, modes: Ioptions) -> Result<AddressReport> {
    let width = params.address_bits();
    let near = i64::from(u.int_in_range(-32i8..=63)?);
    let near = if modes.full_address { near.unsigned_abs() } else { near as u64 };
    let any: u64 = u.arbitrary()?;
    let field = if u.ratio(15, 16)? { near } else { any };
    Ok(AddressReport {
        address: if width < 64 { field & ((1 << width) - 1) } else { field },
        notify: u.ratio(1, 4)?,
        updiscon: u.ratio(1, 4)?,
        irdepth: irdepth(u, params)?,
    })
}
