//! The modes to encode in, and the parameters of an encoder that supports them all.

use super::Program;
use hartrace_etrace::{Ioptions, Mode, Params, Unit};
use thiserror::Error;

/// Every mode alone, and every useful combination.
pub const ALL: [&str; 13] = [
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

/// A mode that does not exist, or that this project's encoder does not support.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no mode `{name}`")]
pub struct UnknownMode {
    /// The unknown name.
    pub name: String,
}

impl UnknownMode {
    /// Returns what to try.
    pub fn hint(&self) -> String {
        let named = |mode: &Mode| format!("{} ({})", mode.name(), mode.code());
        let names: Vec<_> = Mode::ALL.iter().filter(|mode| has(mode)).map(named).collect();
        let names = format!("delta, or some of {} joined by +", names.join(", "));
        // It stands for a list of combinations, but only one can be used here.
        match self.name == "all" {
            true => format!("one combination: {names}"),
            false => format!("{names}; or all, where there can be several combinations"),
        }
    }
}

/// Returns the modes in `text`: names or codes joined by `+`, or `delta` for none.
///
/// # Errors
///
/// If one of them does not exist.
pub fn named(text: &str) -> Result<Ioptions, UnknownMode> {
    let options = Ioptions::named(text).map_err(|part| UnknownMode { name: part.to_owned() })?;
    match Mode::ALL.iter().find(|mode| options.get(**mode) && !has(mode)) {
        Some(mode) => Err(UnknownMode { name: mode.to_string() }),
        None => Ok(options),
    }
}

/// Returns every combination of [`ALL`] that a program can be traced in.
///
/// # Errors
///
/// None in practice: all of them exist.
pub fn all(program: &Program) -> Result<Vec<Ioptions>, UnknownMode> {
    let mut modes = ALL.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    modes.retain(|options| traces(program, options));
    Ok(modes)
}

/// Returns combinations by name: no names mean `delta`, and the name `all` means [`all`] of them.
///
/// # Errors
///
/// If one of them does not exist.
pub fn chosen(names: &[String], program: &Program) -> Result<Vec<Ioptions>, UnknownMode> {
    match names {
        [] => Ok(vec![named("delta")?]),
        [one] if one == "all" => all(program),
        names => names.iter().map(|name| named(name)).collect(),
    }
}

/// Returns whether a program can be traced with these options: implicit exceptions need its trap vectors.
pub fn traces(program: &Program, options: &Ioptions) -> bool {
    program.knows_trap_vectors() || !options.implicit_exception
}

/// Whether this project's encoder supports a mode.
fn has(mode: &Mode) -> bool {
    Unit::Hartrace.ioptions().contains(mode)
}

/// Returns the parameters of an encoder with every option, for harts of this width.
pub fn params(xlen: hartrace_isa::Xlen) -> Params {
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
        // Each is written in the form in which it is printed.
        assert!(ALL.iter().all(|name| named(name).unwrap().to_string() == *name));
        let options = named("implicit-return+jtc").unwrap();
        assert!(options.implicit_return && options.jump_target_cache && !options.full_address);
        assert!(named("retrun").unwrap_err().to_string().contains("no mode `retrun`"));
        assert!(named("delta-address").is_err());
        assert!(named("all").unwrap_err().hint().starts_with("one combination: delta, or some of"));
    }
}
