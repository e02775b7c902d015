//! A possible encoder, and what can be varied in it.

use hartrace_decoder::Compat;
use hartrace_etrace::{Ioptions, Layout, Mode, Params, Unit};
use hartrace_isa::Xlen;

/// Everything that determines how payloads are decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guess {
    /// The base instruction set.
    pub xlen: Xlen,
    /// The encoder's parameters.
    pub params: Params,
    /// The encoder whose support packets and address coding these are.
    pub unit: Unit,
    /// The reference model whose deviations these are.
    pub compat: Compat,
    /// Modes in force before the first support packet.
    pub options: Ioptions,
}

impl Guess {
    /// The usual values for a register width.
    pub(super) fn new(xlen: Xlen) -> Self {
        let params = Params { iaddress_width_p: xlen.bits() as u8, ..Params::default() };
        let options = Ioptions::default();
        Self { xlen, params, unit: Unit::Reference, compat: Compat::None, options }
    }

    /// The encoder rv_tracer, which is not configurable.
    pub(super) fn rv_tracer() -> Self {
        let options = Ioptions { delta_address: true, ..Ioptions::default() };
        let (params, unit) = (Params::RV_TRACER, Unit::RvTracer);
        Self { xlen: Xlen::Rv64, params, unit, compat: Compat::None, options }
    }

    /// The fields of payloads, if the parameters are legal.
    pub(super) fn layout(&self) -> Option<Layout> {
        self.params.layout(self.unit).ok()
    }

    /// Bits of privilege, time and context together.
    pub fn state_bits(&self) -> u8 {
        let Params { privilege_width_p, .. } = self.params;
        let bits = self.params.time_bits().saturating_add(self.params.context_bits());
        privilege_width_p.saturating_add(bits as u8)
    }

    /// The same with `bits` of privilege, time and context together, divided as is usual.
    pub(super) fn with_state_bits(mut self, bits: u8) -> Self {
        let (privilege, time, context) = divide(bits);
        self.params.privilege_width_p = privilege;
        (self.params.notime_p, self.params.time_width_p) = (time == 0, time.max(1));
        (self.params.nocontext_p, self.params.context_width_p) = (context == 0, context.max(1));
        self
    }
}

/// Privilege, time and context in this many bits, with usual widths if possible.
fn divide(bits: u8) -> (u8, u8, u8) {
    if bits <= 3 {
        return (bits.max(1), 0, 0);
    }
    for time in [0, 64, 32, 48, 40, 16] {
        for context in [32, 16, 8, 64, 30, 13, 20, 24, 0] {
            for privilege in [2, 3] {
                if time == 0 && context == 0 {
                    continue;
                }
                if bits.checked_sub(time).and_then(|rest| rest.checked_sub(context))
                    == Some(privilege)
                {
                    return (privilege, time, context);
                }
            }
        }
    }
    let rest = bits.saturating_sub(2);
    (2, rest.saturating_sub(64), rest.min(64))
}

/// A part of a [`Guess`] that can be varied alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Knob {
    StateBits,
    IaddressWidth,
    IaddressLsb,
    Ecause,
    F0s,
    Bpred,
    Cache,
    ReturnStack,
    CallCounter,
    Sijump,
    Unit,
    Compat,
    /// A mode before the first support packet.
    Initial(Mode),
}

pub(super) const COMPATS: [Compat; 3] = [Compat::None, Compat::PythonModel, Compat::CModel];
pub(super) const UNITS: [Unit; 2] = [Unit::Reference, Unit::Hartrace];

