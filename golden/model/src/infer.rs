//! Why a packet was sent, as far as a capture alone can tell: from the packet and its neighbours.

use crate::encoder::Reason;
use hartrace_etrace::{AddressReport, BranchFmt, Payload, QualStatus};
use std::collections::HashMap;
use std::hash::Hash;

/// The likely reasons of packets, in order, each with its source. A packet that cannot be read has none.
pub fn reasons<S: Copy + Eq + Hash>(packets: &[(S, Option<Payload>)]) -> Vec<Option<Reason>> {
    // For each packet the next one of its source, except context packets.
    let mut next = vec![None; packets.len()];
    let mut latest = HashMap::new();
    for (next, (source, payload)) in next.iter_mut().zip(packets).rev() {
        *next = latest.get(source).copied();
        if let Some(payload) = payload
            && !matches!(payload, Payload::Context(_))
        {
            latest.insert(*source, *payload);
        }
    }
    let mut guesses: HashMap<S, Guess> = HashMap::new();
    let reason = |((source, payload), next): (&(S, Option<Payload>), Option<Payload>)| {
        let guess = guesses.entry(*source).or_default();
        payload.as_ref().map(|payload| guess.reason(payload, next.as_ref()))
    };
    packets.iter().zip(next).map(reason).collect()
}

/// Guesses reasons packet by packet, in order, for one source.
#[derive(Clone, Debug, Default)]
pub struct Guess {
    started: bool,
    privilege: Option<u8>,
    context: Option<u64>,
    /// The last packet was a trap whose handler had not started.
    trapped: bool,
}

impl Guess {
    /// The likely reason of `payload`. `next` is what follows it, context packets left out.
    pub fn reason(&mut self, payload: &Payload, next: Option<&Payload>) -> Reason {
        let trapped = std::mem::take(&mut self.trapped);
        match payload {
            Payload::Support(p) => match p.qual_status {
                QualStatus::TraceLost => Reason::Lost,
                QualStatus::NoChange if p.ienable => Reason::Enabled,
                _ => {
                    self.started = false;
                    Reason::Stopped
                }
            },
            Payload::Context(_) => Reason::ImpreciseContext,
            Payload::History(p) => match (p.stop, next) {
                (None, Some(Payload::Address(_))) => Reason::Updiscon,
                // Twenty records are seldom so few bits.
                (None, _) if p.records.to_string().len() < 40 => Reason::Updiscon,
                (None, _) => Reason::RecordsFull,
                (_, Some(Payload::Trap(_))) => Reason::BeforeTrap,
                (_, Some(Payload::Start(_))) => Reason::BeforeResync,
                (_, Some(Payload::Address(_))) => Reason::Notify,
                (_, Some(Payload::History(_))) => Reason::BeforeChange,
                _ => Reason::Last,
            },
            Payload::Start(p) => {
                let reason = match (self.privilege, self.context) {
                    _ if trapped => Reason::HandlerAfterReport,
                    _ if !self.started => Reason::First,
                    (Some(privilege), _) if privilege != p.privilege => Reason::Privilege,
                    (_, Some(context)) if context != p.context => Reason::Context,
                    _ => Reason::Resync,
                };
                self.started = true;
                self.privilege = Some(p.privilege);
                self.context = Some(p.context);
                reason
            }
            Payload::Trap(p) if p.thaddr => {
                self.started = true;
                self.privilege = Some(p.privilege);
                self.context = Some(p.context);
                Reason::Handler
            }
            Payload::Trap(_) => {
                self.trapped = true;
                match next {
                    Some(Payload::Trap(_)) => Reason::TrapInHandler,
                    Some(Payload::Start(_)) if self.started => Reason::TrapAtTarget,
                    Some(Payload::Start(_)) => Reason::TrapAtStart,
                    _ => Reason::TrapAtEnd,
                }
            }
            Payload::JumpTarget(p) if p.irdepth.is_some() => Reason::ReturnMismatch,
            Payload::JumpTarget(_) => Reason::Updiscon,
            Payload::Address(report) => reported(report, next),
            Payload::Branch(p) => p.address.as_ref().map_or(Reason::MapFull, |r| reported(r, next)),
            Payload::BranchCount(p) => match &p.branch_fmt {
                BranchFmt::NoAddress => Reason::Mispredicted,
                BranchFmt::Address(r) | BranchFmt::MispredictedAddress(r) => reported(r, next),
            },
        }
    }
}

/// An address without flags that format 3 follows is not the target of a jump (7.6.2).
fn reported(report: &AddressReport, next: Option<&Payload>) -> Reason {
    match next {
        _ if report.notify && report.irdepth.is_some() => Reason::CallAfterReturn,
        _ if report.notify => Reason::Notify,
        _ if report.updiscon && report.irdepth.is_some() => Reason::ReturnMismatch,
        _ if report.updiscon => Reason::Updiscon,
        Some(Payload::Trap(_)) => Reason::BeforeTrap,
        Some(Payload::Start(_)) => Reason::BeforeChange,
        Some(Payload::Support(p)) if p.qual_status == QualStatus::EndedRep => Reason::Last,
        _ if report.irdepth.is_some() => Reason::ReturnMismatch,
        _ => Reason::Updiscon,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_etrace::{Branch, BranchMap, Start, Support, Trap};

    #[test]
    fn neighbours_decide() {
        let support = |qual_status, ienable| {
            Payload::Support(Support { qual_status, ienable, ..Support::default() })
        };
        let start = |privilege| Payload::Start(Start { privilege, ..Start::default() });
        let address = Payload::Address(AddressReport::new(4));
        let full = Payload::Branch(Branch {
            map: BranchMap::new(31, 0).unwrap_or_default(),
            address: None,
        });
        let trap = Payload::Trap(Trap { thaddr: true, privilege: 3, ..Trap::default() });
        let stream = [
            support(QualStatus::NoChange, true),
            start(3),
            address,
            full,
            address,
            trap,
            start(0),
            start(0),
            address,
            support(QualStatus::EndedRep, false),
        ];
        let mut guess = Guess::default();
        let reasons: Vec<Reason> =
            (0..stream.len()).map(|n| guess.reason(&stream[n], stream.get(n + 1))).collect();
        assert_eq!(
            reasons,
            [
                Reason::Enabled,
                Reason::First,
                Reason::Updiscon,
                Reason::MapFull,
                Reason::BeforeTrap,
                Reason::Handler,
                Reason::Privilege,
                Reason::Resync,
                Reason::Last,
                Reason::Stopped,
            ]
        );
    }
}
