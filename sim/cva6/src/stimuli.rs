//! External stimuli and their times.

use crate::map;
use fastrand::Rng;

/// A store to a device register that is not made by the core, at a cycle since reset was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poke {
    /// The cycle.
    pub cycle: u64,
    /// The register, one of [`map`].
    pub address: u64,
    /// The stored value.
    pub value: u64,
}

/// Random stimuli.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surprises {
    /// Average number of cycles between two of them.
    pub gap: u64,
    /// The last cycle.
    pub until: u64,
    /// Whether there are timer, software and external interrupts.
    pub interrupts: bool,
    /// Whether there are requests for debug mode.
    pub debug: bool,
}

impl Surprises {
    /// Returns the stimuli, the earliest first. The program's handlers have to withdraw interrupts, by a
    /// store to the register that was poked.
    #[must_use]
    pub fn draw(&self, seed: u64) -> Vec<Poke> {
        let mut random = Rng::with_seed(seed);
        let mut kinds = Vec::new();
        if self.interrupts {
            kinds.extend([(map::MTIMECMP, 0), (map::MSIP, 1), (map::EXTERNAL, 1)]);
        }
        if self.debug {
            // A request of two cycles is noticed; a long one lasts beyond the return from debug mode.
            kinds.extend([(map::DEBUG, 2), (map::DEBUG, 40)]);
        }
        let mut pokes = Vec::new();
        let mut cycle = 0;
        while !kinds.is_empty() {
            // Small gaps are as likely as large ones: they are the ones that find errors.
            cycle += 1 + random.u64(..2 * self.gap.max(1)) * random.u64(..=100) / 50;
            if cycle > self.until {
                break;
            }
            let (address, value) = kinds[random.usize(..kinds.len())];
            pokes.push(Poke { cycle, address, value });
        }
        pokes
    }
}
