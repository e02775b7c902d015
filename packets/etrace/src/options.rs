use core::fmt;
use core::str::FromStr;

/// A run-time mode of the encoder, as reported in a support packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Returns predicted by the return stack or call counter are not reported.
    ImplicitReturn,
    /// Trap handler addresses are not reported.
    ImplicitException,
    /// Addresses are absolute, not differences.
    FullAddress,
    /// Jump targets may be reported by cache index.
    JumpTargetCache,
    /// Correctly predicted branches may be reported as a count.
    BranchPrediction,
    /// Jumps through a register that was just loaded with a constant are not reported.
    SequentiallyInferredJump,
    /// rv_tracer's explicit "addresses are differences" bit.
    DeltaAddress,
    /// Only what a predictor with history gets wrong is reported: an extension of this project,
    /// defined in `docs/design/extension-mode.md`. It excludes all modes but full addresses.
    HistoryPrediction,
}

impl Mode {
    /// Every mode, in the order in which combinations are written.
    pub const ALL: [Self; 8] = [
        Self::ImplicitReturn,
        Self::ImplicitException,
        Self::SequentiallyInferredJump,
        Self::BranchPrediction,
        Self::JumpTargetCache,
        Self::FullAddress,
        Self::DeltaAddress,
        Self::HistoryPrediction,
    ];

    /// The name, as in parameter files.
    pub const fn name(self) -> &'static str {
        self.spelling().0
    }

    /// The short code, as in tables and listings.
    pub const fn code(self) -> &'static str {
        self.spelling().1
    }

    /// The name, the code, and the names that earlier versions used.
    const fn spelling(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::ImplicitReturn => ("implicit-return", "ir", &["return"]),
            Self::ImplicitException => {
                ("implicit-exception", "ie", &["exception", "implicit-except"])
            }
            Self::SequentiallyInferredJump => {
                ("sequentially-inferred-jump", "sij", &["sijump", "si-jump"])
            }
            Self::BranchPrediction => ("branch-prediction", "bp", &["prediction"]),
            Self::JumpTargetCache => ("jump-target-cache", "jtc", &["cache"]),
            Self::FullAddress => ("full-address", "full", &[]),
            Self::DeltaAddress => ("delta-address", "da", &[]),
            Self::HistoryPrediction => ("history-prediction", "hp", &[]),
        }
    }
}

/// The name.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Accepts the name, the code, or a name from an earlier version, with `_` or `-` between words.
impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let alike = |name: &str| {
            let same = |(a, b): (u8, u8)| a == b || (a == b'-' && b == b'_');
            name.len() == text.len() && name.bytes().zip(text.bytes()).all(same)
        };
        let is = |mode: &Self| {
            let (name, code, earlier) = mode.spelling();
            alike(name) || alike(code) || earlier.iter().copied().any(alike)
        };
        Self::ALL.into_iter().find(is).ok_or(UnknownMode)
    }
}

/// The text is not the name of a mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such mode")
    }
}

impl core::error::Error for UnknownMode {}

/// Which run-time modes are on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ioptions {
    /// See [`Mode::ImplicitReturn`].
    pub implicit_return: bool,
    /// See [`Mode::ImplicitException`].
    pub implicit_exception: bool,
    /// See [`Mode::FullAddress`].
    pub full_address: bool,
    /// See [`Mode::JumpTargetCache`].
    pub jump_target_cache: bool,
    /// See [`Mode::BranchPrediction`].
    pub branch_prediction: bool,
    /// See [`Mode::SequentiallyInferredJump`].
    pub sequentially_inferred_jump: bool,
    /// See [`Mode::DeltaAddress`].
    pub delta_address: bool,
    /// See [`Mode::HistoryPrediction`].
    pub history_prediction: bool,
}

impl Ioptions {
    /// The name for no mode at all: addresses are differences, and everything is reported.
    const NONE: &'static str = "delta";

    /// The mode that cannot be on at the same time as history prediction, if one is.
    pub fn against_history(&self) -> Option<Mode> {
        let fits = |mode: &Mode| matches!(mode, Mode::FullAddress | Mode::HistoryPrediction);
        let mut modes = Mode::ALL.into_iter();
        modes.find(|mode| self.history_prediction && self.get(*mode) && !fits(mode))
    }

    /// Parses names or codes of modes, joined by `+`, or `delta` for none. The error contains the
    /// part that is not the name of a mode.
    pub fn named(text: &str) -> Result<Self, &str> {
        let mut options = Self::default();
        if text != Self::NONE {
            for part in text.split('+') {
                options.set(part.parse().map_err(|UnknownMode| part)?, true);
            }
        }
        Ok(options)
    }

