//! Deviations of the reference models from the specification.

/// Which reference model's deviations from the specification a stream follows.
///
/// `docs/deviations.md` describes each deviation under its number; nothing else changes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// The specification.
    #[default]
    None,
    /// The Python reference model.
    ///
    /// - C1: the older flow chart decides when a payload is sent.
    /// - C2: a closing payload reports the last instruction once more at the end of the trace.
    /// - C3: irdepth is filled with ones where irreport is not flagged.
    PythonModel,
    /// The C reference codec of 2021.
    ///
    /// - C1: the older flow chart decides when a payload is sent.
    /// - C2: a closing payload reports the last instruction once more at the end of the trace.
    /// - C4: every reported address enters the jump target cache, not only targets of discontinuities.
    /// - C5: the call counter holds `2^n` calls and is used without irdepth, and the branch predictor is
    ///   never reset.
    CModel,
}
