//! Time: what a trace says of the clock.

/// A reading of a clock, between the instructions that a sink received before and after it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Time {
    /// The low bits of the clock of timestamps: of the `time` of a synchronisation, or of the timestamp of a frame.
    Stamp {
        /// Their value.
        value: u64,
        /// How many bits they are, 1 to 64.
        bits: u8,
    },
    /// Cycles of the processor since the last such reading; `None` if they are not known.
    Cycles(Option<u64>),
}

/// What time is counted in.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Instructions: the trace carries no time.
    #[default]
    Instructions,
    /// Ticks of the clock of timestamps. How long one is, is not in a trace.
    Ticks,
    /// Cycles of the processor.
    Cycles,
}

impl Unit {
    /// What several of them are called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Ticks => "ticks",
            Self::Cycles => "cycles",
        }
    }
}

/// Bits of a timestamp from which on it is wide enough to tell that the clock went back.
const WIDE: u8 = 32;

/// Makes complete times of readings, in the order of the trace.
///
/// A timestamp of n bits is right if less than 2^n ticks have passed since the one before it; encoders
/// synchronise in time for that. A clock that goes back is followed, if its timestamps have 32 bits or more.
///
/// ```
/// use hartrace_decoder::{Clock, Time, Unit};
///
/// let mut clock = Clock::default();
/// assert_eq!(clock.take(Time::Stamp { value: 0x1_00fe, bits: 40 }), Some(0x1_00fe));
/// assert_eq!(clock.take(Time::Stamp { value: 0x03, bits: 8 }), Some(0x1_0103));
/// assert_eq!(clock.take(Time::Cycles(Some(7))), None); // another clock
/// assert_eq!(clock.unit(), Some(Unit::Ticks));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    unit: Option<Unit>,
    now: Option<u64>,
}

impl Clock {
    /// A clock that counts this. The default is the one that is read first.
    pub const fn of(unit: Unit) -> Self {
        Self { unit: Some(unit), now: None }
    }

    /// What it counts; `None` before the first reading, if it may be anything.
    pub const fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// The time of a reading, if it is one of this clock.
    pub fn take(&mut self, time: Time) -> Option<u64> {
        let unit = match time {
            Time::Stamp { .. } => Unit::Ticks,
            Time::Cycles(_) => Unit::Cycles,
        };
        if *self.unit.get_or_insert(unit) != unit {
            return None;
        }
        self.now = Some(match (time, self.now) {
            (Time::Stamp { value, .. }, None) => value,
            (Time::Stamp { value, bits }, Some(now)) => {
                let mask = hartrace_bits::mask(bits.min(64).into());
                let later = value.wrapping_sub(now) & mask;
                let earlier = now.wrapping_sub(value) & mask;
                match bits >= WIDE && earlier < later {
                    true => now.wrapping_sub(earlier),
                    false => now.wrapping_add(later),
                }
            }
            (Time::Cycles(cycles), now) => now.unwrap_or(0).wrapping_add(cycles?),
        });
        self.now
    }
}
