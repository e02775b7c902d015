//! Code that is given besides what was captured.

use super::Traced;
use crate::description::At;
use crate::programs::{Code, Programs};
use hartrace_arm_decoder::Memory;
use hartrace_arm_decoder::program::{ProgramError, segments};
use hartrace_isa::Xlen;
use hartrace_isa::arm::Spaces;
use thiserror::Error;

/// A program that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: {error}")]
pub struct Unloadable {
    /// Its file.
    pub name: String,
    /// Why.
    pub error: ProgramError,
}

/// Adds code to what sources see, with priority over what was captured; later code wins. Returns its names,
/// with addresses of this width.
///
/// # Errors
///
/// If a program cannot be loaded.
pub fn add_code(
    all: &mut [Traced<'_>],
    code: Vec<Code>,
    xlen: Xlen,
) -> Result<Programs, Unloadable> {
    let (mut programs, mut memory) = (Programs::new(xlen), Memory::new());
    // In a memory, what was added first counts.
    for Code { name, bytes, at, .. } in code.iter().rev() {
        match at {
            At::Address(address) => memory.add(*address, bytes.clone(), Spaces::ALL),
            At::Bias(bias) => {
                let unloadable = |error| Unloadable { name: name.clone(), error };
                for (address, code) in segments(bytes).map_err(unloadable)? {
                    memory.add(address.wrapping_add(*bias), code.to_vec(), Spaces::ALL);
                }
            }
        }
    }
    if !code.is_empty() {
        all.iter_mut().for_each(|traced| traced.add_code(&memory));
    }
    for Code { name, bytes, at, .. } in code {
        if let At::Bias(bias) = at {
            programs.add_names(&name, bytes, bias);
        }
    }
    Ok(programs)
}
