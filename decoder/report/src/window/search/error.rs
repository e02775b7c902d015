//! Why a window cannot be found.

use super::watch::MOST;
use crate::limits::NothingBetween;
use crate::window::Place;
use thiserror::Error;

/// Why a window has no instructions.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The program has no such function.
    #[error("no function is called {name}{}", like.as_ref().map_or(String::new(), |like| format!("; is it {like}?")))]
    NoFunction {
        /// Its name.
        name: String,
        /// One with a similar name.
        like: Option<String>,
    },
    /// It does not happen in the trace, or not that often.
    #[error("{option} {place}: {}", found(.place, *.times, *.after))]
    NotFound {
        /// The option.
        option: &'static str,
        /// The place.
        place: Place,
        /// How often it was found.
        times: u64,
        /// Only what is after the start counts.
        after: bool,
    },
    /// The function is not called, or not that often.
    #[error("--in {inside}: the function is entered {times} times in this trace")]
    NotEntered {
        /// What was asked for.
        inside: String,
        /// How often it is entered.
        times: u64,
    },
    /// It is where the trace only says how often a loop ran.
    #[error(
        "the place is within a loop of which the trace only says how often it ran; use the number of an instruction"
    )]
    Counted,
    /// Nothing is between the start and the end.
    #[error(transparent)]
    Nothing(#[from] NothingBetween),
    /// There are too many stretches.
    #[error("the function is called more than {} times; ask for one call, as in --in FUNCTION:2", MOST / 2)]
    TooMany,
}

fn found(place: &Place, times: u64, after: bool) -> String {
    match (place, times) {
        _ if after => "it does not happen after --from".into(),
        (Place::At(_), _) => "no instruction follows it".into(),
        (Place::Time(_), _) => "the trace has no reading of its clock at or after this time".into(),
        (Place::On(_), times) => format!("tracing starts {times} times"),
        (Place::Trigger(_), times) => format!("{times} triggers fire"),
        (Place::Function(..), times) => format!("entered {times} times"),
        (_, times) => format!("executed {times} times"),
    }
}
