//! The addresses of trap handlers that are not sent.

use super::shape::Shape;
use crate::wires::join;
use hartrace_etrace::{FieldName, Format};
use hartrace_rtl::{Expr, Module, Outputs, concat, lit};

/// Width of all trap vectors.
pub(super) fn width(shape: &Shape) -> u32 {
    let params = shape.layout.params();
    u32::from(params.iaddress_width_p) << params.privilege_width_p
}

/// For each slot, whether its packet is a trap whose handler was not sent; and the addresses of all slots, with those of
/// the handlers. Spec: E-Trace 2.0, 3.2.3.
pub(super) fn handlers(
    m: &Module,
    shape: &Shape,
    vectors: &Expr,
    extracted: &Outputs,
) -> (Expr, Expr) {
    m.section("The handlers of traps whose addresses are not sent.");
    let params = shape.layout.params();
    let (bits, lsb) = (u32::from(params.iaddress_width_p), u32::from(params.iaddress_lsb_p));
    let (mut implicit, mut sent) = (Vec::new(), Vec::new());
    for slot in 0..shape.slots() {
        let of =
            |name: &str, width: u32| extracted[&format!("{name}_o")].slice(slot * width, width);
        let field = |name: FieldName, width: u32| of(name.as_str(), width);
        let is_trap = of("format", super::extract::format_bits()).is(Format::Trap as u128);
        let unsent = is_trap & field(FieldName::Thaddr, 1) & !of("addressed", 1);
        let unsent = m.let_(&format!("implicit_{slot}"), unsent);
        let privilege = field(FieldName::Privilege, params.privilege_width_p.into());
        let vector = m.let_(&format!("vector_{slot}"), vectors.index(&privilege, bits));
        // Four bytes for each interrupt, if the lowest bits of the vector say so.
        let vectored = vector.trunc(2).is(1) & field(FieldName::Interrupt, 1);
        let cause = field(FieldName::Ecause, params.ecause_width_p.into());
        let cause =
            if cause.width() > bits - 2 { cause.trunc(bits - 2) } else { cause.zext(bits - 2) };
        let handler = vector.slice(2, bits - 2) + vectored.gate(cause);
        let handler = concat(&[&handler, &lit(2, 0)]);
        let address = of("address", bits - lsb);
        sent.push(unsent.mux(handler.slice(lsb, bits - lsb), address));
        implicit.push(unsent);
    }
    (join(&implicit), join(&sent))
}
