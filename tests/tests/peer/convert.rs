//! Conversion of parameters and payloads to the peer's types.

use hartrace_etrace as ours;
use hartrace_etrace::{AddressReport, BranchFmt, BranchMap, Params, Payload, QualStatus};
use riscv_etrace::config::Parameters;
use riscv_etrace::packet::payload::{AddressInfo, Branch, InstructionTrace};
use riscv_etrace::packet::unit::{Reference, ReferenceDOptions, ReferenceIOptions};
use riscv_etrace::packet::{self, Builder, ext, sync};
use riscv_etrace::types::{Privilege, branch, trap};
use std::num::NonZeroU8;

/// The parameters; the peer has no `bpred_size_p`, which no field depends on.
pub(crate) fn parameters(p: &Params) -> Parameters {
    let width = |value: u8| NonZeroU8::new(value).expect("legal widths are not zero");
    Parameters {
        cache_size_p: p.cache_size_p,
        call_counter_size_p: p.call_counter_size_p,
        context_width_p: width(p.context_width_p),
        time_width_p: width(p.time_width_p),
        ecause_width_p: width(p.ecause_width_p),
        f0s_width_p: p.f0s_width_p,
        iaddress_lsb_p: p.iaddress_lsb_p,
        iaddress_width_p: width(p.iaddress_width_p),
        nocontext_p: p.nocontext_p,
        notime_p: p.notime_p,
        privilege_width_p: width(p.privilege_width_p),
        return_stack_size_p: p.return_stack_size_p,
        sijump_p: p.sijump_p,
    }
}

/// Creates decoders and encoders for these parameters.
pub(crate) fn builder(p: &Params) -> Builder<Reference> {
    packet::builder().with_params(&parameters(p))
}

/// Parses one payload with the peer.
pub(crate) fn parse(p: &Params, bytes: &[u8]) -> Result<InstructionTrace, packet::Error> {
    builder(p).decoder(bytes).decode_payload()
}

/// Emits one payload with the peer.
pub(crate) fn emit(p: &Params, payload: &InstructionTrace) -> Result<Vec<u8>, packet::Error> {
    let mut buffer = [0; 64];
    let mut encoder = builder(p).encoder(&mut buffer);
    encoder.encode(payload)?;
    let len = 64 - encoder.uncommitted();
    Ok(buffer[..len].to_vec())
}

/// A payload in the peer's type; `None` if that type cannot represent it.
pub(crate) fn payload(p: &Params, payload: &Payload) -> Option<InstructionTrace> {
    let absolute = |field: u64| field << p.iaddress_lsb_p;
    Some(match payload {
        Payload::BranchCount(count) => {
            let kind = match &count.branch_fmt {
                BranchFmt::NoAddress => ext::BranchKind::NoAddr,
                BranchFmt::Address(report) => ext::BranchKind::Addr(info(p, report)),
                BranchFmt::MispredictedAddress(r) => ext::BranchKind::AddrFail(info(p, r)),
            };
            ext::BranchCount { branch_count: count.branch_count, kind }.into()
        }
        Payload::JumpTarget(target) => ext::JumpTargetIndex {
            index: target.index as usize,
            branch_map: map(&target.map),
            irdepth: target.irdepth.map(|depth| depth as usize),
        }
        .into(),
        Payload::Branch(branch) => Branch {
            branch_map: map(&branch.map),
            address: branch.address.as_ref().map(|report| info(p, report)),
        }
        .into(),
        Payload::Address(report) => info(p, report).into(),
        Payload::Start(start) => sync::Start {
            branch: start.branch,
            ctx: context(p, start.privilege, start.time, start.context)?,
            address: absolute(start.address),
        }
        .into(),
        Payload::Trap(trap) => sync::Trap {
            branch: trap.branch,
            ctx: context(p, trap.privilege, trap.time, trap.context)?,
            thaddr: trap.thaddr,
            address: absolute(trap.address?),
            info: trap::Info { ecause: trap.ecause.try_into().ok()?, tval: trap.tval },
        }
        .into(),
        Payload::Context(c) => context(p, c.privilege, c.time, c.context)?.into(),
        Payload::Support(s) => support(s)?.into(),
        // An extension of this project.
        Payload::History(_) => return None,
    })
}

/// The transmitted field with its sign, in bytes.
pub(crate) fn field(p: &Params, address: u64) -> i64 {
    let unused = 64 - p.address_bits();
    ((address << unused) as i64 >> unused) << p.iaddress_lsb_p
}

fn info(p: &Params, report: &AddressReport) -> AddressInfo {
    AddressInfo {
        address: field(p, report.address),
        notify: report.notify,
        updiscon: report.updiscon,
        irdepth: report.irdepth.map(|depth| depth as usize),
    }
}

fn map(ours: &BranchMap) -> branch::Map {
    let mut map = branch::Map::default();
    for index in 0..ours.branches() {
        let taken = ours.taken(index).expect("within the map");
        map.push_branch_taken(taken).expect("31 branches fit");
    }
    map
}

fn context(p: &Params, privilege: u8, time: u64, context: u64) -> Option<sync::Context> {
    let privilege = Privilege::try_from(privilege).ok()?;
    Some(sync::Context { privilege, time: (!p.notime_p).then_some(time), context })
}

fn support(s: &ours::Support) -> Option<sync::Support> {
    let bit = |index: u8| s.data.doptions >> index & 1 == 1;
    Some(sync::Support {
        ienable: s.ienable,
        encoder_mode: s.encoder_mode.try_into().ok()?,
        qual_status: match s.qual_status {
            QualStatus::NoChange => sync::QualStatus::NoChange,
            QualStatus::EndedRep => sync::QualStatus::EndedRep,
            QualStatus::TraceLost => sync::QualStatus::TraceLost,
            QualStatus::EndedNtr => sync::QualStatus::EndedNtr,
        },
        ioptions: ReferenceIOptions {
            implicit_return: s.ioptions.implicit_return,
            implicit_exception: s.ioptions.implicit_exception,
            full_address: s.ioptions.full_address,
            jump_target_cache: s.ioptions.jump_target_cache,
            branch_prediction: s.ioptions.branch_prediction,
        },
        denable: s.data.denable,
        dloss: s.data.dloss,
        doptions: ReferenceDOptions {
            no_address: bit(0),
            no_data: bit(1),
            full_address: bit(2),
            full_data: bit(3),
        },
    })
}
