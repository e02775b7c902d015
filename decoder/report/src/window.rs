//! The part of a trace that users ask for, by numbers, places in the program, times and triggers.
//!
//! A [`Position`] is a number that [`Limits`] can wait for. Any other [`Place`] has no number until the trace has been
//! decoded: a [`Search`] decodes it once, and says which instructions are meant.

mod search;

pub use search::{Search, SearchError};

use crate::limits::{Limits, NothingBetween, Position, PositionError};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use thiserror::Error;

/// Where a window starts or ends. What happens several times has a number from 1, in all of the trace; without one, it is the first time,
/// and at the end of a window the first time after its start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A number.
    At(Position),
    /// The instruction at an address is executed.
    Address(u64, Option<NonZeroU64>),
    /// A function is entered.
    Function(String, Option<NonZeroU64>),
    /// The clock of the trace has reached a value.
    Time(u64),
    /// Tracing starts or resumes.
    On(Option<NonZeroU64>),
    /// A trigger fires.
    Trigger(Option<NonZeroU64>),
}

/// While a function is active, with everything that it calls: any call of it, or the n-th.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Its name.
    pub function: String,
    /// Which call.
    pub call: Option<NonZeroU64>,
}

/// Text that is not a place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A number is expected.
    #[error(transparent)]
    Number(#[from] PositionError),
    /// An address is expected.
    #[error(
        "`{0}` is not an address; write for example 0x80000000, or 0x80000000:3 for the third time"
    )]
    Address(String),
    /// Times are counted from 1.
    #[error("the first time is 1, not 0")]
    Zero,
    /// There is nothing.
    #[error("neither a number nor a function")]
    Nothing,
}

/// Which part of a trace to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// It starts here.
    pub from: Option<Place>,
    /// It ends before this; if that happens several times, before the first time after the start.
    pub to: Option<Place>,
    /// Of that, only what is executed while a function is active.
    pub inside: Option<Inside>,
}

/// A number behind the last colon, and what is before it. The two colons of a namespace are none.
fn counted(text: &str) -> Result<(&str, Option<NonZeroU64>), PlaceError> {
    let split = text.rsplit_once(':').filter(|(name, _)| !name.ends_with(':'));
    let Some((name, number)) = split.filter(|(_, number)| is_number(number)) else {
        return Ok((text, None));
    };
    let number: u64 = number.parse().map_err(|_| PositionError::Number(number.into()))?;
    Ok((name, Some(NonZeroU64::new(number).ok_or(PlaceError::Zero)?)))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let unit = text.split_once(':').map_or(text, |(unit, _)| unit);
        if is_number(text) || matches!(unit, "insn" | "packet" | "byte") {
            return Ok(Self::At(text.parse()?));
        }
        if let Some(time) = text.strip_prefix("time:") {
            return Ok(Self::Time(time.parse().map_err(|_| PositionError::Number(time.into()))?));
        }
        let (name, nth) = counted(text)?;
        match name {
            "" => Err(PlaceError::Nothing),
            "on" => Ok(Self::On(nth)),
            "trigger" => Ok(Self::Trigger(nth)),
            _ => match name.strip_prefix("0x") {
                Some(digits) => match u64::from_str_radix(digits, 16) {
                    Ok(address) => Ok(Self::Address(address, nth)),
                    Err(_) => Err(PlaceError::Address(text.into())),
                },
                None => Ok(Self::Function(name.into(), nth)),
            },
        }
    }
}

impl FromStr for Inside {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let (function, call) = counted(text)?;
        match function {
            "" => Err(PlaceError::Nothing),
            _ => Ok(Self { function: function.into(), call }),
        }
    }
}

/// `what`, or `what:3`.
fn nth(
    f: &mut fmt::Formatter<'_>,
    what: impl fmt::Display,
    nth: Option<NonZeroU64>,
) -> fmt::Result {
    match nth {
        None => write!(f, "{what}"),
        Some(nth) => write!(f, "{what}:{nth}"),
    }
}

/// As it is parsed.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(position) => position.fmt(f),
            Self::Address(address, times) => nth(f, format_args!("{address:#x}"), *times),
            Self::Function(name, times) => nth(f, name, *times),
            Self::Time(time) => write!(f, "time:{time}"),
            Self::On(times) => nth(f, "on", *times),
            Self::Trigger(times) => nth(f, "trigger", *times),
        }
    }
}