    /// Whether `mode` is on.
    pub const fn get(&self, mode: Mode) -> bool {
        match mode {
            Mode::ImplicitReturn => self.implicit_return,
            Mode::ImplicitException => self.implicit_exception,
            Mode::FullAddress => self.full_address,
            Mode::JumpTargetCache => self.jump_target_cache,
            Mode::BranchPrediction => self.branch_prediction,
            Mode::SequentiallyInferredJump => self.sequentially_inferred_jump,
            Mode::DeltaAddress => self.delta_address,
            Mode::HistoryPrediction => self.history_prediction,
        }
    }

    /// Switches `mode`.
    pub const fn set(&mut self, mode: Mode, on: bool) {
        let flag = match mode {
            Mode::ImplicitReturn => &mut self.implicit_return,
            Mode::ImplicitException => &mut self.implicit_exception,
            Mode::FullAddress => &mut self.full_address,
            Mode::JumpTargetCache => &mut self.jump_target_cache,
            Mode::BranchPrediction => &mut self.branch_prediction,
            Mode::SequentiallyInferredJump => &mut self.sequentially_inferred_jump,
            Mode::DeltaAddress => &mut self.delta_address,
            Mode::HistoryPrediction => &mut self.history_prediction,
        };
        *flag = on;
    }
}

/// The codes of the modes that are on, joined by `+`; `delta` if none is.
impl fmt::Display for Ioptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for mode in Mode::ALL.into_iter().filter(|mode| self.get(*mode)) {
            write!(f, "{separator}{}", mode.code())?;
            separator = "+";
        }
        if separator.is_empty() { f.write_str(Self::NONE) } else { Ok(()) }
    }
}

/// The encoder that wrote the stream. It determines what the specification leaves to the
/// implementation: the support packet and, for rv_tracer, the coding of addresses.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The public reference models.
    #[default]
    Reference,
    /// PULP rv_tracer, with its own address coding and zero padding.
    RvTracer,
    /// The encoder of this project: the reference layout plus a bit for sijump.
    Hartrace,
}

impl Unit {
    /// The modes in the ioptions field, from bit 0 up. With a history predictor there is one more
    /// bit: [`Layout::ioptions`](crate::Layout::ioptions).
    pub const fn ioptions(self) -> &'static [Mode] {
        match self {
            Self::Reference => &[
                Mode::ImplicitReturn,
                Mode::ImplicitException,
                Mode::FullAddress,
                Mode::JumpTargetCache,
                Mode::BranchPrediction,
            ],
            Self::RvTracer => &[
                Mode::JumpTargetCache,
                Mode::BranchPrediction,
                Mode::ImplicitReturn,
                Mode::SequentiallyInferredJump,
                Mode::ImplicitException,
                Mode::FullAddress,
                Mode::DeltaAddress,
            ],
            Self::Hartrace => &[
                Mode::ImplicitReturn,
                Mode::ImplicitException,
                Mode::FullAddress,
                Mode::JumpTargetCache,
                Mode::BranchPrediction,
                Mode::SequentiallyInferredJump,
            ],
        }
    }

    /// Width of the encoder_mode field.
    pub const fn encoder_mode_bits(self) -> u8 {
        1
    }

    /// Width of the doptions field; `None` if the unit has no data-trace fields at all.
    pub const fn doptions_bits(self) -> Option<u8> {
        match self {
            Self::Reference | Self::Hartrace => Some(4),
            Self::RvTracer => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_mode_has_a_name_and_a_code() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            assert_eq!(mode.code().parse(), Ok(mode));
            assert_eq!(mode.name().replace('-', "_").parse(), Ok(mode));
        }
        for earlier in ["return", "exception", "implicit-except", "sijump", "prediction", "cache"] {
            assert!(earlier.parse::<Mode>().is_ok(), "{earlier}");
        }
        for other in ["", "-", "retrun", "delta", "implicit return", "implicit-return-"] {
            assert_eq!(other.parse::<Mode>(), Err(UnknownMode), "{other}");
        }
    }

    #[test]
    fn combinations_are_written_one_way() {
        let all = Ioptions::named("full+jtc+bp+sij+ie+ir").unwrap();
        assert_eq!(all.to_string(), "ir+ie+sij+bp+jtc+full");
        assert_eq!(Ioptions::named("implicit-return+bp"), Ioptions::named("branch_prediction+ir"));
        assert_eq!(Ioptions::named("delta"), Ok(Ioptions::default()));
        assert_eq!(Ioptions::default().to_string(), "delta");
        assert_eq!(Ioptions::named("ir+retrun"), Err("retrun"));
        assert_eq!(Ioptions::named(""), Err(""));
    }
}
