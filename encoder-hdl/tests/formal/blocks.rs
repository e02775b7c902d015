//! The blocks of small encoders.

use hartrace_encoder_hdl::{Config, Overflow, encoder};
use hartrace_etrace::Params;
use hartrace_hdl_tools::prove::Rig;
use hartrace_rtl::{Component, Expr, zero};

/// The smallest possible encoder, so that a solver has little work.
pub(crate) fn tiny() -> Config {
    Config {
        lanes: 1,
        iretire_width_p: 2,
        itype_width_p: 4,
        full_address: false,
        ingress_depth: 2,
        overflow: Overflow::Drop,
        etrace: Params { iaddress_width_p: 24, ecause_width_p: 2, ..Params::default() },
        ..Config::default()
    }
}

/// The module of this name in an encoder.
pub(crate) fn block(config: &Config, name: &str) -> Component {
    fn find(component: &Component, name: &str) -> Option<Component> {
        match component.name() == name {
            true => Some(component.clone()),
            false => component.children().iter().find_map(|child| find(child, name)),
        }
    }
    let core = encoder(config).expect("a legal configuration");
    find(&core, name).unwrap_or_else(|| panic!("no {name} in {config:?}"))
}

/// Assumes that an input is set before the first cycle and never changes.
pub(crate) fn assume_constant(rig: &Rig, port: &str) {
    let now = rig.port(port);
    let started = rig.count(&format!("{port}_started"), 1, |_| zero(1).not());
    let same = now.eq(rig.past(&format!("{port}_before"), &now));
    rig.m.assume_always(&format!("{port}_constant"), !started | same);
}

/// The number of set bits, as a sum.
pub(crate) fn ones_of(bits: &[Expr], width: u32) -> Expr {
    bits.iter().fold(zero(width), |sum, bit| sum + bit.zext(width))
}
