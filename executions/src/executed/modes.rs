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

/// Modes that this project's encoders do not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnknownMode {
    /// There is no mode of this name, or no encoder of this project has it.
    #[error("there is no mode `{0}`")]
    Name(String),
    /// Another mode is on, although history prediction is.
    #[error("history-prediction cannot be on together with {0}")]
    Excluded(Mode),
    /// A mode of the software encoder only.
    #[error("no hardware has the mode history-prediction")]
    NotInHardware,
}

impl UnknownMode {
    /// Returns what to try.
    pub fn hint(&self) -> String {
        let named = |mode: &Mode| format!("{} ({})", mode.name(), mode.code());
        let names: Vec<_> = Mode::ALL.iter().filter(|mode| has(mode)).map(named).collect();
        let names = format!("delta, or some of {} joined by +", names.join(", "));
        match self {
            // It stands for a list of combinations, but only one can be used here.
            Self::Name(name) if name == "all" => format!("one combination: {names}"),
            Self::Name(_) => {
                format!("{names}; or all, where there can be several combinations")
            }
            Self::Excluded(_) => "hp, or hp+full".into(),
            Self::NotInHardware => {
                "other modes, or `hartrace run`, which encodes in software".into()
            }
        }
    }
}

/// Returns the modes in `text`: names or codes joined by `+`, or `delta` for none.
///
/// # Errors
///
/// If one of them does not exist, or if they exclude each other.
pub fn named(text: &str) -> Result<Ioptions, UnknownMode> {
    let options = Ioptions::named(text).map_err(|part| UnknownMode::Name(part.to_owned()))?;
    match Mode::ALL.iter().find(|mode| options.get(**mode) && !has(mode)) {
        Some(mode) => Err(UnknownMode::Name(mode.to_string())),
        None => match options.against_history() {
            Some(mode) => Err(UnknownMode::Excluded(mode)),
            None => Ok(options),
        },
    }
}

/// Returns the modes in `text`, for an encoder in hardware.
///
/// # Errors
///
/// As [`named`], and if no hardware has one of them.
pub fn in_hardware(text: &str) -> Result<Ioptions, UnknownMode> {
    let options = named(text)?;
    match options.history_prediction {
        true => Err(UnknownMode::NotInHardware),
        false => Ok(options),
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
    *mode == Mode::HistoryPrediction || Unit::Hartrace.ioptions().contains(mode)
}

/// Returns the parameters of an encoder with these options: one with every option of the specification, or one with
/// history prediction, which needs none of them.
pub fn params_for(xlen: hartrace_isa::Xlen, options: &Ioptions) -> Params {
    let all = params(xlen);
    match options.history_prediction {
        true => Params {
            f0s_width_p: 0,
            bpred_size_p: 0,
            cache_size_p: 0,
            return_stack_size_p: 0,
            sijump_p: false,
            hpred_size_p: 5,
            ..all
        },
        false => all,
    }
}

/// Returns the parameters of an encoder with every option of the specification, for harts of this width.
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
        hpred_size_p: 0,
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
        assert!(
            named("hp").unwrap().history_prediction && named("history-prediction+full").is_ok()
        );
        assert_eq!(named("hp+bp"), Err(UnknownMode::Excluded(Mode::BranchPrediction)));
        assert_eq!(in_hardware("full+hp"), Err(UnknownMode::NotInHardware));
        assert!(in_hardware("ir+bp").is_ok());
        assert!(named("all").unwrap_err().hint().starts_with("one combination: delta, or some of"));
    }
}
