//! Small circuits that several stages use.

use hartrace_rtl::{Component, Expr, Module, Outputs, concat, lit, zero};

/// Whether any of these bits is set.
pub(crate) fn any(exprs: impl IntoIterator<Item = Expr>) -> Expr {
    exprs.into_iter().reduce(|a, b| a | b).unwrap_or_else(|| lit(1, 0))
}

/// Whether all of these bits are set.
pub(crate) fn all(exprs: impl IntoIterator<Item = Expr>) -> Expr {
    exprs.into_iter().reduce(|a, b| a & b).unwrap_or_else(|| lit(1, 1))
}

/// A vector of these parts, the first one lowest.
pub(crate) fn join(parts: &[Expr]) -> Expr {
    concat(&parts.iter().rev().collect::<Vec<_>>())
}

/// A register between two stages; `clears` if it must not hold garbage after reset.
pub(crate) fn delay(m: &Module, name: &str, value: &Expr, clears: bool) -> Expr {
    let reg = match clears {
        true => m.reg(name, zero(value.width())),
        false => m.reg_data(name, value.width(), lit(1, 1)),
    };
    m.assign(&reg.d, value);
    reg.q
}

/// An instance whose ports have computed names.
pub(crate) fn instance(
    m: &Module,
    name: &str,
    of: &Component,
    ports: &[(String, Expr)],
) -> Outputs {
    let ports: Vec<(&str, &Expr)> =
        ports.iter().map(|(name, expr)| (name.as_str(), expr)).collect();
    m.inst(name, of, &ports)
}