impl Knob {
    /// The parameters, those that others depend on first.
    pub(super) const PARAMETERS: [Self; 12] = [
        Self::StateBits,
        Self::IaddressWidth,
        Self::IaddressLsb,
        Self::Ecause,
        Self::F0s,
        Self::Bpred,
        Self::Cache,
        Self::ReturnStack,
        Self::CallCounter,
        Self::Sijump,
        Self::Unit,
        Self::Compat,
    ];

    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::PARAMETERS.into_iter().chain(Mode::ALL.into_iter().map(Self::Initial))
    }

    /// Its name: that of the parameter, option or mode.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::StateBits => super::STATE,
            Self::IaddressWidth => "iaddress_width_p",
            Self::IaddressLsb => "iaddress_lsb_p",
            Self::Ecause => "ecause_width_p",
            Self::F0s => "f0s_width_p",
            Self::Bpred => "bpred_size_p",
            Self::Cache => "cache_size_p",
            Self::ReturnStack => "return_stack_size_p",
            Self::CallCounter => "call_counter_size_p",
            Self::Sijump => "sijump_p",
            Self::Unit => "unit",
            Self::Compat => "compat",
            Self::Initial(mode) => mode.name(),
        }
    }

    /// Its value, as a number.
    pub(super) fn get(self, guess: &Guess) -> u8 {
        let params = &guess.params;
        let position = |found: Option<usize>| found.unwrap_or(0) as u8;
        match self {
            Self::StateBits => guess.state_bits(),
            Self::IaddressWidth => params.iaddress_width_p,
            Self::IaddressLsb => params.iaddress_lsb_p,
            Self::Ecause => params.ecause_width_p,
            Self::F0s => params.f0s_width_p,
            Self::Bpred => params.bpred_size_p,
            Self::Cache => params.cache_size_p,
            Self::ReturnStack => params.return_stack_size_p,
            Self::CallCounter => params.call_counter_size_p,
            Self::Sijump => params.sijump_p.into(),
            Self::Unit => position(UNITS.iter().position(|unit| *unit == guess.unit)),
            Self::Compat => position(COMPATS.iter().position(|compat| *compat == guess.compat)),
            Self::Initial(mode) => guess.options.get(mode).into(),
        }
    }

    /// The guess with another value; `None` if that is not legal.
    pub(super) fn set(self, guess: &Guess, value: u8) -> Option<Guess> {
        let mut guess = *guess;
        let params = &mut guess.params;
        match self {
            Self::StateBits => guess = guess.with_state_bits(value),
            Self::IaddressWidth => params.iaddress_width_p = value,
            Self::IaddressLsb => params.iaddress_lsb_p = value,
            Self::Ecause => params.ecause_width_p = value,
            Self::F0s => params.f0s_width_p = value,
            Self::Bpred => params.bpred_size_p = value,
            Self::Cache => params.cache_size_p = value,
            Self::ReturnStack => params.return_stack_size_p = value,
            Self::CallCounter => params.call_counter_size_p = value,
            Self::Sijump => params.sijump_p = value != 0,
            Self::Unit => guess.unit = *UNITS.get(usize::from(value))?,
            Self::Compat => guess.compat = *COMPATS.get(usize::from(value))?,
            Self::Initial(mode) => guess.options.set(mode, value != 0),
        }
        // The quirks are those of the reference models only.
        if guess.compat != Compat::None && guess.unit != Unit::Reference {
            return None;
        }
        guess.layout().map(|_| guess)
    }

    /// The values to try.
    pub(super) fn values(self, xlen: Xlen) -> Vec<u8> {
        match self {
            Self::StateBits => (1..=100).collect(),
            Self::IaddressWidth if xlen == Xlen::Rv32 => vec![24, 28, 30, 31, 32],
            Self::IaddressWidth => vec![33, 39, 40, 48, 56, 57, 63, 64],
            Self::IaddressLsb => (0..=2).collect(),
            Self::Ecause => (1..=24).chain([31, 32, 63, 64]).collect(),
            Self::F0s => (0..=3).collect(),
            Self::Bpred | Self::Cache | Self::CallCounter => (0..=16).collect(),
            Self::ReturnStack => (0..=15).collect(),
            Self::Sijump | Self::Initial(_) => vec![0, 1],
            Self::Unit => vec![0, 1],
            Self::Compat => vec![0, 1, 2],
        }
    }
}