/// As it is parsed.
impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.call {
            Some(call) => write!(f, "{}:{call}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

impl Place {
    /// Its number, if it is one.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::At(position) => Some(*position),
            _ => None,
        }
    }

    /// The same for people.
    fn words(&self) -> String {
        match self {
            Self::At(Position::Insn(number)) => format!("instruction {number}"),
            Self::At(Position::Packet(number)) => format!("packet {number}"),
            Self::At(Position::Byte(number)) => format!("byte {number}"),
            Self::Address(address, None) => format!("{address:#x}"),
            Self::Address(address, Some(times)) => format!("{address:#x}, time {times}"),
            Self::Function(name, None) => format!("the first call of {name}"),
            Self::Function(name, Some(times)) => format!("call {times} of {name}"),
            Self::Time(time) => format!("time {time}"),
            Self::On(None) => "the first start of tracing".into(),
            Self::On(Some(times)) => format!("start {times} of tracing"),
            Self::Trigger(None) => "the first trigger".into(),
            Self::Trigger(Some(times)) => format!("trigger {times}"),
        }
    }
}

impl Window {
    /// Whether nothing is left out.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a [`Search`] has to find it.
    pub fn is_searched(&self) -> bool {
        let mut places = [&self.from, &self.to].into_iter().flatten();
        self.inside.is_some() || places.any(|place| place.position().is_none())
    }

    /// What it is, in words; `None` if it is everything.
    pub fn words(&self) -> Option<String> {
        let from = self.from.as_ref().map(|place| format!("from {}", place.words()));
        let to = self.to.as_ref().map(|place| format!("up to {}", place.words()));
        let inside = self.inside.as_ref().map(|inside| match inside.call {
            Some(call) => format!("within call {call} of {}", inside.function),
            None => format!("within {}", inside.function),
        });
        let words: Vec<String> = [from, to, inside].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// What is known of it without a [`Search`]; `None` if nothing is left out as far as that is known.
    ///
    /// # Errors
    ///
    /// If nothing is between the start and the end.
    pub fn limits(&self) -> Result<Option<Limits>, NothingBetween> {
        let [from, to] = [&self.from, &self.to].map(|place| place.as_ref()?.position());
        Limits::new(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written() {
        let times = NonZeroU64::new;
        let function = |name: &str, n| Place::Function(name.into(), times(n));
        for (text, place) in [
            ("12", Place::At(Position::Insn(12))),
            ("packet:3", Place::At(Position::Packet(3))),
            ("byte:4", Place::At(Position::Byte(4))),
            ("time:900", Place::Time(900)),
            ("0x80000000", Place::Address(0x8000_0000, None)),
            ("0x8000fffe:3", Place::Address(0x8000_fffe, times(3))),
            ("main", function("main", 0)),
            ("main:2", function("main", 2)),
            ("std::sort", function("std::sort", 0)),
            ("main:1", function("main", 1)),
            ("shop::buy(int):7", function("shop::buy(int)", 7)),
            ("a::3", function("a::3", 0)),
            ("on:2", Place::On(times(2))),
            ("trigger", Place::Trigger(None)),
        ] {
            assert_eq!(text.parse(), Ok(place.clone()), "{text}");
            assert_eq!(place.to_string(), text);
        }
        assert_eq!("insn:12".parse(), Ok(Place::At(Position::Insn(12))));
        for bad in ["", "packet:", "packet:x", "time:x", "0xg", "0x", "main:0", ":3"] {
            assert!(bad.parse::<Place>().is_err(), "{bad}");
        }
        let inside: Inside = "fibonacci:3".parse().unwrap();
        assert_eq!((&*inside.function, inside.call), ("fibonacci", times(3)));
        assert_eq!("on".parse::<Inside>().unwrap().call, None);
    }

    #[test]
    fn what_needs_a_search() {
        let window = |from: &str, to: &str| Window {
            from: (!from.is_empty()).then(|| from.parse().unwrap()),
            to: (!to.is_empty()).then(|| to.parse().unwrap()),
            inside: None,
        };
        assert!(window("", "").is_whole() && !window("3", "packet:9").is_searched());
        assert!(window("main", "").is_searched() && window("", "time:3").is_searched());
        assert!(window("3", "3").limits().is_err());
        assert_eq!(window("main:2", "time:9").words().unwrap(), "from call 2 of main up to time 9");
    }
}
