use core::fmt;

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
    SequentialJump,
    /// rv_tracer's explicit "addresses are differences" bit.
    DeltaAddress,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 7] = [
        Self::ImplicitReturn,
        Self::ImplicitException,
        Self::FullAddress,
        Self::JumpTargetCache,
        Self::BranchPrediction,
        Self::SequentialJump,
        Self::DeltaAddress,
    ];

    /// The name used in listings and parameter files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ImplicitReturn => "implicit_return",
            Self::ImplicitException => "implicit_exception",
            Self::FullAddress => "full_address",
            Self::JumpTargetCache => "jump_target_cache",
            Self::BranchPrediction => "branch_prediction",
            Self::SequentialJump => "sijump",
            Self::DeltaAddress => "delta_address",
        }
    }
}

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
    /// See [`Mode::SequentialJump`].
    pub sijump: bool,
    /// See [`Mode::DeltaAddress`].
    pub delta_address: bool,
}

impl Ioptions {
    /// Whether `mode` is on.
    pub const fn get(&self, mode: Mode) -> bool {
        match mode {
            Mode::ImplicitReturn => self.implicit_return,
            Mode::ImplicitException => self.implicit_exception,
            Mode::FullAddress => self.full_address,
            Mode::JumpTargetCache => self.jump_target_cache,
            Mode::BranchPrediction => self.branch_prediction,
            Mode::SequentialJump => self.sijump,
            Mode::DeltaAddress => self.delta_address,
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
            Mode::SequentialJump => &mut self.sijump,
            Mode::DeltaAddress => &mut self.delta_address,
        };
        *flag = on;
    }
}

/// The modes that are on, joined by `+`; `-` if none is.
impl fmt::Display for Ioptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for mode in Mode::ALL.into_iter().filter(|mode| self.get(*mode)) {
            write!(f, "{separator}{}", mode.name())?;
            separator = "+";
        }
        if separator.is_empty() { f.write_str("-") } else { Ok(()) }
    }
}

/// Whose encoder wrote the stream: fixes the parts the specification leaves to the implementation,
/// that is the support packet, and for rv_tracer the coding of addresses.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The public reference models.
    #[default]
    Reference,
    /// PULP rv_tracer, with its own address coding and zero padding.
    RvTracer,
    /// Our encoder: the reference layout with the sijump bit it lacks.
    Hartrace,
}

impl Unit {
    /// The modes in the ioptions field, from bit 0 up.
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
                Mode::SequentialJump,
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
                Mode::SequentialJump,
            ],
        }
    }

    /// Width of the encoder_mode field.
    pub const fn encoder_mode_bits(self) -> u8 {
        1
    }

    /// Width of the doptions field; the unit has no data-trace fields at all if `None`.
    pub const fn doptions_bits(self) -> Option<u8> {
        match self {
            Self::Reference | Self::Hartrace => Some(4),
            Self::RvTracer => None,
        }
    }
}
