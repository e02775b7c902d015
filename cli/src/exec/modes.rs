//! The modes to encode in.

use crate::failure::Failure;
use hartrace_etrace::{Ioptions, Mode, Params, Unit};

/// Every mode alone, and every combination that is of use.
pub(crate) const ALL: [&str; 13] = [
    "delta",
    "full",
    "ie",
    "sij",
    "ir",
    "bp",
    "jtc",
    "ir+sij",
    "ir+bp",
    "ir+jtc",
    "bp+jtc",
    "ir+bp+jtc",
    "ir+ie+sij+bp+jtc",
];

/// The modes in `text`: names or codes joined by `+`, or `delta` for none.
pub(crate) fn named(text: &str) -> Result<Ioptions, Failure> {
    let unit = Unit::Hartrace.ioptions();
    let options = Ioptions::named(text).and_then(|options| {
        // What our encoder does not have is not offered either.
        let missing = |mode: &Mode| options.get(*mode) && !unit.contains(mode);
        if Mode::ALL.iter().any(missing) { Err(text) } else { Ok(options) }
    });
    options.map_err(|part| {
        let modes = Mode::ALL.into_iter().filter(|mode| unit.contains(mode));
        let names: Vec<_> =
            modes.map(|mode| format!("{} ({})", mode.name(), mode.code())).collect();
        Failure::usage(format_args!("there is no mode `{part}`"))
            .hint(format_args!("delta, or some of {} joined by +; or all", names.join(", ")))
    })
}

/// An encoder with every option, for harts of this width.
pub(crate) fn params(xlen: hartrace_isa::Xlen) -> Params {
    Params {
        iaddress_width_p: xlen.bits() as u8,
        iaddress_lsb_p: 1,
        privilege_width_p: 2,
        ecause_width_p: 5,
        context_width_p: 1,
        nocontext_p: true,
        time_width_p: 1,
        notime_p: true,
        f0s_width_p: 1,
        bpred_size_p: 7,
        cache_size_p: 7,
        return_stack_size_p: 4,
        call_counter_size_p: 0,
        sijump_p: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        // Written as they are printed.
        assert!(ALL.iter().all(|name| named(name).unwrap().to_string() == *name));
        let options = named("implicit-return+jtc").unwrap();
        assert!(options.implicit_return && options.jump_target_cache && !options.full_address);
        assert!(named("retrun").unwrap_err().to_string().contains("no mode `retrun`"));
        assert!(named("delta-address").is_err());
    }
}
