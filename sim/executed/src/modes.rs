//! The modes to encode in, and an encoder that has them all.

use hartrace_etrace::{Ioptions, Mode, Params};
use thiserror::Error;

/// Short names of modes, as in `--encode return+prediction`.
const NAMES: [(&str, Mode); 6] = [
    ("return", Mode::ImplicitReturn),
    ("exception", Mode::ImplicitException),
    ("full", Mode::FullAddress),
    ("cache", Mode::JumpTargetCache),
    ("prediction", Mode::BranchPrediction),
    ("sijump", Mode::SequentialJump),
];

/// Names of all modes, and of all combinations that are of use.
pub const ALL: [&str; 13] = [
    "delta",
    "full",
    "exception",
    "sijump",
    "return",
    "prediction",
    "cache",
    "return+sijump",
    "return+prediction",
    "return+cache",
    "prediction+cache",
    "return+prediction+cache",
    "return+exception+sijump+prediction+cache",
];

/// A mode that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no mode `{name}`")]
pub struct UnknownMode {
    /// What was taken for its name.
    pub name: String,
}

impl UnknownMode {
    /// Returns what to try.
    pub fn hint(&self) -> String {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("delta, or some of {} joined by +; or all", names.join(", "))
    }
}

/// Returns the modes with this name: some of the short ones joined by `+`, or `delta` for none.
///
/// # Errors
///
/// If one of them does not exist.
pub fn named(name: &str) -> Result<Ioptions, UnknownMode> {
    let mut options = Ioptions::default();
    if name == "delta" {
        return Ok(options);
    }
    for part in name.split('+') {
        let Some((_, mode)) = NAMES.iter().find(|(name, _)| *name == part) else {
            return Err(UnknownMode { name: part.into() });
        };
        options.set(*mode, true);
    }
    Ok(options)
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
        assert!(ALL.iter().all(|name| named(name).is_ok()));
        let options = named("return+cache").unwrap();
        assert!(options.implicit_return && options.jump_target_cache && !options.full_address);
        assert!(named("retrun").unwrap_err().to_string().contains("no mode `retrun`"));
    }
}
