//! Requests of the priority module to the emitter.

use crate::bundle::Wire;
use crate::config::{Compression, Config};

/// The signals of a request. Exactly one of the formats is set.
pub(crate) fn wires(config: &Config) -> Vec<Wire> {
    let params = &config.etrace;
    let mut wires = vec![
        Wire::new("start", 1, "format 3.0"),
        Wire::new("trap", 1, "format 3.1"),
        Wire::new("report", 1, "an address: format 0, 1 or 2"),
        Wire::new("map_only", 1, "branches without an address: format 0.0 or 1"),
        Wire::new("support", 1, "format 3.3"),
        Wire::new("address", config.address(), ""),
        Wire::new("branch", 1, "it is no branch that was taken"),
        Wire::new("privilege", params.privilege_width_p.into(), ""),
    ];
    if params.time_bits() > 0 {
        wires.push(Wire::new("time", params.time_bits(), ""));
    }
    if params.context_bits() > 0 {
        wires.push(Wire::new("context", params.context_bits(), ""));
        wires.push(Wire::new("context_only", 1, "format 3.2"));
    }
    wires.extend([
        Wire::new("ecause", params.ecause_width_p.into(), ""),
        Wire::new("interrupt", 1, ""),
        Wire::new("thaddr", 1, ""),
        Wire::new("tval", params.iaddress_width_p.into(), ""),
        Wire::new("branches", 5, "in the map"),
        Wire::new("branch_map", 31, ""),
    ]);
    if config.predicts() {
        wires.extend([
            Wire::new("counting", 1, "branches are reported as a count"),
            Wire::new("branch_count", 32, ""),
            Wire::new("mispredicted", 1, "the address is a branch that is not counted"),
        ]);
    }
    if config.triggers || config.returns() || config.predicts() {
        wires.push(Wire::new("notify", 1, ""));
    }
    wires.push(Wire::new("updiscon", 1, ""));
    if config.caches() || config.compression == Compression::Bytes {
        wires.push(Wire::new("target", 1, "of an uninferable discontinuity"));
    }
    if config.returns() {
        wires.push(Wire::new("irreport", 1, ""));
        wires.push(Wire::new("irdepth", config.depth(), ""));
    }
    wires.push(Wire::new("ienable", 1, ""));
    wires.push(Wire::new("qual_status", 2, ""));
    wires
}
