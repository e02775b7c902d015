use alloc::format;
use alloc::string::String;
use core::fmt;

/// Why a payload was sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Tracing was enabled.
    Enabled,
    /// The first traced instruction.
    First,
    /// The first instruction of a trap handler.
    Handler,
    /// The first instruction of a handler whose trap has already been reported.
    HandlerAfterReport,
    /// A trap whose handler trapped before any of its instructions retired.
    TrapInHandler,
    /// A trap at the target of an uninferable discontinuity.
    TrapAtTarget,
    /// A trap at the first traced instruction.
    TrapAtStart,
    /// A trap after which tracing stopped.
    TrapAtEnd,
    /// The privilege level changed.
    Privilege,
    /// The context changed precisely, or with a discontinuity.
    Context,
    /// The context changed imprecisely.
    ImpreciseContext,
    /// The resynchronisation counter ran out.
    Resync,
    /// The target of an uninferable discontinuity.
    Updiscon,
    /// The target of a return that did not go to the predicted address.
    ReturnMismatch,
    /// Pending branches or returns, because a resynchronisation comes next.
    BeforeResync,
    /// The last instruction before a trap.
    BeforeTrap,
    /// Pending branches or returns, because a privilege or context change comes next.
    BeforeChange,
    /// The last traced instruction.
    Last,
    /// A notify trigger.
    Notify,
    /// A call after an implicit return, without a branch in between (D1).
    CallAfterReturn,
    /// 31 branches are pending.
    MapFull,
    /// A misprediction after 31 or more correct predictions.
    Mispredicted,
    /// The counter of correct predictions is full.
    CountFull,
    /// History prediction: no room for another record.
    RecordsFull,
    /// Tracing stopped.
    Stopped,
    /// A mispredicted return or an asynchronous discontinuity leads into a change of privilege or
    /// context (D6, D14).
    Restart,
    /// Packets were lost.
    Lost,
    /// The closing packet of the reference models.
    Closing,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 28] = [
        Self::Enabled,
        Self::First,
        Self::Handler,
        Self::HandlerAfterReport,
        Self::TrapInHandler,
        Self::TrapAtTarget,
        Self::TrapAtStart,
        Self::TrapAtEnd,
        Self::Privilege,
        Self::Context,
        Self::ImpreciseContext,
        Self::Resync,
        Self::Updiscon,
        Self::ReturnMismatch,
        Self::BeforeResync,
        Self::BeforeTrap,
        Self::BeforeChange,
        Self::Last,
        Self::Notify,
        Self::CallAfterReturn,
        Self::MapFull,
        Self::Mispredicted,
        Self::CountFull,
        Self::RecordsFull,
        Self::Stopped,
        Self::Restart,
        Self::Lost,
        Self::Closing,
    ];

    /// Names the reason in one word, such as `before-trap`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for (index, c) in format!("{self:?}").char_indices() {
            if c.is_ascii_uppercase() && index > 0 {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// Describes the reason in one clause, with the section of the specification that requires it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Enabled => "tracing enabled (7.5.1)",
            Self::First => "first traced instruction (3.1.5)",
            Self::Handler => "first instruction of a trap handler (3.1.4)",
            Self::HandlerAfterReport => "first instruction of a handler, trap already reported (9)",
            Self::TrapInHandler => "trap before an instruction of the previous handler retired (9)",
            Self::TrapAtTarget => "trap at the target of an uninferable discontinuity (7.3)",
            Self::TrapAtStart => "trap at the first traced instruction (7.3)",
            Self::TrapAtEnd => "trap after which tracing stopped (D3)",
            Self::Privilege => "privilege change (3.1.5)",
            Self::Context => "precise context change (4.2)",
            Self::ImpreciseContext => "imprecise context change (4.2)",
            Self::Resync => "resynchronisation (3.1.5)",
            Self::Updiscon => "target of an uninferable discontinuity (3.1.2)",
            Self::ReturnMismatch => "return not to the predicted address (3.2.5)",
            Self::BeforeResync => "pending branches before a resynchronisation (9)",
            Self::BeforeTrap => "last instruction before a trap (3.1.4)",
            Self::BeforeChange => "pending branches before a privilege or context change (9)",
            Self::Last => "last traced instruction (3.1.6)",
            Self::Notify => "notify trigger (7.6.1)",
            Self::CallAfterReturn => "call after an implicit return, no branch between (D1)",
            Self::MapFull => "31 branches pending (7.7)",
            Self::Mispredicted => "misprediction after a run of correct predictions (7.8)",
            Self::CountFull => "counter of correct predictions full (7.8)",
            Self::RecordsFull => "no room for another record (extension mode)",
            Self::Stopped => "tracing stopped (7.5.1)",
            Self::Restart => {
                "discontinuity into another privilege or context that 3.0 cannot report (D6, D14)"
            }
            Self::Lost => "packets lost (7.5.1)",
            Self::Closing => "closing packet of the reference models (C2)",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_hyphens() {
        assert_eq!(Reason::BeforeTrap.name(), "before-trap");
        assert_eq!(Reason::Last.name(), "last");
    }
}
