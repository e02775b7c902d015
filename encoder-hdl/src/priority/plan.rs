//! The plan for a hard step.

use hartrace_rtl::{Expr, Module, Reg};

/// Packets after the main one.
pub(super) struct After {
    /// Format 3.1 with its own trap, after that of the preceding step.
    pub(super) trap_end: Expr,
    /// A context packet.
    pub(super) context: Expr,
    /// A support packet.
    pub(super) support: Expr,
}

/// Declares the decisions, and the registers that store them.
macro_rules! decisions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Decision of the chart about a hard step.
        pub(super) struct Decision {
            pub(super) after: After,
            $($(#[$doc])* pub(super) $name: Expr,)*
        }

        /// The same, stored while its packets are sent.
        pub(super) struct Plan {
            /// There is a plan.
            pub(super) valid: Reg,
            /// It was made in the previous cycle.
            pub(super) fresh: Reg,
            $($(#[$doc])* pub(super) $name: Expr,)*
        }

        impl Plan {
            /// Stores the decision if it is made now.
            pub(super) fn new(m: &Module, valid: Reg, decides: &Expr, decision: &Decision) -> Self {
                let fresh = m.reg("plan_fresh", false);
                m.assign(&fresh.d, decides);
                // A decision that is the same for every step needs no register.
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
    /// Format 3.1, with its own trap.
    trap_own,
    /// Format 3.1, with the trap of the preceding step, where nothing retired.
    trap_before,
    /// Format 3.1, with the trap of the preceding step and the first instruction of the handler.
    handler,
    /// Format 0, 1 or 2 for the target of a jump.
    target,
    /// Format 0, 1 or 2 for another instruction.
    plain,
    /// Branches, if there are too many for the map or the count.
    maybe,
    /// Format 3.0 or 3.1.
    synced,
    trap_reported,
    updiscon,
    notify,
    /// The step ends with an uninferable discontinuity.
    leaves_updiscon,
    /// It is a call that the stack must record.
    calls,
    /// It is a return that the stack must record.
    returns,
    /// It is a return to the predicted address.
    pops,
    /// It is a return to another address than predicted.
    mismatch,
    /// A call to remember (D1).
    marks_call,
    /// There is no room for it.
    marks_overflow,
    /// Tracing restarts after it.
    restarts,
    /// Pending information is cleared.
    clears,
    /// A resynchronisation is due after it.
    flush_due,
}
