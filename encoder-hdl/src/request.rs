//! Requests of the priority module to the emitter.

use crate::config::{Compression, Config};
use hartrace_rtl::{Wire, bundle};

bundle! {
    /// The signals of a request. Exactly one of the formats is set.
    pub(crate) struct Request {
        start, trap, report, map_only, support,
        address, branch, privilege, time: Option, context: Option, context_only: Option,
        ecause, interrupt, thaddr, tval, branches, branch_map,
        counting: Option, branch_count: Option, mispredicted: Option,
        notify: Option, updiscon: Option, target: Option, irreport: Option, irdepth: Option,
        ienable, qual_status
    }
}

impl Request<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let params = &config.etrace;
        let some = |has: bool, width, doc| has.then(|| Wire::new(width, doc));
        let (time, context) = (params.time_bits(), params.context_bits());
        let (predicts, returns) = (config.predicts(), config.returns());
        let target = config.caches() || config.compression == Compression::Bytes;
        Self {
            start: Wire::new(1, "format 3.0"),
            trap: Wire::new(1, "format 3.1"),
            report: Wire::new(1, "an address: format 0, 1 or 2"),
            map_only: Wire::new(1, "branches without an address: format 0.0 or 1"),
            support: Wire::new(1, "format 3.3"),
            address: Wire::new(config.address(), ""),
            branch: Wire::new(1, "it is no branch that was taken"),
            privilege: Wire::new(params.privilege_width_p.into(), ""),
            time: some(time > 0, time, ""),
            context: some(context > 0, context, ""),
            context_only: some(context > 0, 1, "format 3.2"),
            ecause: Wire::new(params.ecause_width_p.into(), ""),
            interrupt: Wire::new(1, ""),
            thaddr: Wire::new(1, ""),
            tval: Wire::new(params.iaddress_width_p.into(), ""),
            branches: Wire::new(5, "in the map"),
            branch_map: Wire::new(31, ""),
            counting: some(predicts, 1, "branches are reported as a count"),
            branch_count: some(predicts, 32, ""),
            mispredicted: some(predicts, 1, "the address is a branch that is not counted"),
            notify: some(config.triggers || returns || predicts, 1, ""),
            // There is no room for it in every payload.
            updiscon: Some(Wire::new(1, "")),
            target: some(target, 1, "of an uninferable discontinuity"),
            irreport: some(returns, 1, ""),
            irdepth: some(returns, config.depth(), ""),
            ienable: Wire::new(1, ""),
            qual_status: Wire::new(2, ""),
        }
    }
}
