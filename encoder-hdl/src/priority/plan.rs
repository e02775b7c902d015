//! What is to be done about a hard step.

use hartrace_rtl::{Expr, Module, Reg};

/// Packets after the main one.
pub(super) struct After {
    /// Format 3.1 with its own trap, after that of the step before.
    pub(super) trap_end: Expr,
    /// A context packet.
    pub(super) context: Expr,
    /// A support packet.
    pub(super) support: Expr,
}

/// Declares what is decided, and the registers that keep it.
macro_rules! decisions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the chart says about a hard step.
        pub(super) struct Decision {
            pub(super) after: After,
            $($(#[$doc])* pub(super) $name: Expr,)*
        }

        /// The same, kept while its packets are sent.
        pub(super) struct Plan {
            /// There is one.
            pub(super) valid: Reg,
            /// It was made in the cycle before.
            pub(super) fresh: Reg,
            $($(#[$doc])* pub(super) $name: Expr,)*
        }

        impl Plan {
            /// Keeps the decision if it is made now.
            pub(super) fn new(m: &Module, valid: Reg, decides: &Expr, decision: &Decision) -> Self {
                let fresh = m.reg("plan_fresh", false);
                m.assign(&fresh.d, decides);
                // What is the same for every step needs no register.
                let keep = |name: &str, value: &Expr| {
                    if value.value().is_some() {
                        return value.clone();
                    }
                    let reg = m.reg_data(name, 1, decides);
                    m.assign(&reg.d, value);
                    reg.q
                };
                Self {
                    valid,
                    fresh,
                    $($name: keep(concat!("plan_", stringify!($name)), &decision.$name),)*
                }
            }
        }
    };
}

decisions! {
    /// Format 3.0.
    start,
    /// Format 3.1: with its own trap.
    trap_own,
    /// That of the step before, where nothing retired.
    trap_before,
    /// That of the step before, with the first instruction of the handler.
    handler,
    /// Format 0, 1 or 2, of a jump's target.
    target,
    /// Of another instruction.
    plain,
    /// Branches, if there are too many for the map or the count.
    maybe,
    /// Format 3.0 or 3.1.
    synced,
    trap_reported,
    updiscon,
    notify,
    /// The step leaves an uninferable discontinuity behind.
    leaves_updiscon,
    /// It is a call that the stack is to know of.
    calls,
    /// It is a return that the stack is to know of.
    returns,
    /// A return as predicted.
    pops,
    /// A return that is not as predicted.
    mismatch,
    /// A call to remember (D1).
    marks_call,
    /// There is no room for it.
    marks_overflow,
    /// Tracing starts anew after it.
    restarts,
    /// What is pending is forgotten.
    clears,
    /// A resynchronisation is due after it.
    flush_due,
}
